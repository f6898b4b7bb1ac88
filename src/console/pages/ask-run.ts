// Everything about one run, from the stamp of its first mark alone: no two marks share one, so it is the first answer of a range that ends with it.
import type { ExceptionText, MetricPoint, SummaryRow, Timing } from '../kit/answers.ts'
import { afterNs } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'
import { type Run, toRun } from '../timeline/run.ts'

export interface RunContext {
  readonly run: Run
  /** Of its process and meta over the day around it. */
  readonly usual: SummaryRow | undefined
  /** Newest first, itself among them. */
  readonly neighbours: readonly Timing[]
  /** Newest first. */
  readonly metrics: readonly MetricPoint[]
  readonly exceptions: readonly ExceptionText[]
}

const DAY_MS = 86_400_000
const MARGIN_MS = 30_000
const BESIDE = 3

/** undefined when no run begins with this stamp. Throws ApiError. */
export async function askRun({ api, nowMs }: App, id: string, signal: AbortSignal): Promise<RunContext | undefined> {
  const askTimings = async (query: Record<string, string | number>) =>
    (await api.get<{ timings: Timing[] }>('api/timings', query, signal)).timings

  const [timing] = await askTimings({ from: id, to: afterNs(id), limit: 1 })
  if (timing === undefined || (timing.started_at ?? timing.ended_at) !== id) return undefined
  const run = toRun(timing)
  const { process } = run
  const same = { process, meta: run.meta ?? '' }
  const iso = (ms: number) => new Date(ms).toISOString()
  const endMs = Math.min(Number.isFinite(run.endMs) ? run.endMs : nowMs(), nowMs())
  const near = Math.max(MARGIN_MS, (endMs - run.startMs) / 10)
  const around = { ...same, from: iso(run.startMs - near), to: iso(endMs + near), limit: 50 }
  const aheadMs = Math.max(3_600_000, 4 * (endMs - run.startMs))

  const [before, after, { rows }, { points }, { exceptions }] = await Promise.all([
    askTimings({ ...same, from: iso(run.startMs - 7 * DAY_MS), to: afterNs(id), limit: BESIDE + 1 }),
    askTimings({ ...same, from: afterNs(id), to: iso(run.startMs + aheadMs), limit: 1000 }),
    api.get<{ rows: SummaryRow[] }>(
      'api/timings/summary',
      { ...same, from: iso(run.startMs - DAY_MS / 2), to: iso(run.startMs + DAY_MS / 2) },
      signal,
    ),
    api.get<{ points: MetricPoint[] }>('api/metrics', around, signal),
    api.get<{ exceptions: ExceptionText[] }>('api/exceptions', around, signal),
  ])
  const later = after.filter(({ started_at, ended_at }) => (started_at ?? ended_at ?? '') > id).slice(-BESIDE)
  return { run, usual: rows[0], neighbours: [...later, ...before], metrics: points, exceptions }
}
