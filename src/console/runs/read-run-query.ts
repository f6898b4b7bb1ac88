// The address of the Runs page as a question.

import type { TimingState as RunState } from '../../wire/timings.ts'
import { readRange, type TimeRange } from '../kit/time-range.ts'
import type { RunQuery } from '../timeline/ask-timeline.ts'
import type { StateFilter } from '../timeline/run.ts'

export const STATES: readonly RunState[] = ['failed', 'running', 'completed', 'abandoned', 'orphan']
const FILTERS: readonly StateFilter[] = [...STATES, 'trouble']

interface RunView {
  readonly range: TimeRange
  readonly query: RunQuery
  readonly page: number
  readonly runId: string | undefined
  /** The run that is shown beside it. */
  readonly besideId: string | undefined
  /** Processes without trouble are drawn, too. */
  readonly isUnfolded: boolean
}

export function readRunView(params: URLSearchParams, nowMs: number): RunView {
  const state = params.get('state')
  const query = {
    process: params.get('process') || undefined,
    meta: params.get('meta') ?? undefined,
    uid: params.get('uid') || undefined,
    state: FILTERS.find((known) => known === state),
  }
  const page = Math.max(1, Number(params.get('page') ?? 1) || 1)
  const [runId, besideId] = [params.get('run') ?? undefined, params.get('beside') ?? undefined]
  const isUnfolded = params.get('quiet') === 'shown'
  return { range: readRange(params, nowMs), query, page, runId, besideId, isUnfolded }
}
