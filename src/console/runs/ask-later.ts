// How the runs that were running at the end of a fixed range have ended since.
import type { Get } from '../kit/ask.ts'
import type { TimeRange } from '../kit/time-range.ts'
import type { RunQuery } from '../timeline/ask-timeline.ts'
import { type Run, toRun } from '../timeline/run.ts'

/** More are not looked up. */
const MAX = 1_000

/** By the ids of the runs, without those that still run. Throws ApiError. */
export async function askLater(
  get: Get,
  { isLive, toMs }: TimeRange,
  { process, meta, uid }: RunQuery,
): Promise<ReadonlyMap<string, Run>> {
  if (isLive) return new Map()
  const moment = { from: new Date(toMs).toISOString(), to: new Date(toMs + 1).toISOString() }
  const { timings } = await get('api/timings', { ...moment, process, meta, uid, limit: MAX })
  return new Map(
    timings
      .map(toRun)
      .filter(({ state }) => state !== 'running')
      .map((run) => [run.id, run]),
  )
}
