// Timings as `stint timings` and `stint running` show them.
import { formatDuration } from '../format-duration.ts'
import { formatLocalTime } from '../local-time.ts'
import type { Style } from '../paint.ts'
import type { Cell } from '../text-table.ts'
import type { Shape } from './question-command.ts'

export interface Timing {
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
  readonly state: 'completed' | 'running' | 'abandoned' | 'orphan'
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly duration_ms: number | null
}

const STYLES: Readonly<Record<Timing['state'], Style>> = {
  completed: 'green',
  running: 'cyan',
  abandoned: 'yellow',
  orphan: 'yellow',
}

/** What is absent. */
export const NONE: Cell = { text: '–', style: 'dim' }

export const textOr = (text: string | null): Cell => text ?? NONE
export const timeOr = (at: string | null): Cell => (at === null ? NONE : formatLocalTime(at))
export const durationOr = (ms: number | null): Cell => (ms === null ? NONE : formatDuration(ms))

const FIELDS = ['process', 'meta', 'uid', 'state', 'started_at', 'ended_at', 'duration_ms']
const WHO = [
  { title: 'PROCESS', cut: true },
  { title: 'META', cut: true },
  { title: 'UID', cut: true },
]
const who = ({ process, meta, uid }: Timing): Cell[] => [process, textOr(meta), textOr(uid)]

export const TIMINGS: Shape<Timing> = {
  path: '/api/timings',
  list: 'timings',
  fields: FIELDS,
  columns: [
    { title: 'STARTED' },
    { title: 'ENDED' },
    { title: 'DURATION', align: 'right' },
    { title: 'STATE' },
    ...WHO,
  ],
  cells: (timing) => [
    timeOr(timing.started_at),
    timeOr(timing.ended_at),
    durationOr(timing.duration_ms),
    { text: timing.state, style: STYLES[timing.state] },
    ...who(timing),
  ],
  nothing: 'No timings in this range.',
}

/** `nowMs` is this machine's clock: how long something has run is told to about a second. */
export const runningShape = (nowMs: () => number): Shape<Timing> => ({
  path: '/api/timings',
  list: 'timings',
  fields: FIELDS,
  columns: [{ title: 'STARTED' }, { title: 'RUNNING FOR', align: 'right' }, ...WHO],
  cells: (timing) => [timeOr(timing.started_at), runningFor(timing, nowMs()), ...who(timing)],
  nothing: 'Nothing is running.',
})

export const runningFor = ({ started_at }: Timing, nowMs: number): Cell =>
  started_at === null ? NONE : formatDuration(Math.max(0, Math.round(nowMs - Date.parse(started_at))))
