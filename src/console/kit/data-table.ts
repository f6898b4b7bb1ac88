// Tables with header cells. Rows are kept by key, so that an update preserves focus and scroll position.
import { formatCsvLine } from '../../wire/csv.ts'
import { button, type Child, h, keepFocus, nameText, setText } from './dom.ts'
import { formatCount, plural } from './format-number.ts'
import { formatMoment } from './format-time.ts'

export interface Column<Row> {
  readonly label: string
  /** Right-aligned. */
  readonly isNumber?: boolean
  /** Hidden on a tablet. */
  readonly isExtra?: boolean
  /** Hidden on a phone. */
  readonly isMinor?: boolean
  /** As narrow as its content. */
  readonly isTight?: boolean
  /** Buttons: the header is only for screen readers. */
  readonly isSilent?: boolean
  /** false: the column is left out, for someone who may not do what it offers. */
  readonly isOffered?: boolean
  cell(row: Row): Child | readonly Child[]
}

export interface DataTable<Row> {
  readonly element: HTMLElement
  show(rows: readonly Row[]): void
}

export interface DataTableOptions<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  /** Default: the row's `id`. */
  keyOf?(row: Row): string
  /** The row is rendered again only when its signature changes. Default: its content, and the minute of `nowMs`. */
  signatureOf?(row: Row): string
  nowMs?(): number
  isChosen?(row: Row): boolean
  /** A row of the export; without it the table has no export. */
  toExport?(row: Row): ExportRow
  /** The rows to export; default: the rows shown. */
  exported?(): readonly Row[]
  /** The first 300 rows are drawn until a button below draws them all: a browser needs 13 s for 10,000. */
  readonly isLong?: boolean
}

const DRAWN_MAX = 300

export function createDataTable<Row>(options: DataTableOptions<Row>): DataTable<Row> {
  const { caption, isChosen = () => false, nowMs = () => 0 } = options
  const { keyOf = (row: Row) => (row as { readonly id: string }).id } = options
  const { signatureOf = (row: Row) => JSON.stringify(row) + Math.floor(nowMs() / 60_000) } = options
  const columns = options.columns.filter(({ isOffered = true }) => isOffered)
  const body = h('tbody')
  let shown: readonly Row[] = []
  let kept = new Map<string, { element: HTMLTableRowElement; signature: string }>()
  const classOf = ({ isNumber, isExtra, isMinor, isTight }: Column<Row>) =>
    [isNumber && 'number', isExtra && 'extra', isMinor && 'minor', isTight && 'tight'].filter(Boolean).join(' ') ||
    undefined

  const rowOf = (row: Row) =>
    h(
      'tr',
      { class: isChosen(row) ? 'chosen' : undefined },
      ...columns.map((column) => h('td', { class: classOf(column) }, ...[column.cell(row)].flat())),
    )

  const scroller = h(
    'div.table-scroll',
    { tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      h('caption.hidden', caption),
      h(
        'thead',
        h(
          'tr',
          ...columns.map((column) =>
            h(
              'th',
              { scope: 'col', class: classOf(column) },
              column.isSilent ? h('span.hidden', column.label) : column.label,
            ),
          ),
        ),
      ),
      body,
    ),
  )
  const { toExport, exported = () => shown } = options
  const exports = toExport && exportButtons(caption.toLowerCase(), () => exported().map(toExport))
  let drawnMax = options.isLong ? DRAWN_MAX : Number.POSITIVE_INFINITY
  const all = button(
    '',
    () => {
      drawnMax = Number.POSITIVE_INFINITY
      show(shown)
      scroller.focus({ preventScroll: true })
    },
    { class: 'link' },
  )
  const drawn = h('span')
  const rest = h('p.export.muted', { hidden: true }, drawn, all)

  function show(rows: readonly Row[]): void {
    shown = rows
    const next: typeof kept = new Map()
    for (const row of rows.slice(0, drawnMax)) {
      const signature = `${signatureOf(row)}${isChosen(row)}`
      const held = kept.get(keyOf(row))
      next.set(keyOf(row), held?.signature === signature ? held : { element: rowOf(row), signature })
    }
    const elements = [...next.values()].map(({ element }) => element)
    keepFocus(body, () => placeRows(body, elements))
    kept = next
    exports?.count(exported().length)
    rest.hidden = rows.length <= drawnMax
    if (rest.hidden) return
    setText(drawn, `The first ${formatCount(drawnMax)} are shown. `)
    setText(all, `Show all ${formatCount(rows.length)}`)
  }
  return { element: h('div', scroller, rest, exports?.element), show }
}

/** The column of a row's buttons, left out for someone who may not use them. */
export const actionColumn = <Row>(isOffered: boolean, cell: (row: Row) => readonly Child[]): Column<Row> => ({
  label: 'Actions',
  isSilent: true,
  isOffered,
  cell: (row) => h('div.button-row', ...cell(row)),
})

/** A small button in a row; `about` names the row to screen readers. */
export const rowAction = (label: string, about: string, act: () => void): HTMLButtonElement =>
  button(label, act, { class: 'button button-small', 'aria-label': `${label} ${about}` })

/** The second line below a name; the tooltip has the whole text if it is cut. */
export const subLine = (text: string): HTMLElement => h('span.sub.clip', { title: text }, nameText(text))

/** Moves only rows that are out of place: a removed element loses its focus. */
function placeRows(body: HTMLElement, rows: readonly HTMLElement[]): void {
  const wanted = new Set(rows)
  for (const child of [...body.children]) if (!wanted.has(child as HTMLElement)) child.remove()
  rows.forEach((row, i) => {
    const held = body.children[i]
    if (held !== row) body.insertBefore(row, held ?? null)
  })
}

// Exports of table rows as CSV (RFC 4180) or JSON, created in the browser.
export type Cell = string | number | null | undefined
export type ExportRow = Readonly<Record<string, Cell>>

/** `what` names the rows and the file, such as `runs`. */
function exportButtons(what: string, rows: () => readonly ExportRow[]) {
  const label = h('span')
  const exportButton = (kind: 'CSV' | 'JSON', write: (rows: readonly ExportRow[]) => string, type: string) =>
    button(kind, () => download(`${what.replaceAll(' ', '-')}.${kind.toLowerCase()}`, write(rows()), type), {
      class: 'link',
      'aria-label': `Export ${what} as ${kind}`,
    })
  const element = h(
    'p.export.muted',
    label,
    exportButton('CSV', toCsv, 'text/csv'),
    ' ',
    exportButton('JSON', (rows) => JSON.stringify(rows, null, 2), 'application/json'),
  )
  return { element, count: (all: number) => setText(label, `Export ${plural(all, 'row')}: `) }
}

/** Has each column that any row has. */
export function toCsv(rows: readonly ExportRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  if (columns.length === 0) return ''
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((cells) => formatCsvLine(cells, true))
    .join('')
}

function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  h('a', { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}

// The data of a chart as a table, for people who cannot see the chart or want exact values.
export interface ChartFigures {
  readonly atMs: readonly number[]
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[]
}

export function chartTable(
  { atMs, lines }: ChartFigures,
  title: string,
  formatValue: (value: number) => string,
  nowMs: number,
): HTMLElement {
  const head = lines.map(({ label }) =>
    h('th.number', { scope: 'col' }, h('span.clip', { title: label }, nameText(label))),
  )
  const rows = atMs.map((ms, i) =>
    h(
      'tr',
      h('th', { scope: 'row' }, formatMoment(ms, nowMs)),
      ...lines.map(({ values }) => {
        const value = values[i] ?? null
        return h('td.number', value === null ? '–' : formatValue(value))
      }),
    ),
  )
  const exports = exportButtons(title.toLowerCase(), () =>
    atMs.map((ms, i) => ({
      time: new Date(ms).toISOString(),
      ...Object.fromEntries(lines.map(({ label, values }) => [label, values[i]])),
    })),
  )
  const table = h(
    'table',
    h('caption.hidden', title),
    h('thead', h('tr', h('th', { scope: 'col' }, 'Time'), ...head)),
    h('tbody', ...rows),
  )
  exports.count(atMs.length)
  return h('div', table, exports.element)
}
