// What the stores know of before: asked once when a watch is made (durations, failures, processes), after the feed
// jumped and after an upgrade (everything in between). Bounded and retried: what was asked for is remembered in the
// state, so a kill asks again. Events fold meanwhile; one that is found twice changes nothing.
import type { Logger } from '../../log.ts'
import { createMatch, isPattern } from '../../process/process-pattern.ts'
import type { Mark, StateRow } from '../log/judge-interface.ts'
import type { StoredWatch } from '../watch.ts'

/** A mark as a store returns it, in µs. */
export interface KnownMark {
  readonly process: string
  /** '' = without meta. */
  readonly meta: string
  /** '' = without uid. */
  readonly uid: string
  readonly mark: 'start' | 'end' | 'failed'
  readonly atUs: number
}

/** The one question to the stores. Rejects when the store does not answer. */
export interface MarkSource {
  /** Newest first, at most `maxRows`, and `perSeries` per process and meta. `processes`: only these. */
  findMarks(q: {
    readonly account: string
    readonly fromUs: number
    readonly toUs: number
    readonly processes?: readonly string[] | undefined
    readonly perSeries?: number | undefined
    readonly maxRows: number
  }): Promise<KnownMark[]>
}

interface Seeded {
  readonly account: string
  readonly marks: readonly Mark[]
  /** Absent: what a new watch needs. Otherwise what settled since then is judged. */
  readonly alertsFromUs?: number
  /** Remember that it is done. */
  readonly rows: readonly StateRow[]
}

const BACK_US = 30 * 86_400e6
const PER_SERIES = 50
const MAX_ROWS = 50_000
const AT_ONCE = 4
const RETRY_US = 10e6
/** Watches of an account that are made one after the other share a question. */
const GATHER_US = 2e6

interface Wanted {
  watches: readonly StoredWatch[]
  alertsFromUs: number | undefined
  readonly sinceUs: number
  /** Monotonic. */
  askUs: number
}

export interface Pending {
  readonly sinceUs: number
  readonly watches: ReadonlySet<string>
}

export type Seed = ReturnType<typeof createSeed>

export interface SeedOptions {
  readonly source: MarkSource
  nowUs(): number
  monotonicUs(): number
  readonly log: Logger
}

const keyOf = ({ spec: { process, meta } }: StoredWatch) => JSON.stringify([process, meta])

/** Usual durations, failures in a row, or which processes there are: nothing else is taken from before the watch. */
const readsPast = ({ spec: { process, late, long, failed, slow } }: StoredWatch): boolean =>
  long !== null || slow !== null || (failed?.after ?? 1) > 1 || (late !== null && isPattern(process))

export function createSeed({ source, nowUs, monotonicUs, log }: SeedOptions) {
  /** What each watch was seeded for. */
  const done = new Map<string, string>()
  const wanted = new Map<string, Wanted>()
  /** Accounts whose question is under way: the next one about them waits for it. */
  const asking = new Set<string>()
  let found: Seeded[] = []

  const isDone = (watch: StoredWatch) => done.get(watch.id) === keyOf(watch)

  async function ask(account: string, one: Wanted): Promise<void> {
    const { watches, alertsFromUs } = one
    const now = nowUs()
    const processes = watches.map(({ spec }) => spec.process)
    const exact = processes.some(isPattern) ? undefined : [...new Set(processes)]
    const range = { account, fromUs: now - BACK_US, toUs: now + 60e6 }
    const marks = await source.findMarks({ ...range, processes: exact, perSeries: PER_SERIES, maxRows: MAX_ROWS })
    const matches = processes.map(createMatch)
    found.push({
      account,
      marks: marks
        .filter(({ process }) => matches.some((isOwn) => isOwn(process)))
        .map(({ mark, ...rest }) => ({ ...rest, kind: mark, arrivedUs: rest.atUs })),
      ...(alertsFromUs !== undefined && { alertsFromUs }),
      rows: watches.map((watch) => ({ account, name: JSON.stringify([watch.id]), state: keyOf(watch) })),
    })
    for (const watch of watches) done.set(watch.id, keyOf(watch))
  }

  function askNext(): void {
    const due = [...wanted].filter(([account, { askUs }]) => !asking.has(account) && askUs <= monotonicUs())
    for (const [account, one] of due.slice(0, Math.max(0, AT_ONCE - asking.size))) {
      asking.add(account)
      ask(account, one)
        .then(
          () => {
            if (wanted.get(account) === one) wanted.delete(account)
          },
          (err: unknown) => {
            log.debug({ err, account }, 'watches: the store did not say what was before; trying again')
            one.askUs = monotonicUs() + RETRY_US
          },
        )
        .finally(() => asking.delete(account))
    }
  }

  return {
    /** True if the row is one of this file. */
    load({ name, state }: StateRow): boolean {
      const parts: unknown[] = JSON.parse(name)
      if (parts.length !== 1) return false
      done.set(String(parts[0]), state ?? '')
      return true
    },
    /**
     * The watches of an account: those that are new, or look at another process, are seeded if they need what was
     * before. `alertsFromUs`: all are.
     */
    want(account: string, watches: readonly StoredWatch[], alertsFromUs?: number): void {
      const fresh = watches.filter((watch) => alertsFromUs !== undefined || (readsPast(watch) && !isDone(watch)))
      if (fresh.length === 0) return
      const before = wanted.get(account)
      const askUs = before?.askUs ?? monotonicUs() + GATHER_US
      const fromUs = alertsFromUs ?? before?.alertsFromUs
      wanted.set(account, { watches: fresh, alertsFromUs: fromUs, sinceUs: before?.sinceUs ?? nowUs(), askUs })
    },
    forget: (account: string): boolean => wanted.delete(account),
    /** What the stores have answered since the last call. */
    take(): readonly Seeded[] {
      if (wanted.size > 0) askNext()
      const taken = found
      found = []
      return taken
    },
    /** Nothing is asked, and every answer was taken. */
    isOver: (): boolean => wanted.size === 0 && found.length === 0,
    /** Since when runs of before are waited for, and by which watches; undefined once they are known. */
    pending(account: string): Pending | undefined {
      const one = wanted.get(account)
      return one && { sinceUs: one.sinceUs, watches: new Set(one.watches.map(({ id }) => id)) }
    },
  }
}
