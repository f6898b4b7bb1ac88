// Tables with real headers. Rows are kept by key, so that a table that is updated keeps its focus and its place.
import { type Child, h, keepFocus, nameText } from './dom.ts'
import { type ExportRow, exportButtons } from './export-rows.ts'

export interface Column<Row> {
  readonly label: string
  /** Numbers stand to the right. */
  readonly isNumber?: boolean
  /** Left out where there is little room, as on a tablet. */
  readonly isExtra?: boolean
  /** Left out where there is least room, as on a phone. */
  readonly isMinor?: boolean
  /** Only screen readers get its header. */
  readonly isSilent?: boolean
  cell(row: Row): Child | readonly Child[]
}

export interface DataTable<Row> {
  readonly element: HTMLElement
  show(rows: readonly Row[]): void
}

export interface DataTableOptions<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  keyOf(row: Row): string
  /** While the signature is the same, the row's element stays. */
  signatureOf(row: Row): string
  isChosen?(row: Row): boolean
  /** One row of an export; without it the table has no export. */
  toExport?(row: Row): ExportRow
  /** The rows to export where the table shows only a part of them. */
  exported?(): readonly Row[]
}

export function createDataTable<Row>(options: DataTableOptions<Row>): DataTable<Row> {
  const { caption, columns, keyOf, signatureOf, isChosen = () => false } = options
  const body = h('tbody')
  let shown: readonly Row[] = []
  let kept = new Map<string, { element: HTMLTableRowElement; signature: string }>()
  const classOf = ({ isNumber, isExtra, isMinor }: Column<Row>) =>
    [isNumber && 'number', isExtra && 'extra', isMinor && 'minor'].filter(Boolean).join(' ') || undefined

  const rowOf = (row: Row) =>
    h(
      'tr',
      { class: isChosen(row) ? 'chosen' : undefined },
      ...columns.map((column) => h('td', { class: classOf(column) }, ...[column.cell(row)].flat())),
    )

  const scroller = h(
    'div',
    { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      {},
      h('caption', { class: 'hidden' }, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...columns.map((column) =>
            h(
              'th',
              { scope: 'col', class: classOf(column) },
              column.isSilent ? h('span', { class: 'hidden' }, column.label) : column.label,
            ),
          ),
        ),
      ),
      body,
    ),
  )
  const { toExport, exported = () => shown } = options
  const exports = toExport && exportButtons(caption.toLowerCase(), () => exported().map(toExport))

  return {
    element: exports === undefined ? scroller : h('div', {}, scroller, exports),
    show(rows) {
      shown = rows
      const next: typeof kept = new Map()
      for (const row of rows) {
        const signature = `${signatureOf(row)}${isChosen(row)}`
        const held = kept.get(keyOf(row))
        next.set(keyOf(row), held?.signature === signature ? held : { element: rowOf(row), signature })
      }
      const elements = [...next.values()].map(({ element }) => element)
      keepFocus(body, () => placeRows(body, elements))
      kept = next
    },
  }
}

/** The second line below a name; the title holds the whole text where it is cut. */
export const subLine = (text: string): HTMLElement => h('span', { class: 'sub clip', title: text }, nameText(text))

/** Moves only rows that are out of place: a removed element loses its focus. */
function placeRows(body: HTMLElement, rows: readonly HTMLElement[]): void {
  const wanted = new Set(rows)
  for (const child of [...body.children]) if (!wanted.has(child as HTMLElement)) child.remove()
  rows.forEach((row, i) => {
    const held = body.children[i]
    if (held !== row) body.insertBefore(row, held ?? null)
  })
}
