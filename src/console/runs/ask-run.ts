// Loads one run with the runs before it and the events sent during it.
import { BELATED_US } from '../../process/belongs-to.ts'
import type { ExceptionText } from '../../wire/exceptions.ts'
import type { MetricPoint } from '../../wire/metrics.ts'
import type { OutputText } from '../../wire/outputs.ts'
import { ApiError } from '../kit/api.ts'
import type { App } from '../kit/app.ts'
import type { Get, Query } from '../kit/ask.ts'
import { askPoints } from '../kit/ask-metrics.ts'
import { afterNs, parseTime } from '../kit/format-time.ts'
import { belongsTo } from '../timeline/belongs-to.ts'
import { formatRunId, isTrouble, parseRunId, type Run, toRun } from '../timeline/run.ts'
import { usualMsOf } from '../timeline/usual.ts'

export interface RunContext {
  readonly run: Run
  /** The usual duration of its process and meta; undefined below five runs. */
  readonly usualMs: number | undefined
  /** The completed run before it. */
  readonly previous: Run | undefined
  /** The last one that had completed when it started, without an exception: as on the page of an alert. */
  readonly good: Run | undefined
  /** Newest first. */
  readonly metrics: readonly MetricPoint[]
  readonly exceptions: readonly ExceptionText[]
  readonly outputs: readonly OutputText[]
  /** Other runs of its process and meta were open at the same time: events without a uid may belong to them. */
  readonly overlaps: boolean
}

type Asked = Query<'api/timings'>

const DAY_MS = 86_400_000
/** How far to look back from the run; tried in turn until the store does not refuse the question as too large. */
const REACHES_MS = [30 * DAY_MS, 7 * DAY_MS, DAY_MS]
const SENT_MAX = 100
/** Completed runs before it. */
const BEFORE = 20

/** undefined if the run is not found. Throws ApiError. */
export async function askRun({ nowMs }: App, get: Get, id: string): Promise<RunContext | undefined> {
  const askTimings = async (query: Asked) => (await get('api/timings', query)).timings.map(toRun)

  const identity = parseRunId(id)
  if (identity === undefined) return undefined
  const { at, process } = identity
  const same = { process, meta: identity.meta ?? '' }
  const exact = { ...same, uid: identity.uid ?? '', from: at, to: afterNs(at), limit: 10 }
  const run = (await askTimings(exact)).find((found) => found.id === formatRunId(identity))
  if (run === undefined) return undefined
  const iso = (ms: number) => new Date(ms).toISOString()
  const endMs = Math.min(run.endMs, nowMs())
  const during = { ...same, from: at, to: iso(endMs + BELATED_US / 1000), limit: SENT_MAX }
  /** The run's own metrics, and those sent without a uid while it ran. */
  const askMetrics = async (): Promise<MetricPoint[]> => {
    const uids = [...new Set([identity.uid ?? '', ''])]
    return (await Promise.all(uids.map((uid) => askPoints(get, { ...during, uid })))).flat()
  }
  const aheadMs = Math.max(3_600_000, 4 * (endMs - run.startMs))

  const [{ processes }, before, after, open, metrics, { exceptions }, { outputs }] = await Promise.all([
    get('api/overview', { process }),
    askBefore(askTimings, { ...same, to: at, state: 'completed', limit: BEFORE }, run.startMs),
    askTimings({ ...same, from: afterNs(at), to: iso(run.startMs + aheadMs), limit: 1000 }),
    askTimings({ ...same, from: at, to: iso(endMs + 1), limit: 2 }),
    askMetrics(),
    get('api/exceptions', during),
    get('api/outputs', during),
  ])
  const isOwn = ({ at, process, meta, uid }: ExceptionText | MetricPoint | OutputText) =>
    belongsTo({ atMs: parseTime(at), process, meta, uid: uid ?? null }, run, after)
  const isBefore = (other: Run) => other.id !== run.id && other.startMs <= run.startMs
  return {
    run,
    usualMs: usualMsOf(run, processes[0]),
    previous: before.find(isBefore),
    good: before.find((other) => isBefore(other) && other.endMs <= run.startMs && !isTrouble(other)),
    metrics: metrics.filter(isOwn).toSorted((a, b) => (a.at < b.at ? 1 : -1)),
    exceptions: exceptions.filter(isOwn),
    outputs: outputs.filter(isOwn),
    overlaps: open.some((other) => other.id !== run.id),
  }
}

async function askBefore(ask: (query: Asked) => Promise<Run[]>, query: Asked, startMs: number): Promise<Run[]> {
  for (const reachMs of REACHES_MS) {
    try {
      return await ask({ ...query, from: new Date(startMs - reachMs).toISOString() })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'question_too_large') throw error
    }
  }
  return []
}
