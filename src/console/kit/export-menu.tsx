// Exports the rows of a table as CSV (RFC 4180) or JSON, created in the browser: one button that opens a menu.
import { formatCsvLine } from '../../wire/csv.ts'
import { Menu } from './menu.tsx'
import { useAttempt } from './use-attempt.tsx'

export type Cell = string | number | null | undefined
export type ExportRow = Readonly<Record<string, Cell>>

interface Props {
  /** Names the rows and the file, such as `runs`. */
  readonly what: string
  rows(): readonly ExportRow[] | Promise<readonly ExportRow[]>
}

export function ExportMenu({ what, rows }: Props) {
  const { fault, attempt } = useAttempt()
  const save = (kind: 'csv' | 'json') =>
    attempt(async () => {
      const found = await rows()
      const text = kind === 'csv' ? toCsv(found) : JSON.stringify(found, null, 2)
      download(`${what.replaceAll(' ', '-')}.${kind}`, text, kind === 'csv' ? 'text/csv' : 'application/json')
    })
  return (
    <div class="table-menu">
      <Menu label="Export">
        {(['csv', 'json'] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            aria-label={`Export ${what} as ${kind.toUpperCase()}`}
            onClick={() => void save(kind)}
          >
            {kind.toUpperCase()}
          </button>
        ))}
      </Menu>
      {fault}
    </div>
  )
}

/** Has each column that any row has. */
function toCsv(rows: readonly ExportRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  if (columns.length === 0) return ''
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((cells) => formatCsvLine(cells, true))
    .join('')
}

function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
