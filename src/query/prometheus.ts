// An account's processes in Prometheus' text format: newest runs, a day's counts, newest metrics, firing alerts.
//
// Older data than a day is read at most once an hour: the last day's reading has all newer data, so the answer lacks
// only events sent late, with an `at` of more than a day ago, for up to an hour.
import { compare } from '../store/order.ts'
import type { Asker, ExceptionSource, NewestRuns, PointSource, TimingSummaryRow } from '../store/source.ts'
import { mapInTurns, rest, sortInTurns, spend } from '../turns.ts'
import type { KeptAnswers } from './kept-answers.ts'

export interface PrometheusDeps {
  readonly points: Pick<PointSource, 'summarizeTimings' | 'findNewestMetrics'>
  readonly exceptions: Pick<ExceptionSource, 'countExceptions'>
  nowNs(): bigint
  readonly maxRunNs: bigint
  /** The alerts of the account that fire now. */
  firing(account: string): Promise<readonly FiringAlert[]>
  readonly kept: Pick<KeptAnswers, 'share'>
}

export type ProcessStates = readonly { readonly process: string; readonly state: string }[]

export interface FiringAlert {
  readonly watch: { readonly name: string }
  readonly condition: string
  readonly process: string
}

const DAY_NS = 86_400_000_000_000n
const HISTORY_NS = 31n * DAY_NS
const HISTORY_FOR_MS = 3_600_000
const ROW_BYTES = 200
export const MAX_SERIES = 10_000

const FAMILIES = {
  lastStart: ['stint_run_last_start_timestamp_seconds', 'When the newest run started'],
  lastSuccess: ['stint_run_last_success_timestamp_seconds', 'When the newest completed run ended'],
  lastFailure: ['stint_run_last_failure_timestamp_seconds', 'When the newest failed run ended'],
  lastDuration: ['stint_run_last_duration_seconds', 'Duration of the run that ended last, completed or failed'],
  running: ['stint_runs_running', 'Runs that have started and not ended'],
  runs: ['stint_runs_24h', 'Runs of the last 24 hours by state'],
  exceptions: ['stint_exceptions_24h', 'Exceptions of the last 24 hours'],
  metric: ['stint_metric', 'The newest value of a metric'],
  firing: ['stint_alert_firing', 'Alerts that fire'],
  state: ['stint_process_state', '1 for the state of a process, as Home and stint status show it'],
} as const

type Family = keyof typeof FAMILIES
type Labels = Readonly<Record<string, string>>

type Subject = { readonly process: string; readonly meta: string }

const keyOf = (...parts: readonly string[]) => JSON.stringify(parts)
const STATES = ['completed', 'failed', 'abandoned', 'orphan'] as const

/** The text for an asker's account. Rejects with what the sources and `firing` throw. */
export function createPrometheus({ points, exceptions, nowNs, maxRunNs, firing, kept }: PrometheusDeps) {
  const summarize = (asker: Asker, fromNs: bigint, toNs: bigint) =>
    points.summarizeTimings({
      ...asker,
      fromNs,
      toNs,
      maxRunNs,
      nowNs: toNs,
      byMeta: true,
      newest: true,
      maxRows: MAX_SERIES,
    })

  async function readHistory(asker: Asker, toNs: bigint) {
    const range = { ...asker, fromNs: toNs - HISTORY_NS, toNs, maxRows: MAX_SERIES }
    const [runs, metrics] = await Promise.all([summarize(asker, range.fromNs, toNs), points.findNewestMetrics(range)])
    const newestRuns = await mapInTurns(runs, ({ process, meta = '', newest }) => ({ process, meta, newest }))
    return { runs: newestRuns, metrics, size: ROW_BYTES * (runs.length + metrics.length) }
  }

  return async (asker: Asker, states: ProcessStates = []): Promise<string> => {
    const now = nowNs()
    const { account } = asker
    const ofMonth = { account, words: 'history', maxAgeMs: HISTORY_FOR_MS }
    const day = { ...asker, fromNs: now - DAY_NS, toNs: now, maxRows: MAX_SERIES }
    const [{ answer: history }, runs, open, metrics, counts, alerts] = await Promise.all([
      kept.share(ofMonth, () => readHistory({ account, isShort: false }, now)),
      summarize(asker, day.fromNs, now),
      maxRunNs > DAY_NS ? summarize(asker, now - maxRunNs, now) : undefined,
      points.findNewestMetrics(day),
      exceptions.countExceptions(day),
      firing(account),
    ])
    const text = createText()
    const [ofDay, running] = [await bySubject(runs), await bySubject(open ?? runs)]
    const [thrown, older] = [await bySubject(counts), await bySubject(history.runs)]
    const subjects = await bySubject([...history.runs, ...runs, ...counts])
    for (const [key, { process, meta = '' }] of await inOrder(subjects)) {
      if (spend(16)) await rest()
      const subject = { process, meta }
      const row = ofDay.get(key)
      if (row !== undefined || older.has(key))
        addRuns(text, subject, row, { ...older.get(key)?.newest, ...row?.newest }, running.get(key)?.running ?? 0)
      text.add('exceptions', subject, thrown.get(key)?.count ?? 0)
    }
    const newest = await byKey([...history.metrics, ...metrics], (row) => keyOf(row.process, row.meta, row.name))
    for (const [, { process, meta, name, value }] of await inOrder(newest)) {
      text.add('metric', { process, meta, name }, value)
      if (spend(4)) await rest()
    }
    const fired = Map.groupBy(alerts, ({ watch, condition, process }) => keyOf(watch.name, condition, process))
    for (const [, those] of await inOrder(fired)) {
      const { watch, condition, process } = those[0]!
      text.add('firing', { watch: watch.name, condition, process }, those.length)
    }
    for (const { process, state } of states) {
      text.add('state', { process, state }, 1)
      if (spend(4)) await rest()
    }
    return text.print()
  }
}

function addRuns(text: Text, subject: Subject, row: TimingSummaryRow | undefined, newest: NewestRuns, running: number) {
  const { process, meta } = subject
  const labels = { process, meta }
  const seconds = (ns: bigint) => Number(ns / 1000n) / 1e6
  if (newest.startNs !== undefined) text.add('lastStart', labels, seconds(newest.startNs))
  if (newest.completedNs !== undefined) text.add('lastSuccess', labels, seconds(newest.completedNs))
  if (newest.failedNs !== undefined) text.add('lastFailure', labels, seconds(newest.failedNs))
  if (newest.durationNs !== undefined) text.add('lastDuration', labels, seconds(newest.durationNs))
  text.add('running', labels, running)
  for (const state of STATES) {
    const count = row === undefined ? 0 : state === 'completed' ? row.count : row[state]
    text.add('runs', { ...labels, state }, count)
  }
}

const byKey = async <T>(rows: readonly T[], key: (row: T) => string) =>
  new Map(await mapInTurns(rows, (row) => [key(row), row] as const))
const bySubject = <T extends { readonly process: string; readonly meta?: string }>(rows: readonly T[]) =>
  byKey(rows, ({ process, meta = '' }) => keyOf(process, meta))

const inOrder = <T>(entries: ReadonlyMap<string, T>) => sortInTurns([...entries], ([a], [b]) => compare(a, b))

type Text = ReturnType<typeof createText>

/** Collects series up to `MAX_SERIES`. A label without a value is left out: Prometheus treats an empty one the same. */
function createText() {
  const lines = new Map<Family, string[]>()
  let [series, omitted] = [0, 0]
  return {
    add(family: Family, labels: Labels, value: number): void {
      if (series === MAX_SERIES) {
        omitted++
        return
      }
      series++
      const written = Object.entries(labels)
        .filter(([, text]) => text !== '')
        .map(([name, text]) => `${name}="${escapeLabel(text)}"`)
      const own = lines.get(family) ?? []
      lines.set(family, own)
      own.push(`${FAMILIES[family][0]}{${written.join(',')}} ${formatValue(value)}`)
    },
    print(): string {
      const families = (Object.keys(FAMILIES) as Family[]).flatMap((family) => {
        const own = lines.get(family)
        return own === undefined ? [] : [...head(FAMILIES[family]), ...own]
      })
      const left = 'stint_series_omitted'
      const tail = [...head([left, `Series beyond ${MAX_SERIES}, which this answer leaves out`]), `${left} ${omitted}`]
      return `${[...families, ...tail].join('\n')}\n`
    },
  }
}

const head = ([name, help]: readonly [name: string, help: string]) => [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`]

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' }
const escapeLabel = (text: string) => text.replaceAll(/[\\\n"]/g, (character) => ESCAPES[character]!)

const formatValue = (value: number): string =>
  Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN'
