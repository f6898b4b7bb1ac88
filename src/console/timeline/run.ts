// A timing as the console uses it: numbers for drawing, and an id. Several runs may start at the same time, so the id
// is the time of the first mark together with process, meta and uid.
import type { TimingState as RunState, Timing } from '../../wire/timings.ts'
import { RUN_STATE_TEXT } from '../../wire/words.ts'
import { formatDuration, plural } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'

export interface Run {
  /** Identifies the run in the URL; see `parseRunId`. */
  readonly id: string
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
  readonly state: RunState
  /** Time of the first mark; for an end without start, of that end. */
  readonly startMs: number
  /** Infinity while it runs; equal to `startMs` when it never finished or has no start. */
  readonly endMs: number
  /** null: unknown. */
  readonly exceptions: number | null
  readonly timing: Timing
}

export function toRun(timing: Timing): Run {
  const { process, meta, uid, state, started_at, ended_at, exceptions = null } = timing
  const at = started_at ?? ended_at ?? ''
  const startMs = parseTime(at)
  const endMs = state === 'running' ? Number.POSITIVE_INFINITY : ended_at === null ? startMs : parseTime(ended_at)
  return { id: formatRunId({ at, process, meta, uid }), process, meta, uid, state, startMs, endMs, exceptions, timing }
}

interface RunIdentity {
  /** RFC 3339 with nine digits. */
  readonly at: string
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
}

export const formatRunId = ({ at, process, meta, uid }: RunIdentity): string =>
  [at, process, meta ?? '', uid ?? ''].map(encodeURIComponent).join('/')

/** undefined for an invalid id. */
export function parseRunId(id: string): RunIdentity | undefined {
  try {
    const [at = '', process = '', meta = '', uid = ''] = id.split('/').map(decodeURIComponent)
    if (Number.isNaN(parseTime(at)) || process === '') return undefined
    return { at, process, meta: meta || null, uid: uid || null }
  } catch {
    return undefined // a malformed escape
  }
}

/** Newest first; runs with the same start by id, so that the order is stable. */
export const byNewest = (a: Run, b: Run): number => b.startMs - a.startMs || (a.id < b.id ? 1 : -1)

/** `import · eu · 3f2a`: process, and meta and uid if there are any. */
export const nameOf = ({ process, meta, uid }: Pick<Run, 'process' | 'meta' | 'uid'>): string =>
  [process, meta, uid].filter((part) => part !== null && part !== '').join(' · ')

/** `Completed · 1 exception`. */
export const describeState = ({ state, exceptions }: Pick<Run, 'state' | 'exceptions'>): string =>
  exceptions ? `${RUN_STATE_TEXT[state]} · ${plural(exceptions, 'exception')}` : RUN_STATE_TEXT[state]

/** The moment of which a page shows the states. */
export interface Seen {
  /** The end of the range; now if that is later. */
  readonly atMs: number
  /** Now, which moves. */
  readonly isLive: boolean
  /** How a run that was running then has ended since. */
  laterOf(run: Run): Run | undefined
}

/** `Completed · 1 exception`, of one that was running at the end of a fixed range `Running at 03:15:00`. */
export const describeSeen = (
  run: Pick<Run, 'state' | 'exceptions'>,
  { atMs, isLive }: Pick<Seen, 'atMs' | 'isLive'>,
  nowMs: number,
): string =>
  run.state === 'running' && !isLive ? `${RUN_STATE_TEXT.running} at ${formatMoment(atMs, nowMs)}` : describeState(run)

/** `Completed later, took 3 m 02 s`, of `laterOf`. */
export const describeLater = (later: Run, nowMs: number): string =>
  `${describeState(later)} later, took ${formatDuration(lengthMs(later, nowMs))}`

/** A filter for lists of runs; for `trouble` see `isTrouble`. */
export type StateFilter = RunState | 'trouble'

/** Shown in red: it failed, never finished, or raised an exception. */
export const isTrouble = ({ state, exceptions }: Pick<Run, 'state' | 'exceptions'>): boolean =>
  state === 'failed' || state === 'abandoned' || (exceptions ?? 0) > 0

/** An end without a start: an orphan, or one that says failed. */
export const isLoneEnd = ({ timing }: Pick<Run, 'timing'>): boolean => timing.started_at === null

/** It completed, failed or never finished. */
export const isOver = ({ state }: Pick<Run, 'state'>): boolean => state !== 'running' && state !== 'orphan'

/** How long it took, or has been running, in ms; null without a known length. */
export const lengthMs = ({ state, startMs, timing }: Run, nowMs: number): number | null =>
  state === 'running' ? Math.max(0, nowMs - startMs) : timing.duration_ms
