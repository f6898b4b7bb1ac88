// A row of GET /api/overview → the sentence about its process, in the words of the page of a process, of `stint status`
// and of badges. Free of schemas: it is in the console's bundle.
import type { Alert } from './alerts.ts'
import { CONDITION_TABLE, type ConditionEntry } from './conditions.ts'
import type { OverviewMeta, OverviewRow } from './overview.ts'
import { type Tone, toneOf } from './process-state.ts'
import { formatSpan } from './span-text.ts'

/** How times are written; the console writes them in the reader's zone. */
export interface Words {
  /** `12 m 37 s` */
  duration(ms: number): string
  /** `24 Nov 03:00` */
  moment(ms: number): string
  /** `2.5`, of how many times as long */
  times(times: number): string
}

export interface Said {
  readonly tone: Tone
  /** `Failed 35 min ago (plan team).` */
  readonly text: string
  /** `2.5× slower since 24 Nov 23:00: median 35.5 s, before 14.1 s.` */
  readonly change?: string
}

type Row = OverviewRow | OverviewMeta

/** A meta may be 500 characters long; the sentence is one line. */
const META_MAX = 60

const shorten = (letters: readonly string[]): string =>
  letters.length <= META_MAX ? letters.join('') : `${letters.slice(0, META_MAX).join('')}…`

export function describeProcess(row: Row, nowMs: number, words: Words): Said {
  const change = describeChange(row, words)
  return { tone: toneOf(row.state), text: `${textOf(row, nowMs, words)}.`, ...(change !== undefined && { change }) }
}

function textOf(row: Row, nowMs: number, { duration, moment }: Words): string {
  const { state, meta, since, run, every_s: everyS, usual_ms: usualMs } = row
  const sinceMs = since === null ? nowMs : Date.parse(since)
  const ago = `${formatSpan(nowMs - sinceMs)} ago`
  const short = meta === null ? null : shorten([...meta])
  const of = short === null ? '' : ` (${short})`
  const usually = usualMs === null ? '' : `, usually ${duration(usualMs)}`
  switch (state) {
    case 'failed':
      return `Failed ${ago}${of}`
    case 'never_finished':
      return `Never finished: the run of ${moment(sinceMs)}${of}`
    case 'silent': {
      const often =
        everyS === null ? '' : `, usually every ${everyS < 1 ? 'second or less' : formatSpan(everyS * 1000)}`
      const what = short === null ? '' : ` of ${short}`
      return since === null
        ? `Silent: it has not started${of}`
        : `Silent: no start${what} for ${formatSpan(nowMs - sinceMs)}${often}`
    }
    case 'exceptions':
      return run?.[1] === 'exceptions' ? `Completed ${ago}${of}, with an exception` : `Exception ${ago}${of}`
    case 'firing':
      return `${describeAlert(row, nowMs)}${of}`
    case 'overdue':
    case 'running':
      return `Running for ${duration(Math.max(0, nowMs - sinceMs))}${of}${usually}`
    case 'completed': {
      const took = run?.[2] ?? null
      return since === null ? 'Completed' : `Completed ${ago}${of}${took ? ` in ${duration(took)}` : ''}`
    }
    case 'no_runs':
      return 'No runs. It only sends metrics or exceptions'
    default:
      return state satisfies never
  }
}

function describeAlert(row: Row, nowMs: number): string {
  if (!('alerts' in row)) return 'An alert fires'
  const alert = row.alerts.find(({ since, meta }) => since === row.since && meta === row.meta) // a late one is `silent`
  if (alert === undefined) return 'An alert fires'
  const about = { ...alert, process: row.process }
  const span = formatSpan(nowMs - Date.parse(alert.since))
  if (isAboutException(about)) return `Raised an exception ${span} ago`
  const { fires = `Metric ${figureOf(about)}` }: ConditionEntry = CONDITION_TABLE[alert.condition]
  return `${fires} for ${span}`
}

type Summarized = Pick<Alert, 'condition' | 'summary' | 'process' | 'meta'>

const withoutSubject = ({ summary, process, meta }: Summarized): string =>
  summary.replace(meta === null ? process : `${process} (${meta})`, '')

/** The values of an alert about a metric: `lag is above 5 (mean of 10m: 7.2)`. */
export const figureOf = (alert: Summarized): string => withoutSubject(alert).replace(/^: /, '').replace(/; .*/s, '')

/** Also true of an ended alert, whose text is about the end. */
export const isAboutException = (alert: Summarized): boolean =>
  alert.condition === 'failed' && /^ raised an exception| after an exception$/.test(withoutSubject(alert))

/** Told when the next run starts: that run has not failed. */
export const isNeverFinished = (alert: Summarized): boolean =>
  alert.condition === 'failed' && withoutSubject(alert).startsWith(' never finished')

function describeChange({ change }: Row, { duration, moment, times: timesOf }: Words): string | undefined {
  if (change === null || change.before_ms <= 0 || change.after_ms <= 0) return undefined
  const { at, before_ms: before, after_ms: after } = change
  const [times, word] = after > before ? [after / before, 'slower'] : [before / after, 'faster']
  const since = moment(Date.parse(at))
  return `${timesOf(times)}× ${word} since ${since}: median ${duration(after)}, before ${duration(before)}.`
}
