// A line the size of a word: the shape of a series at a glance. What it says is said in words beside it.
import { svg } from './dom.ts'

const WIDTH = 120
const HEIGHT = 28
const PAD = 3

/** `bars` for counts, `line` for lengths; null is a gap. `said` is what those hear who do not see it. */
export function sparkline(kind: 'bars' | 'line', values: readonly (number | null)[], said: string): SVGSVGElement {
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  const step = WIDTH / Math.max(1, values.length)
  const y = (value: number) => HEIGHT - PAD - (most === 0 ? 0 : (value / most) * (HEIGHT - 2 * PAD))
  const marks = kind === 'bars' ? bars(values, step, y) : lines(values, step, y)
  return svg(
    'svg',
    {
      class: `sparkline sparkline-${kind}`,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': said,
    },
    svg('path', { class: 'sparkline-base', d: `M0 ${HEIGHT - 0.5}H${WIDTH}` }),
    ...marks,
  )
}

const round = (n: number): string => n.toFixed(1)

const bars = (values: readonly (number | null)[], step: number, y: (value: number) => number) =>
  values.flatMap((value, i) =>
    value === null || value === 0
      ? []
      : [
          svg('rect', {
            x: round(i * step),
            y: round(y(value)),
            width: round(Math.max(1, step - 1)),
            height: round(HEIGHT - y(value)),
          }),
        ],
  )

function lines(values: readonly (number | null)[], step: number, y: (value: number) => number): SVGElement[] {
  let d = ''
  let isOn = false
  values.forEach((value, i) => {
    if (value !== null) d += `${isOn ? 'L' : 'M'}${round((i + 0.5) * step)} ${round(y(value))}`
    isOn = value !== null
  })
  const alone = values.flatMap((value, i) =>
    value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null
      ? [svg('circle', { cx: round((i + 0.5) * step), cy: round(y(value)), r: 1.5 })]
      : [],
  )
  return [svg('path', { d }), ...alone]
}
