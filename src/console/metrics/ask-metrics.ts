// The question of the Metrics page: the rows of one process, or of each of its metas.
import type { MetricRow } from '../../wire/metrics.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import { askRows } from '../kit/ask-metrics.ts'
import { metaLabel } from '../kit/ask-processes.ts'
import { parseTime } from '../kit/format-time.ts'
import type { Question } from '../kit/page.tsx'
import { bucketsOf, chooseEvery, inZone, presetFor, readRange, type TimeRange } from '../kit/time-range.ts'

const LEAST_RANGE_MS = 50 * 60_000
const POINTS_MAX = 90
/** Each has a line. */
const METAS_MAX = 6
/** A list of metas that is as long may lack some. */
const METAS_LISTED = 20
export const INTERVALS = ['10s', '1m', '5m', '15m', '1h', '1d'] as const

export interface MetricsAnswer {
  /** Only processes that send metrics. */
  readonly processes: readonly ProcessEntry[]
  /** The one that the address names, otherwise the one that sent last; undefined: none has sent any. */
  readonly process: string | undefined
  /** The range without one in the address: it reaches back to the newest value. */
  readonly fallback: string
  readonly range: TimeRange
  readonly every: string
  /** Where each bucket begins. */
  readonly atMs: readonly number[]
  /** All chosen metas together. */
  readonly rows: readonly MetricRow[]
  /** The first metas by name, where there are several: a mean of different metas says nothing. */
  readonly groups: readonly { readonly label: string; readonly rows: readonly MetricRow[] }[]
  readonly metas: number
}

const everyIn = (params: URLSearchParams): string | undefined =>
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
  const atMs = bucketsOf(range, every)
  const metas = params.get('meta') === null ? (entry?.metas ?? []) : []
  const asked = { processes, process, fallback, range, every, atMs, metas: metas.length }
  if (process === undefined) return { ...asked, rows: [], groups: [] }

  // from the beginning of the first bucket on: a part of a day is no day
  const from = new Date(atMs[0] ?? range.fromMs).toISOString()
  const query = { from, to: range.query.to, process, meta: params.get('meta') ?? undefined, ...inZone(every) }
  const [rows, groups] = await Promise.all([askRows(get, query), metas.length > 1 ? askGroups() : []])
  return { ...asked, rows, groups }

  async function askGroups(): Promise<MetricsAnswer['groups']> {
    const shown = metas.map((meta) => ({ meta, label: metaLabel(meta) }))
    const first = shown.toSorted((a, b) => a.label.localeCompare(b.label)).slice(0, METAS_MAX)
    if (metas.length >= METAS_LISTED)
      return Promise.all(
        first.map(async ({ label, meta }) => ({ label, rows: await askRows(get, { ...query, meta: meta ?? '' }) })),
      )
    const rows = await askRows(get, { ...query, by: 'meta' })
    return first.map(({ label, meta }) => ({ label, rows: rows.filter((row) => row.meta === meta) }))
  }
}
