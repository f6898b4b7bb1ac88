// Rows of a table as a file: CSV as RFC 4180 has it, or JSON. Created in the browser from the loaded rows.
import { h } from './dom.ts'

export type Cell = string | number | null | undefined
export type ExportRow = Readonly<Record<string, Cell>>

/** `what` names the file and the rows: `runs`. */
export function exportButtons(what: string, rows: () => readonly ExportRow[]): HTMLElement {
  const button = (kind: 'CSV' | 'JSON', write: (rows: readonly ExportRow[]) => string, type: string) =>
    h(
      'button',
      {
        type: 'button',
        class: 'link',
        'aria-label': `Export ${what} as ${kind}`,
        onclick: () => download(`${what.replaceAll(' ', '-')}.${kind.toLowerCase()}`, write(rows()), type),
      },
      kind,
    )
  return h(
    'p',
    { class: 'export muted' },
    'Export: ',
    button('CSV', toCsv, 'text/csv'),
    ' ',
    button('JSON', (rows) => JSON.stringify(rows, null, 2), 'application/json'),
  )
}

/** Columns as the first row has them. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export function toCsv(rows: readonly ExportRow[]): string {
  const columns = Object.keys(rows[0] ?? {})
  const line = (cells: readonly Cell[]) => cells.map(toCell).join(',')
  return [line(columns), ...rows.map((row) => line(columns.map((column) => row[column])))].join('\r\n')
}

function toCell(value: Cell): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  h('a', { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}
