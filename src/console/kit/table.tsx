// Tables with header cells and fewer columns on small screens. Rows are kept by their key.
import type { ComponentChildren, TargetedMouseEvent } from 'preact'
import type { Role } from '../../wire/roles.ts'
import { useView, type View } from './view.tsx'

export interface Column<Row> {
  readonly label: string
  /** `number`: to the right. `extra`: not on a tablet. `minor`: not on a phone. `tight`: as narrow as its content. */
  readonly class?: string
  /** Shown in the header instead of the label. */
  readonly head?: ComponentChildren
  /** Whether the rows are in its order, the greatest first. Absent: they cannot be. */
  readonly sort?: boolean
  /** Its cells are the headers of their rows. */
  readonly isHead?: boolean
  /** The column is left out for people without this role: they may not do what it offers. */
  readonly role?: Role
  cell(row: Row, view: View): ComponentChildren
}

export interface Part<Row> {
  readonly name?: string | undefined
  readonly rows: readonly Row[]
}

interface TableProps<Row> {
  readonly caption: string
  readonly class?: string
  /** One that is left out is false. */
  readonly columns: readonly (Column<Row> | false)[]
  readonly rows?: readonly Row[]
  /** Instead of rows: groups of them, each under its name. */
  readonly parts?: readonly Part<Row>[]
  /** Default: the row's `id`. */
  keyOf?(row: Row): string
  isChosen?(row: Row): boolean
}

export function Table<Row extends object>({ caption, class: look, columns, ...of }: TableProps<Row>) {
  const view = useView()
  const { rows = [], parts = [{ rows }], keyOf = idOf, isChosen } = of
  const shown = columns.filter((it) => it !== false).filter(({ role }) => role === undefined || view.app.may(role))
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class={look}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {shown.map(({ label, class: name, head = label, sort }) => (
              <th key={label} scope="col" class={name} aria-sort={sort ? 'descending' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        {parts.map(({ name, rows: some }) => (
          <tbody key={name}>
            {name !== undefined && (
              <tr class="table-part">
                <th colSpan={shown.length} scope="colgroup">
                  {name}
                </th>
              </tr>
            )}
            {some.map((row) => (
              <tr key={keyOf(row)} class={isChosen?.(row) ? 'chosen' : undefined}>
                {shown.map(({ label, class: name, isHead, cell }) =>
                  isHead ? (
                    <th key={label} scope="row">
                      {cell(row, view)}
                    </th>
                  ) : (
                    <td key={label} class={name}>
                      {cell(row, view)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

const idOf = (row: object): string => (row as { readonly id: string }).id

/** The column of a row's buttons, left out for people who may not use them; only screen readers hear its header. */
export const actionColumn = <Row,>(cell: Column<Row>['cell'], role: Role = 'viewer'): Column<Row> => ({
  label: 'Actions',
  head: <span class="hidden">Actions</span>,
  role,
  cell: (row, view) => <div class="button-row">{cell(row, view)}</div>,
})

interface RowActionProps {
  readonly label: string
  /** Names the row to screen readers. */
  readonly about: string
  act(event: TargetedMouseEvent<HTMLButtonElement>): void
}

export const RowAction = ({ label, about, act }: RowActionProps) => (
  <button type="button" class="button button-small" aria-label={`${label} ${about}`} onClick={act}>
    {label}
  </button>
)
