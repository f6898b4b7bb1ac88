// The question of the Metrics page: the rows of one process, or of each of its metas.
import type { MetricRow } from '../../wire/metrics.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import { askRows } from '../kit/ask-metrics.ts'
import { metaLabel } from '../kit/ask-processes.ts'
import { parseTime } from '../kit/format-time.ts'
import type { Question } from '../kit/page.tsx'
import { chooseEvery, presetFor, readRange, type TimeRange } from '../kit/time-range.ts'

const LEAST_RANGE_MS = 50 * 60_000
const POINTS_MAX = 90
export const METAS_MAX = 6
export const INTERVALS = ['10s', '1m', '5m', '15m', '1h', '1d'] as const

export interface MetricsAnswer {
  /** Those that send metrics. */
  readonly processes: readonly ProcessEntry[]
  /** The one that the address names, otherwise the one that sent last; undefined: none has sent any. */
  readonly process: string | undefined
  /** The range without one in the address: it reaches back to the newest value. */
  readonly fallback: string
  readonly range: TimeRange
  readonly every: string
  /** A single group unless metas are compared. */
  readonly groups: readonly { readonly label: string; readonly rows: readonly MetricRow[] }[]
}

export const everyIn = (params: URLSearchParams): string | undefined =>
  INTERVALS.find((known) => known === params.get('every'))

export async function askMetrics({ app, params, get, signal }: Question<MetricsAnswer>): Promise<MetricsAnswer> {
  const { nowMs } = app
  const processes = (await app.askProcesses(signal)).filter(({ kinds }) => kinds.includes('metric'))
  const newest = processes.toSorted((a, b) => (a.last_at < b.last_at ? 1 : -1))[0]
  const process = params.get('process') ?? newest?.process
  const entry = processes.find((known) => known.process === process)
  const fallback = entry === undefined ? '-1h' : presetFor(Math.max(nowMs() - parseTime(entry.last_at), LEAST_RANGE_MS))
  const range = readRange(params, nowMs(), fallback)
  const every = everyIn(params) ?? chooseEvery(range, POINTS_MAX)
  const asked = { processes, process, fallback, range, every }
  if (process === undefined) return { ...asked, groups: [] }

  const ask = async (label: string, meta: string | undefined) => {
    const query = { ...range.query, process, meta, every }
    return { label, rows: await askRows(get, query) }
  }
  if (params.get('by') !== 'meta') return { ...asked, groups: [await ask(process, params.get('meta') ?? undefined)] }
  const metas = (entry?.metas ?? []).slice(0, METAS_MAX)
  return { ...asked, groups: await Promise.all(metas.map((meta) => ask(metaLabel(meta), meta ?? ''))) }
}
