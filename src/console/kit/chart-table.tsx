// The data of a chart as a table, for people who cannot see the chart or want exact values.
import { ExportMenu } from './export-menu.tsx'
import { formatMoment } from './format-time.ts'

export interface Line {
  readonly label: string
  /** A value per time; null without one. */
  readonly values: readonly (number | null)[]
}

interface Props {
  readonly title: string
  readonly atMs: readonly number[]
  readonly lines: readonly Line[]
  readonly nowMs: number
  formatValue(value: number): string
}

export function ChartTable({ title, atMs, lines, nowMs, formatValue }: Props) {
  const exported = () =>
    atMs.map((ms, i) => ({
      time: new Date(ms).toISOString(),
      ...Object.fromEntries(lines.map(({ label, values }) => [label, values[i]])),
    }))
  return (
    <>
      <div class="table-scroll" tabIndex={0} role="region" aria-label={`${title} as a table`}>
        <table>
          <caption class="hidden">{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {lines.map(({ label }) => (
                <th key={label} scope="col" class="number">
                  <span class="clip" title={label}>
                    <bdi>{label}</bdi>
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {atMs.map((ms, i) => (
              <tr key={ms}>
                <th scope="row">{formatMoment(ms, nowMs)}</th>
                {lines.map(({ label, values }) => (
                  <td key={label} class="number">
                    {values[i] == null ? '–' : formatValue(values[i]!)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ExportMenu what={title.toLowerCase()} rows={exported} />
    </>
  )
}
