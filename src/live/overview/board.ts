// The state of each process of an account, kept as long as nothing changes it, and their order. Judging goes in turns
// of the event loop. Invariants:
// * A process is judged again after an event, after a change of its alerts, its watches or a decision about a group,
//   when the clock changes its state, and when an hour is over.
import { decisionAbout } from '../../query/former-decisions.ts'
import { rest, spend } from '../../turns.ts'
import { PROCESS_STATES, type ProcessState } from '../../wire/process-state.ts'
import { type Account, createProcess, type Process } from '../account.ts'
import { HOUR_US } from '../hours.ts'
import { countRuns } from '../row.ts'
import { slownessOf } from './answer-row.ts'
import type { CoveringWatch, Watched } from './covering.ts'
import { type Day, type MetaView, type ProcessView, type ViewOptions, viewProcess } from './view-process.ts'

export interface Verdict {
  readonly process: Process
  readonly state: ProcessState
  readonly rank: number
  readonly sinceUs: number | undefined
  readonly day: Day
  /** See `slownessOf`. */
  readonly slowness: number
  readonly metas: readonly { readonly meta: string | null; readonly state: ProcessState }[]
  readonly nextChangeUs: number
  readonly hour: number
  /** See `keyOf`. */
  readonly around: string
}

export interface GroupDecision {
  readonly fingerprint: string
  readonly process: string
  readonly status: 'resolved' | 'ignored'
  readonly atUs: number
}

export interface Judging {
  readonly watched: Watched
  readonly decisions: readonly GroupDecision[]
  readonly nowUs: number
  readonly knownUs: number
  readonly maxRunUs: number
}

/** The steps for what a process is like: each of its runs is unpacked, sorted and judged. */
export const viewSteps = ({ rows }: Process): number =>
  rows.values().reduce((steps, row) => steps + RUN_STEPS * countRuns(row), PROCESS_STEPS)
const [PROCESS_STEPS, RUN_STEPS] = [50, 4]

export type Around = ReturnType<typeof createAround>

/** Alerts, watches and decisions by process: what a state depends on beside events. */
export function createAround({ watched, decisions, nowUs, knownUs, maxRunUs }: Judging) {
  const alertsOf = Map.groupBy(watched.alerts, ({ process }) => process)
  const decisionsOf = Map.groupBy(decisions, ({ process }) => process)
  const watches = JSON.stringify(watched.watches.map(({ shown }) => [shown.id, shown.process, shown.meta, shown.late]))
  const covering = new Map<string, readonly CoveringWatch[]>()
  const coveringOf = (process: string): readonly CoveringWatch[] => {
    if (watched.watches.length === 0) return watched.watches
    const known = covering.get(process) ?? watched.watches.filter((watch) => watch.covers(process))
    covering.set(process, known)
    return known
  }
  const watchesKey = watched.watches.length === 0 ? '' : Bun.hash(watches).toString(36)
  return {
    coveringOf,
    alertsOf: (process: string) => alertsOf.get(process) ?? [],
    names: (): Iterable<string> => alertsOf.keys(),
    /** Differs when a process is to be judged again. */
    keyOf(process: string): string {
      const [alerts, decided] = [alertsOf.get(process), decisionsOf.get(process)]
      if (alerts === undefined && decided === undefined) return watchesKey
      return JSON.stringify([watchesKey, alerts?.map(({ id }) => id), decided])
    },
    optionsOf(process: string): ViewOptions {
      const own = decisionsOf.get(process) ?? []
      return {
        nowUs,
        knownUs,
        maxRunUs,
        alerts: alertsOf.get(process) ?? [],
        watches: coveringOf(process),
        isHidden({ fingerprint, former }, atUs) {
          const decision = decisionAbout(own, fingerprint, () => former)
          return decision !== undefined && (decision.status === 'ignored' || atUs <= decision.atUs)
        },
      }
    },
  }
}

export type Board = ReturnType<typeof createBoard>

export function createBoard() {
  const verdicts = new Map<string, Verdict>()

  const isCurrent = (verdict: Verdict, process: Process, key: string, { nowUs, knownUs }: Judging): boolean =>
    !process.isChanged &&
    verdict.process === process &&
    verdict.around === key &&
    verdict.nextChangeUs >= knownUs &&
    verdict.hour === Math.floor(nowUs / HOUR_US)

  return {
    /** Judges all processes, also those of which only an alert is known. */
    async judge(account: Account, around: Around, judging: Judging): Promise<ReadonlyMap<string, Verdict>> {
      const extra = [...around.names()].filter((name) => !account.processes.has(name))
      // no copy of all: it would take a long turn
      for (const process of chain(account.processes.values(), extra.map(createProcess))) {
        const { name } = process
        const key = around.keyOf(name)
        const known = verdicts.get(name)
        if (spend(4)) await rest()
        if (known !== undefined && (isCurrent(known, process, key, judging) || isBareStill(known, process, key)))
          continue
        process.isChanged = false
        const view = viewProcess(process, around.optionsOf(name))
        verdicts.set(name, toVerdict(process, view, key, judging.nowUs))
        if (spend(viewSteps(process))) await rest()
      }
      if (verdicts.size > account.processes.size + extra.length) {
        const bare = new Set(extra)
        for (const name of verdicts.keys()) {
          if (!account.processes.has(name) && !bare.has(name)) verdicts.delete(name)
          if (spend()) await rest()
        }
      }
      return verdicts
    },
    /** When the clock changes a state next. */
    nextChangeUs(process?: string): number {
      let least = Number.POSITIVE_INFINITY
      if (process !== undefined) return verdicts.get(process)?.nextChangeUs ?? least
      for (const { nextChangeUs } of verdicts.values()) if (nextChangeUs < least) least = nextChangeUs
      return least
    },
  }
}

function* chain<T>(...parts: readonly Iterable<T>[]): Iterable<T> {
  for (const part of parts) yield* part
}

const isBareStill = (verdict: Verdict, process: Process, key: string): boolean =>
  verdict.process.seenUs === 0 && process.seenUs === 0 && verdict.around === key

function toVerdict(process: Process, view: ProcessView, around: string, nowUs: number): Verdict {
  const { judgement, metas, day, nextChangeUs } = view
  const { state, sinceUs } = judgement
  // a literal without spreading takes half the memory, and there is one for each process
  return {
    process,
    state,
    rank: PROCESS_STATES.indexOf(state),
    sinceUs,
    day: day.runs + day.never_finished + day.exceptions === 0 ? NO_DAY : day,
    slowness: slownessOf(view),
    metas: (metas[0]?.meta === null && metas.length === 1 && NO_META.get(state)) || metas.map(stateOf),
    nextChangeUs,
    hour: Math.floor(nowUs / HOUR_US),
    around,
  }
}

const NO_DAY: Day = { runs: 0, failed: 0, never_finished: 0, exceptions: 0 }
const stateOf = ({ meta, judgement: { state } }: MetaView) => ({ meta, state })
/** Of processes without meta. */
const NO_META = new Map(PROCESS_STATES.map((state) => [state, [{ meta: null, state }]]))
