// A run beside another, usually the last good one: the rows of the table that shows what differs. Pure; the page of an
// alert and the panel of any run make the same table of it.
import { byDifference } from '../../process/by-difference.ts'
import type { AlertDetail, AlertRun } from '../../wire/alert-detail.ts'
import { RUN_STATE_TEXT } from '../../wire/words.ts'
import { lineOf } from '../exceptions/line-of.ts'
import { formatCount, formatDuration, formatValue } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { linkToRun } from '../kit/run-links.ts'
import { toRun } from '../timeline/run.ts'
import { describeRatio } from '../timeline/usual.ts'

export interface Compared extends Pick<AlertDetail, 'good_run' | 'metrics' | 'output' | 'good_output' | 'unavailable'> {
  readonly run: AlertRun
  readonly exceptions: readonly Raised[]
  /** Exceptions of the other run; absent: it is a good one and has none. */
  readonly goodExceptions?: readonly Raised[]
}

/** An exception of a run, as far as the comparison shows it. */
type Raised = Pick<AlertDetail['exceptions'][number], 'headline'>

export interface CompareRow {
  readonly id: string
  readonly what: string
  readonly run: string
  /** Below the value of the run. */
  readonly ratio: string
  readonly other: string
}

const NONE = 'none'

export function compareRuns(
  { run, good_run: other, metrics, ...raised }: Compared,
  nowMs: number,
): readonly CompareRow[] {
  const row = (what: string, say: (of: AlertRun) => string, ratio = ''): CompareRow => ({
    id: what,
    what,
    run: say(run),
    ratio,
    other: other === null ? '' : say(other),
  })
  const [ms, otherMs] = [lengthMs(run, nowMs), other && lengthMs(other, nowMs)]
  const rows = [
    row('Started', ({ started_at: at }) => (at === null ? 'not known' : formatMoment(parseTime(at), nowMs))),
    row('Ended', (of) => endedText(of, nowMs)),
    row(
      'Took',
      (of) => tookText(of, nowMs),
      ms !== null && otherMs ? describeRatio(ms, otherMs, 'about the same') : '',
    ),
    ...[...metrics].sort(byDifference).map(({ name, value, good_value: good }) => ({
      id: `metric ${name}`,
      what: name,
      run: valueText(value),
      other: other === null ? '' : valueText(good),
      ratio: other === null ? '' : ratioText(value, good),
    })),
  ]
  const { exceptions, goodExceptions = [] } = raised
  if (exceptions.length + goodExceptions.length > 0)
    rows.push({
      id: 'exceptions',
      what: 'Exceptions',
      run: raisedText(exceptions),
      ratio: '',
      other: other === null ? '' : raisedText(goodExceptions),
    })
  if (run.exit || other?.exit) rows.push(row('Exit', ({ exit }) => exitText(exit)))
  return rows
}

const lengthMs = ({ state, started_at: at, duration_ms: ms }: AlertRun, nowMs: number): number | null =>
  state === 'running' && at !== null ? Math.max(0, nowMs - parseTime(at)) : ms

function endedText({ state, ended_at: at }: AlertRun, nowMs: number): string {
  if (at !== null) return formatMoment(parseTime(at), nowMs)
  return RUN_STATE_TEXT[state].toLowerCase()
}

function tookText(run: AlertRun, nowMs: number): string {
  const ms = lengthMs(run, nowMs)
  return `${formatDuration(ms)}${run.state === 'running' && ms !== null ? ' so far' : ''}`
}

const valueText = (value: number | null): string => (value === null ? NONE : formatValue(value))

/** The newest one, and how many more. */
function raisedText([first, ...more]: readonly Raised[]): string {
  if (first === undefined) return NONE
  return `${lineOf(first)}${more.length > 0 ? ` and ${formatCount(more.length)} more` : ''}`
}

function exitText(exit: AlertRun['exit']): string {
  if (exit === null) return '–'
  return exit.signal ?? `code ${exit.code}`
}

/** `2.3×`, `0.04×`, `the same`; empty where there is no ratio. */
function ratioText(value: number | null, good: number | null): string {
  if (value === null || good === null) return ''
  if (value === good) return 'the same'
  const ratio = value / good
  return Number.isFinite(ratio) && ratio > 0 ? `${formatValue(Number(ratio.toPrecision(2)))}×` : ''
}

/** The page of a run. */
export const linkOf = (run: Omit<AlertRun, 'exit'>, nowMs: number): string =>
  linkToRun(toRun({ ...run, exceptions: null }), nowMs)
