// Tables with header cells. Rows are kept by key, so that an update preserves focus and scroll position.
import { button, type Child, h, keepFocus, nameText, setText } from './dom.ts'
import { formatCount } from './format-number.ts'

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

interface DataTableOptions<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  /** Default: the row's `id`. */
  keyOf?(row: Row): string
  /** The row is rendered again only when its signature changes. Default: its content, and the minute of `nowMs`. */
  signatureOf?(row: Row): string
  nowMs?(): number
  isChosen?(row: Row): boolean
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
    rest.hidden = rows.length <= drawnMax
    if (rest.hidden) return
    setText(drawn, `The first ${formatCount(drawnMax)} are shown. `)
    setText(all, `Show all ${formatCount(rows.length)}`)
  }
  return { element: h('div', scroller, rest), show }
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
