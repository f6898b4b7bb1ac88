// What the rows of the overview are made of: the facts of the stores by process, the watches, and what is known of a meta.
import type { Change } from '../../process/change.ts'
import type { Judgement, MetaFacts } from '../../process/judge-meta.ts'
import type { Rhythm } from '../../process/rhythm.ts'
import type { Usual } from '../../process/usual.ts'
import type { Alert } from '../../wire/alerts.ts'
import type { Watch } from '../../wire/watches.ts'
import type { BoardFacts } from './board.ts'
import type { BoardRun } from './board-run.ts'

/** What a watch says about the processes that it covers. */
export interface CoveringWatch {
  readonly shown: Watch
  covers(process: string): boolean
  /** '' = only without meta; null = any. */
  readonly meta: string | null
  /** Absent without `late`, and while it is paused. `next` is the time of the first start that is due after `ms`. */
  readonly late?: { readonly everyMs?: number; readonly graceMs: number; next(ms: number): number | undefined }
  readonly hearsLate: boolean
  readonly hearsFailed: boolean
  /** Names of its channels. */
  readonly channels: readonly string[]
}

export interface Watched {
  /** Those that fire. */
  readonly alerts: readonly Alert[]
  readonly watches: readonly CoveringWatch[]
  readonly unjudged: number
  readonly failingChannels: number
}

export interface MetaRaised {
  readonly meta: string | null
  readonly atUs: number
  readonly example: string
  readonly fingerprint: string
}
export type OwnFacts = MetaFacts<BoardRun, MetaRaised>

export interface Meta extends OwnFacts {
  readonly usual: Usual | undefined
  readonly change: Change | undefined
  /** Also where a watch decides what is late. */
  readonly expected: Rhythm | undefined
  /** Of what is known. */
  readonly firstMs: number
  readonly judgement: Judgement<BoardRun, MetaRaised>
}

/** Facts by process. */
export function indexFacts(facts: BoardFacts) {
  const startKeys = [...facts.starts.keys()].map((key) => JSON.parse(key) as [process: string, meta: string | null])
  return {
    ...facts,
    entryOf: new Map(facts.entries.map((entry) => [entry.process, entry])),
    groupsOf: Map.groupBy(facts.groups, ({ process }) => process),
    endedOf: Map.groupBy(facts.ended, ({ process }) => process),
    startedMetas: Map.groupBy(startKeys, ([process]) => process),
  }
}
export type Index = ReturnType<typeof indexFacts>
