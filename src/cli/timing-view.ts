// Columns of the tables that people read, and the views of timings that `stint timings` and `stint running` share.
import { formatDuration } from '../wire/span-text.ts'
import type { Timing } from '../wire/timings.ts'
import { RUN_STATE_TEXT } from '../wire/words.ts'
import type { Row, View, ViewColumn } from './ask-question.ts'
import type { Cell } from './format-rows.ts'
import { formatLocalTime } from './format-time.ts'
import type { Style } from './safe-text.ts'

const NONE: Cell = { text: '–', style: 'dim' }
export const orNone = (value: unknown, show: (value: never) => Cell): Cell =>
  value == null ? NONE : show(value as never)
export const time = (title: string, field: string): ViewColumn => ({
  title,
  cell: (row) => orNone(row[field], formatLocalTime),
})
export const text = (title: string, field: string): ViewColumn => ({
  title,
  cut: true,
  cell: (row) => orNone(row[field], (value: string) => value),
})
export const right = (title: string, cell: ViewColumn['cell']): ViewColumn => ({ title, align: 'right', cell })
export const duration = (title: string, field: string) => right(title, (row) => orNone(row[field], formatDuration))
export const count = (title: string, field: string, style?: Style) =>
  right(title, (row) => countCell(row[field], style))
export const countCell = (n: number | undefined, style?: Style): Cell =>
  orNone(n, (value: number) => {
    if (value === 0) return { text: '0', style: 'dim' }
    return style === undefined ? String(value) : { text: String(value), style }
  })
export const spare = (column: ViewColumn): ViewColumn => ({ ...column, spare: true })
export const PROCESS = text('PROCESS', 'process')
export const META = text('META', 'meta')
export const UID = spare(text('UID', 'uid'))
const RUN = [PROCESS, META, UID]

const STATES: Readonly<Record<Timing['state'], Style>> = {
  completed: 'green',
  failed: 'red',
  running: 'cyan',
  abandoned: 'yellow',
  orphan: 'yellow',
}

/** A completed run with exceptions is red too: its caller may not report failures. */
export const stateCell = ({ state, exceptions }: Pick<Timing, 'state' | 'exceptions'>) => ({
  text: RUN_STATE_TEXT[state].toLowerCase(),
  style: state === 'completed' && (exceptions ?? 0) > 0 ? 'red' : STATES[state],
})

export const TIMINGS: View = {
  path: '/api/timings',
  list: 'timings',
  fields: ['process', 'meta', 'uid', 'state', 'started_at', 'ended_at', 'duration_ms', 'exceptions'],
  columns: [
    time('STARTED', 'started_at'),
    spare(time('ENDED', 'ended_at')),
    duration('DURATION', 'duration_ms'),
    { title: 'STATE', cell: (row) => stateCell(row as Timing) },
    spare(count('EXCEPTIONS', 'exceptions', 'red')), // the state is red, too
    ...RUN,
  ],
  empty: 'No timings in this range.',
}

/** `nowMs` is this machine's clock, so a running time is right to about a second. */
export const runningView = (nowMs: () => number): View => ({
  ...TIMINGS,
  columns: [time('STARTED', 'started_at'), right('RUNNING FOR', (row) => runningFor(row, nowMs())), ...RUN],
  isOldestFirst: true,
  empty: 'No runs are in progress.',
})

const runningFor = ({ started_at }: Row, nowMs: number): Cell =>
  orNone(started_at, (at: string) => formatDuration(Math.max(0, Math.round(nowMs - Date.parse(at)))))
