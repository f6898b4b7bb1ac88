// Tables with header cells and fewer columns on small screens. Rows are kept by their key.
import type { ComponentChildren, TargetedMouseEvent } from 'preact'
import type { Role } from '../../wire/roles.ts'
import { useView, type View } from './view.tsx'

export interface Column<Row> {
  readonly label: string
  /** `number`: to the right. `extra`: hidden on a tablet. `minor`: hidden on a phone. `tight`: as narrow as its content. */
  readonly class?: 'number' | 'number extra' | 'number minor' | 'extra' | 'minor' | 'tight'
  /** Buttons: the header is only for screen readers. */
  readonly isSilent?: boolean
  /** The column is left out for people without this role: they may not do what it offers. */
  readonly role?: Role
  cell(row: Row, view: View): ComponentChildren
}

interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** Default: the row's `id`. */
  keyOf?(row: Row): string
  isChosen?(row: Row): boolean
}

export function Table<Row extends object>({ caption, columns, rows, keyOf = idOf, isChosen }: TableProps<Row>) {
  const view = useView()
  const offered = columns.filter(({ role }) => role === undefined || view.app.may(role))
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {offered.map(({ label, class: name, isSilent = false }) => (
              <th key={label} scope="col" class={name}>
                {isSilent ? <span class="hidden">{label}</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={isChosen?.(row) ? 'chosen' : undefined}>
              {offered.map(({ label, class: name, cell }) => (
                <td key={label} class={name}>
                  {cell(row, view)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const idOf = (row: object): string => (row as { readonly id: string }).id

/** The column of a row's buttons, left out for people who may not use them. */
export const actionColumn = <Row,>(cell: Column<Row>['cell'], role: Role = 'viewer'): Column<Row> => ({
  label: 'Actions',
  isSilent: true,
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
