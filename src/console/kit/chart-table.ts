// The figures of a chart as a table, for those who read them better than a picture.
import { h, nameText } from './dom.ts'
import { exportButtons } from './export-rows.ts'
import { formatMoment } from './format-time.ts'

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
    h('th', { scope: 'col', class: 'number' }, h('span', { class: 'clip', title: label }, nameText(label))),
  )
  const rows = atMs.map((ms, i) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, formatMoment(ms, nowMs)),
      ...lines.map(({ values }) => {
        const value = values[i] ?? null
        return h('td', { class: 'number' }, value === null ? '–' : formatValue(value))
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
    {},
    h('caption', { class: 'hidden' }, title),
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Time'), ...head)),
    h('tbody', {}, ...rows),
  )
  return h('div', {}, table, exports)
}
