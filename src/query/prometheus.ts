// An account's processes in Prometheus' text format, from the overview. The stores are asked only for the newest
// metrics, and for a success or failure that is older than a day and than the runs that live remembers. These are read
// at most once an hour, so the text lacks for up to an hour those that were sent late.
import { Problem } from '../problem.ts'
import { compare } from '../store/order.ts'
import type { Asker, MetricPointRow, NewestRuns, PointSource, TimingSummaryRow } from '../store/source.ts'
import { indexInTurns, mapInTurns, rest, sortInTurns, spend } from '../turns.ts'
import type { Alert } from '../wire/alerts.ts'
import type { ProcessState } from '../wire/process-state.ts'
import type { Reader } from './desk.ts'
import type { KeptAnswers } from './kept-answers.ts'

interface PrometheusDeps {
  readonly points: Pick<PointSource, 'summarizeTimings' | 'findNewestMetrics'>
  nowNs(): bigint
  readonly maxRunNs: bigint
  readonly kept: Pick<KeptAnswers, 'share'>
}

/** The figures of a process and meta; '' = without. */
export interface MetaFigures {
  readonly process: string
  readonly meta: string
  /** Times of the runs in µs; `seenUs` is the newest mark. Undefined: no runs. */
  readonly newest:
    | ({ readonly seenUs: number; readonly running: number } & {
        readonly [K in 'startUs' | 'okUs' | 'failedUs' | 'tookUs']: number | undefined
      })
    | undefined
  /** There are more runs than are known. */
  readonly isCut: boolean
  /** Counts of the last 24 full hours and the one that is not over. */
  readonly runs: Readonly<Record<(typeof STATES)[number], number>>
  readonly exceptions: number
}

/** The part that the overview knows. */
export interface Known {
  readonly states: readonly { readonly process: string; readonly state: ProcessState }[]
  readonly figures: readonly MetaFigures[]
  /** Firing ones. */
  readonly alerts: readonly Pick<Alert, 'watch' | 'condition' | 'process'>[]
}

type Metric = Omit<MetricPointRow, 'place' | 'uid'>
type Older = Pick<TimingSummaryRow, 'process' | 'meta' | 'newest'>

const DAY_NS = 86_400_000_000_000n
const HISTORY_NS = 31n * DAY_NS
const HISTORY_FOR_MS = 3_600_000
/** Less than a scrape may take. */
const SCRAPE_MS = 8_000
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

const keyOf = (...parts: readonly string[]) => JSON.stringify(parts)
const STATES = ['completed', 'failed', 'abandoned', 'orphan'] as const

export function createPrometheus({ points, nowNs, maxRunNs, kept }: PrometheusDeps) {
  const monthOf = (asker: Asker) => {
    const now = nowNs()
    // others wait for it, too
    return { ...asker, isShort: false, signal: undefined, fromNs: now - HISTORY_NS, toNs: now, maxRows: MAX_SERIES }
  }

  async function keep<T>({ account }: Asker, words: string, make: () => Promise<readonly T[]>): Promise<readonly T[]> {
    const { answer } = await kept.share({ account, words, maxAgeMs: HISTORY_FOR_MS }, async () => {
      const rows = await make()
      return { rows, size: ROW_BYTES * rows.length }
    })
    return answer.rows
  }

  /** Of one with the same name the last one is the newest. Rejects with what the source throws. */
  async function readMetrics(asker: Asker): Promise<readonly Metric[]> {
    const month = monthOf(asker)
    const day = { ...month, ...asker, fromNs: month.toNs - DAY_NS }
    const [before, metrics] = await Promise.all([
      keep(asker, 'metrics of a month', () => points.findNewestMetrics(month)),
      points.findNewestMetrics(day),
    ])
    return [...before, ...metrics]
  }

  /** Rejects with what the source throws. */
  function readOlder(asker: Asker): Promise<readonly Older[]> {
    const month = monthOf(asker)
    const runs = { ...month, maxRunNs, nowNs: month.toNs, byMeta: true, newest: true }
    return keep(asker, 'runs of a month', () => points.summarizeTimings(runs))
  }

  async function print(
    { states, figures, alerts }: Known,
    metrics: readonly Metric[] = [],
    olderRuns: readonly Older[] = [],
  ): Promise<string> {
    const text = createText()
    const older = await indexInTurns(olderRuns, (row) => [keyOf(row.process, row.meta ?? ''), row])
    const subjects = await mapInTurns(figures, (row) => [keyOf(row.process, row.meta), row] as const)
    const fromUs = Number((nowNs() - HISTORY_NS) / 1000n)
    for (const [key, known] of await inOrder(subjects)) {
      if (spend(64)) await rest()
      const hasRuns = known.newest !== undefined && known.newest.seenUs >= fromUs
      if (hasRuns) addRuns(text, known, older.get(key)?.newest, fromUs)
      if (hasRuns || known.exceptions > 0) text.add('exceptions', labelsOf(known), known.exceptions)
    }
    const newest = await indexInTurns(metrics, (row) => [keyOf(row.process, row.meta, row.name), row])
    for (const [, { process, meta, name, value }] of await inOrder(newest)) {
      text.add('metric', { process, meta, name }, value)
      if (spend(8)) await rest()
    }
    const fired = Map.groupBy(alerts, ({ watch, condition, process }) => keyOf(watch.name, condition, process))
    for (const [, those] of await inOrder(fired)) {
      const { watch, condition, process } = those[0]!
      text.add('firing', { watch: watch.name, condition, process }, those.length)
    }
    for (const { process, state } of states) {
      text.add('state', { process, state }, 1)
      if (spend(8)) await rest()
    }
    return text.print()
  }

  return { readMetrics, readOlder, print }
}

/** Undefined: the store does not answer before the scrape is over. */
export async function ifInTime<T>(reader: Reader, read: (reader: Reader) => Promise<T>): Promise<T | undefined> {
  const left = AbortSignal.any([AbortSignal.timeout(SCRAPE_MS), ...(reader.left ? [reader.left] : [])])
  try {
    return await read({ ...reader, left })
  } catch (error) {
    if (error instanceof Problem && error.code !== 'question_invalid') return undefined
    throw error
  }
}

/** A store is asked for its newest success or failure. */
export const lacksOlder = ({ newest, isCut }: MetaFigures): boolean =>
  isCut && newest !== undefined && (newest.okUs === undefined || newest.failedUs === undefined)

const labelsOf = ({ process, meta }: MetaFigures): Labels => ({ process, meta })
const toUs = (ns: bigint | undefined): number | undefined => (ns === undefined ? undefined : Number(ns / 1000n))

function addRuns(text: Text, known: MetaFigures, older: NewestRuns | undefined, fromUs: number) {
  const labels = labelsOf(known)
  const { startUs, okUs, failedUs, tookUs, running } = known.newest!
  const addTime = (family: Family, us = 0) => us >= fromUs && text.add(family, labels, us / 1e6)
  addTime('lastStart', startUs)
  addTime('lastSuccess', okUs ?? toUs(older?.completedNs))
  addTime('lastFailure', failedUs ?? toUs(older?.failedNs))
  if (tookUs !== undefined) text.add('lastDuration', labels, tookUs / 1e6)
  text.add('running', labels, running)
  for (const state of STATES) text.add('runs', { ...labels, state }, known.runs[state])
}

const inOrder = <T>(entries: Iterable<readonly [key: string, T]>) =>
  sortInTurns([...entries], ([a], [b]) => compare(a, b))

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
