// A timing as the timeline needs it: numbers to draw by, and the stamp of its first mark, which names it (no two marks share one).
import type { RunState, Timing } from '../kit/answers.ts'
import { parseTime } from '../kit/format-time.ts'

export interface Run {
  /** The stamp of the first mark, as the API writes it. */
  readonly id: string
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
  readonly state: RunState
  /** Of the first mark; an orphan's is its end. */
  readonly startMs: number
  /** Infinity while it runs; abandoned ones and orphans have no length. */
  readonly endMs: number
  readonly timing: Timing
}

export function toRun(timing: Timing): Run {
  const { process, meta, uid, state, started_at, ended_at, duration_ms } = timing
  const id = started_at ?? ended_at ?? ''
  const startMs = parseTime(id)
  const endMs = state === 'running' ? Number.POSITIVE_INFINITY : startMs + (duration_ms ?? 0)
  return { id, process, meta, uid, state, startMs, endMs, timing }
}

/** `import · eu · 3f2a`: process, meta and uid, as far as there are any. */
export const nameOf = ({ process, meta, uid }: Pick<Run, 'process' | 'meta' | 'uid'>): string =>
  [process, meta, uid].filter((part) => part !== null && part !== '').join(' · ')

export const STATE_TEXT: Readonly<Record<RunState, string>> = {
  completed: 'Completed',
  running: 'Running',
  abandoned: 'Abandoned',
  orphan: 'Orphan end',
}
