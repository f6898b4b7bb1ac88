// The values that the form of a watch begins with, from what is known of its process: by its own rhythm a start would
// never have been late.
import type { OverviewProcess } from '../../wire/overview.ts'
import { formatSpanS, parseSpanS } from '../../wire/span-text.ts'
import type { PreviewedAlert } from '../../wire/watch-preview.ts'
import { parseTime } from '../kit/format-time.ts'

const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400
const SPANS_S = [
  ...[1, 2, 5, 10, 15, 20, 30].map((n) => n * MINUTE_S),
  ...[1, 2, 3, 4, 6, 8, 12].map((n) => n * HOUR_S),
  ...[1, 2, 7].map((n) => n * DAY_S),
]
/** A gap this near to a common span is that span. */
const NEAR = 0.1

/** Rounds up to minutes, beyond a quarter of an hour to five, beyond six hours to hours, beyond two days to days. */
function roundUp(seconds: number): number {
  if (seconds > 2 * DAY_S) return Math.ceil(seconds / DAY_S) * DAY_S
  const step = seconds <= MINUTE_S ? 10 : seconds <= 15 * MINUTE_S ? MINUTE_S : seconds <= 6 * HOUR_S ? 300 : HOUR_S
  return Math.ceil(seconds / step) * step
}

interface Lateness {
  readonly every: string
  readonly grace: string
}

/** A grace of more than this many intervals finds nothing any more. */
const GRACE_MAX = 3

/**
 * undefined without a rhythm, and where a watch reports it already. A start may be late by as much as its longest usual
 * gap. What starts in bursts, with pauses much longer than its usual gap, is watched by its pauses.
 */
export function suggestLate({
  every_s: everyS,
  last_start_at: last,
  late_at: late,
  watches = [],
}: OverviewProcess): Lateness | undefined {
  if (watches.some(({ due_at: due }) => due !== null)) return undefined
  if (everyS === null || last === null || late === null || everyS < 1) return undefined
  const common = SPANS_S.find((span) => Math.abs(span / everyS - 1) <= NEAR)
  const every = common ?? roundUp(everyS)
  const allowed = (parseTime(late) - parseTime(last)) / 1000
  const grace = roundUp(Math.max(MINUTE_S, allowed - every))
  if (grace <= Math.max(GRACE_MAX * every, HOUR_S)) return { every: formatSpanS(every), grace: formatSpanS(grace) }
  const half = formatSpanS(roundUp(allowed / 2))
  return { every: half, grace: half }
}

const secondsOf = (span: string): number => parseSpanS(span) ?? Number.NaN

/** With as much more grace as the late starts of the past needed; undefined if that is too much: they are shown. */
export function allowPast({ every, grace }: Lateness, alerts: readonly PreviewedAlert[]): Lateness | undefined {
  const over = alerts.flatMap(({ condition, since, resolved_at: until }) =>
    condition === 'late' && until !== null ? [(parseTime(until) - parseTime(since)) / 1000] : [],
  )
  if (over.length === 0) return undefined
  const needed = roundUp((secondsOf(grace) + Math.max(...over)) * 1.1)
  return needed > GRACE_MAX * secondsOf(every) ? undefined : { every, grace: formatSpanS(needed) }
}

/** Twice as long as usual, at least a minute. */
export const suggestLong = ({ usual_ms: usual }: OverviewProcess): string =>
  usual === null ? '' : formatSpanS(roundUp(Math.max(MINUTE_S, (2 * usual) / 1000)))
