// One metric of one watch and process: parts of its window, a sixtieth each. The figure moves by one part.
import type { MetricRule } from '../conditions/metric-rule.ts'

type Part = [n: number, count: number, sum: number, min: number, max: number, last: number, lastUs: number]

/** JSON in the table. */
export interface Gauge {
  /** The rule that it was judged by: with another one it counts again. */
  rule: string
  /** In order. */
  parts: Part[]
  /** Since when the figure has been across the number. */
  crossedUs: number | null
  /** The last figure, and when the last point arrived. */
  figure: number
  lastUs: number
  /** The time of the point since when it is across; absent in rows of 2.0. */
  crossedAtUs?: number | null
  /** Points that came, see seen.ts; absent in rows of 2.0. */
  seen?: number[]
}

export const createGauge = (rule: MetricRule): Gauge => ({
  rule: JSON.stringify(rule),
  parts: [],
  crossedUs: null,
  figure: 0,
  lastUs: 0,
  crossedAtUs: null,
  seen: [],
})

/** After a change of the rule: the points still count if it is about the same ones. */
export function adapt(gauge: Gauge, rule: MetricRule): void {
  const text = JSON.stringify(rule)
  if (gauge.rule === text) return
  const before: MetricRule = JSON.parse(gauge.rule)
  if (before.name !== rule.name || before.windowUs !== rule.windowUs) gauge.parts = []
  gauge.rule = text
  gauge.crossedUs = null
}

const partUs = ({ windowUs }: MetricRule): number => Math.max(1e6, Math.ceil(windowUs / 60))

export function foldPoint(rule: MetricRule, gauge: Gauge, value: number, atUs: number, arrivedUs: number): void {
  const part = partUs(rule)
  const n = Math.floor(atUs / part)
  const { parts } = gauge
  const isOver = (number: number) => (number + 1) * part <= arrivedUs - rule.windowUs
  gauge.lastUs = Math.max(gauge.lastUs, arrivedUs)
  while (parts.length > 0 && isOver(parts[0]![0])) parts.shift()
  if (isOver(n)) return
  let i = parts.length - 1
  while (i >= 0 && parts[i]![0] > n) i--
  const own = parts[i]
  if (own?.[0] !== n) {
    parts.splice(i + 1, 0, [n, 1, value, value, value, value, atUs])
    return
  }
  own[1]++
  own[2] += value
  own[3] = Math.min(own[3], value)
  own[4] = Math.max(own[4], value)
  if (atUs >= own[6]) {
    own[5] = value
    own[6] = atUs
  }
}

/** Undefined without points in the window that ends at `nowUs`. */
export function figureOf(rule: MetricRule, { parts }: Gauge, nowUs: number): number | undefined {
  const part = partUs(rule)
  const own = parts.filter(([n]) => (n + 1) * part > nowUs - rule.windowUs)
  if (own.length === 0) return undefined
  switch (rule.of) {
    case 'last':
      return own.at(-1)![5]
    case 'min':
      return Math.min(...own.map(([, , , min]) => min))
    case 'max':
      return Math.max(...own.map(([, , , , max]) => max))
    case 'mean':
      return own.reduce((sum, it) => sum + it[2], 0) / own.reduce((sum, it) => sum + it[1], 0)
    default:
      return rule.of satisfies never
  }
}
