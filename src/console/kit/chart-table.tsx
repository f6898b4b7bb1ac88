// The data of a chart as a table, for people who cannot see the chart or want exact values.
import { ExportMenu } from './export-menu.tsx'
import { type Column, Table } from './table.tsx'

export interface Line {
  readonly label: string
  /** A value per time; null without one. */
  readonly values: readonly (number | null)[]
}

interface Props {
  readonly title: string
  readonly atMs: readonly number[]
  readonly lines: readonly Line[]
  formatValue(value: number): string
  nameOf(place: number, nowMs: number): string
}

interface Row {
  readonly ms: number
  readonly place: number
}

export function ChartTable({ title, atMs, lines, formatValue, nameOf }: Props) {
  const columns = lines.map(
    ({ label, values }): Column<Row> => ({
      label,
      class: 'number',
      head: (
        <span class="clip" title={label}>
          <bdi>{label}</bdi>
        </span>
      ),
      cell: ({ place }) => (values[place] == null ? '–' : formatValue(values[place])),
    }),
  )
  const exported = () =>
    atMs.map((ms, i) => ({
      time: new Date(ms).toISOString(),
      ...Object.fromEntries(lines.map(({ label, values }) => [label, values[i]])),
    }))
  return (
    <>
      <Table<Row>
        caption={`${title} as a table`}
        rows={atMs.map((ms, place) => ({ ms, place }))}
        keyOf={({ ms }) => String(ms)}
        columns={[{ label: 'Time', isHead: true, cell: ({ place }, { nowMs }) => nameOf(place, nowMs) }, ...columns]}
      />
      <ExportMenu what={title.toLowerCase()} rows={exported} />
    </>
  )
}
