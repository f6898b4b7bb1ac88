// What is said of one process: a row of GET /api/overview → its sentence, in the words of the page of a process, of
// `stint status` and of badges. Free of schemas: it is in the console's bundle.
import type { OverviewMeta, OverviewRow } from './overview.ts'
import { type Tone, toneOf } from './process-state.ts'

/** How times are written; the console writes them in the reader's zone. */
export interface Words {
  /** `12 m 37 s` */
  duration(ms: number): string
  /** `24 Nov 03:00` */
  moment(ms: number): string
}

export interface Said {
  readonly tone: Tone
  /** `Failed 35 min ago (plan team).` */
  readonly text: string
  /** `2.5× slower since 24 Nov 23:00: median 35.5 s, before 14.1 s.` */
  readonly change?: string
}

type Row = OverviewRow | OverviewMeta

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `45 s`, `12 min`, `5 h`, `4 days`: about how long. */
export function formatSpan(ms: number): string {
  if (ms < 90_000) return `${Math.max(0, Math.round(ms / 1000))} s`
  if (ms < 90 * MINUTE_MS) return `${Math.round(ms / MINUTE_MS)} min`
  if (ms < 36 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} h`
  return `${Math.round(ms / DAY_MS)} days`
}

export function describeProcess(row: Row, nowMs: number, words: Words): Said {
  const change = describeChange(row, words)
  return { tone: toneOf(row.state), text: `${textOf(row, nowMs, words)}.`, ...(change !== undefined && { change }) }
}

function textOf(row: Row, nowMs: number, { duration, moment }: Words): string {
  const { state, meta, since, run, every_s: everyS, usual_ms: usualMs } = row
  const sinceMs = since === null ? nowMs : Date.parse(since)
  const ago = `${formatSpan(nowMs - sinceMs)} ago`
  const of = meta === null ? '' : ` (${meta})`
  const usually = usualMs === null ? '' : `, usually ${duration(usualMs)}`
  switch (state) {
    case 'failed':
      return `Failed ${ago}${of}`
    case 'never_finished':
      return `Never finished: the run of ${moment(sinceMs)}${of}`
    case 'silent': {
      const often = everyS === null ? '' : `, usually every ${formatSpan(everyS * 1000)}`
      const what = meta === null ? '' : ` of ${meta}`
      return since === null
        ? `Silent: it has not started${of}`
        : `Silent: no start${what} for ${formatSpan(nowMs - sinceMs)}${often}`
    }
    case 'exceptions':
      return run === null ? `Exception ${ago}${of}` : `Completed ${ago}${of}, with an exception`
    case 'firing':
      return describeAlert(row, nowMs)
    case 'overdue':
    case 'running':
      return `Running for ${duration(Math.max(0, nowMs - sinceMs))}${of}${usually}`
    case 'completed': {
      const took = run?.[2] ?? null
      return since === null ? 'Completed' : `Completed ${ago}${of}${took === null ? '' : ` in ${duration(took)}`}`
    }
    case 'no_runs':
      return 'No runs. It only sends metrics or exceptions'
    default:
      return state satisfies never
  }
}

const ALERT_SAID = {
  late: 'is late',
  long: 'runs too long',
  failed: 'failed',
  metric: 'has a metric out of bounds',
  slow: 'is slow',
} as const

function describeAlert(row: Row, nowMs: number): string {
  const alert = 'alerts' in row ? row.alerts[0] : undefined
  if (alert === undefined) return 'An alert fires'
  return `${alert.watch.name} ${ALERT_SAID[alert.condition]} for ${formatSpan(nowMs - Date.parse(alert.since))}`
}

function describeChange({ change }: Row, { duration, moment }: Words): string | undefined {
  if (change === null || change.before_ms <= 0 || change.after_ms <= 0) return undefined
  const { at, before_ms: before, after_ms: after } = change
  const [times, word] = after > before ? [after / before, 'slower'] : [before / after, 'faster']
  const ratio = times < 9.95 ? times.toFixed(1).replace(/\.0$/, '') : String(Math.round(times))
  return `${ratio}× ${word} since ${moment(Date.parse(at))}: median ${duration(after)}, before ${duration(before)}.`
}
