// The figure that a watch looks at, over four of its windows around the alert, with its limit as a line.
import type { AlertDetail } from '../../wire/alert-detail.ts'
import type { MetricRow } from '../../wire/metrics.ts'
import { spellSpan } from '../../wire/span-text.ts'
import type { Watch } from '../../wire/watches.ts'
import { NotAvailable } from '../compare/not-available.tsx'
import { isAbort } from '../kit/api.ts'
import type { Get } from '../kit/ask.ts'
import { askRows } from '../kit/ask-metrics.ts'
import { formatValue } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { LineChart } from '../kit/line-chart.tsx'
import type { Point } from '../kit/plot.tsx'
import { chooseEvery, everyMs, fixRange } from '../kit/time-range.ts'
import { useView } from '../kit/view.tsx'

type Rule = NonNullable<Watch['metric']>

export interface Figures {
  readonly fromMs: number
  readonly toMs: number
  /** Undefined: the store does not answer. */
  readonly points: readonly Point[] | undefined
}

/** Before and after the alert; one more is asked for, so that the first figure has its whole window. */
const WINDOWS_BEFORE = 3
const WINDOWS_AFTER = 1
const BUCKETS_MAX = 100

export async function askFigures(get: Get, detail: AlertDetail, nowMs: number): Promise<Figures | undefined> {
  const { alert, watch } = detail
  const rule = watch?.metric
  if (alert.condition !== 'metric' || !rule) return undefined
  const [windowMs, sinceMs] = [everyMs(rule.window), parseTime(alert.since)]
  const [fromMs, toMs] = [sinceMs - WINDOWS_BEFORE * windowMs, Math.min(nowMs, sinceMs + WINDOWS_AFTER * windowMs)]
  const asked = fixRange(fromMs - windowMs, toMs)
  const every = chooseEvery({ fromMs: fromMs - windowMs, toMs, isLive: false, query: asked }, BUCKETS_MAX)
  try {
    const query = { ...asked, process: alert.process, meta: alert.meta ?? undefined, name: rule.name, every }
    const rows = await askRows(get, query)
    return { fromMs, toMs, points: toFigures(rows, rule, fromMs, toMs, everyMs(every)) }
  } catch (error) {
    if (isAbort(error)) throw error
    return { fromMs, toMs, points: undefined }
  }
}

/** At the end of each bucket: what the watch computes of the window before it. */
function toFigures(rows: readonly MetricRow[], rule: Rule, fromMs: number, toMs: number, stepMs: number): Point[] {
  const windowMs = everyMs(rule.window)
  const points: Point[] = []
  for (let at = Math.ceil(fromMs / stepMs) * stepMs; at <= toMs + stepMs; at += stepMs) {
    const inWindow = rows.filter((row) => parseTime(row.at) >= at - windowMs && parseTime(row.at) < at)
    points.push([Math.min(at, toMs), figureOf(inWindow, rule.of)])
  }
  return points
}

function figureOf(rows: readonly MetricRow[], of: Rule['of']): number | null {
  if (rows.length === 0) return null
  switch (of) {
    case 'last':
      return rows.at(-1)!.last
    case 'min':
      return Math.min(...rows.map(({ min }) => min))
    case 'max':
      return Math.max(...rows.map(({ max }) => max))
    case 'mean': {
      const sum = rows.reduce((total, row) => total + (row.sum ?? Number.NaN), 0)
      return Number.isNaN(sum) ? null : sum / rows.reduce((total, { count }) => total + count, 0)
    }
    default:
      return of satisfies never
  }
}

interface Props {
  readonly detail: AlertDetail
  /** Undefined until they have come. */
  readonly figures: Figures | undefined
}

export function MetricFigure({ detail: { alert, watch }, figures }: Props) {
  const { app } = useView()
  const rule = watch?.metric
  if (!rule)
    return (
      <Card title="The figure">
        <p class="muted">The watch was deleted or looks at something else now.</p>
      </Card>
    )
  const { name, of, window, above, below } = rule
  const limit = above ?? below ?? 0
  const metrics = { process: alert.process, name }
  return (
    <section class="card">
      {figures === undefined && (
        <p class="muted" aria-busy="true">
          Loading…
        </p>
      )}
      {figures !== undefined && figures.points === undefined && <NotAvailable what="The values" />}
      {figures?.points !== undefined && (
        <LineChart
          title={name}
          formatValue={formatValue}
          summary={`The ${of} of ${spellSpan(window)}, and its limit of ${formatValue(limit)}.`}
          zoom={(fromMs, toMs) => app.go('metrics', { ...metrics, ...fixRange(fromMs, toMs) })}
          data={{
            fromMs: figures.fromMs,
            toMs: figures.toMs,
            atMs: figures.points.map(([at]) => at),
            lines: [
              { label: name, values: figures.points.map(([, value]) => value) },
              { label: 'limit', values: figures.points.map(() => limit) },
            ],
          }}
        />
      )}
    </section>
  )
}
