// Rows of days that are over, kept between questions: 90 days are read once, but for the newest two or three.
// Invariants:
// * A kept day is what the stores say now. It is dropped when its account is erased, and when this or another node
//   stores an event whose time lies in it or within MAX_RUN of it. For 10 s after that nothing of the day is kept: a
//   store with replicas may answer from one that does not have the event yet.
// * Copies and imports write past the log: a kept day is dropped after ten minutes if anything of its account was
//   stored since, and after an hour in any case.
// * Nothing is on disk, and all of it is bounded in bytes; the question that was asked longest ago goes first.
import type { Event } from '../event/event.ts'
import { timeUs } from '../event/stamp.ts'

/** [fromNs, toNs) */
export interface Stretch {
  readonly fromNs: bigint
  readonly toNs: bigint
}

/** Events that other nodes have stored, see live/other-nodes.ts. */
interface StoredElsewhere {
  readonly isAlone: boolean
  knownUs(): number
  stateOf(account: string): string
  sinceUs(account: string, state: string, knownUs: number): number | undefined
}

interface ClosedDaysOptions {
  readonly others: StoredElsewhere
  readonly maxRunUs: number
  /** No earlier than any stamp given so far. */
  nowUs(): number
  monotonicUs(): number
  readonly maxBytes?: number
}

/** A day as it was read. */
interface ReadDay<Row> extends Stretch {
  readonly rows: readonly Row[]
  readonly bytes: number
}

interface Day extends ReadDay<unknown> {
  /** When it was asked for. */
  readonly askedUs: number
}

/** The days of one question. */
interface Kept {
  readonly owner: Owner
  readonly words: string
  /** Keyed by `fromNs`. */
  readonly days: Map<bigint, Day>
}

/** An account with kept days, or one that is asked for them. */
interface Owner {
  readonly account: string
  readonly questions: Map<string, Kept>
  /** Questions that are being answered. */
  reading: number
  /** When something of it was stored last. */
  storedUs: number
  /** `stateOf` of the other nodes when it was last compared. */
  elsewhere: string
}

/** Something was stored in these days. */
interface Touch extends Stretch {
  readonly account: string
  readonly atUs: number
}

interface Wanted {
  readonly account: string
  /** Equal words are the same question. */
  readonly words: string
}

/** The kept ones of the days asked for. */
export interface Found<Row> {
  readonly known: ReadonlyMap<bigint, readonly Row[]>
  keep(read: readonly ReadDay<Row>[]): void
}

const MAX_BYTES = 16 * 2 ** 20
const [QUESTION_BYTES, DAY_BYTES] = [1_000, 200]
const RENEW_US = 600e6
const DAY_US = 86_400e6
/** An event that is stored so soon after its time touches no closed day: a day is closed a while after MAX_RUN. */
const [PROMPT_US, CLOSED_AFTER_US] = [30e6, 60e6]
/** A replica has what was stored so long ago. */
const LAG_US = 10e6
/** No question takes so long. */
const TOUCHES_KEPT_US = 90e6
const TOUCHES_MAX = 10_000
/** Heartbeats of other nodes come every two seconds: without them nothing is known of what they store. */
const HEARD_WITHIN_US = 10e6

export type ClosedDays = ReturnType<typeof createClosedDays>

export function createClosedDays(options: ClosedDaysOptions) {
  const { others, maxRunUs, nowUs, monotonicUs, maxBytes = MAX_BYTES } = options
  const owners = new Map<string, Owner>()
  /** In the order in which they were asked last. */
  const asked = new Set<Kept>()
  let bytes = 0
  let touches: Touch[] = []
  /** There were too many touches until then. */
  let blindUs = Number.NEGATIVE_INFINITY

  function dropDay(kept: Kept, day: Day): void {
    kept.days.delete(day.fromNs)
    bytes -= day.bytes
    if (kept.days.size === 0) dropQuestion(kept)
  }

  function dropQuestion(kept: Kept): void {
    for (const day of kept.days.values()) bytes -= day.bytes
    kept.days.clear()
    if (asked.delete(kept)) bytes -= QUESTION_BYTES
    kept.owner.questions.delete(kept.words)
    release(kept.owner)
  }

  function release(owner: Owner): void {
    const isUsed = owner.reading > 0 || owner.questions.size > 0
    if (!isUsed && owners.get(owner.account) === owner) owners.delete(owner.account)
  }

  function touch(account: string, fromUs: number, toUs: number): void {
    const now = monotonicUs()
    const stretch = { fromNs: ns(fromUs - maxRunUs), toNs: ns(toUs + maxRunUs) + 1_000n }
    const old = touches.findIndex(({ atUs }) => now - atUs <= TOUCHES_KEPT_US)
    if (old !== 0) touches = old < 0 ? [] : touches.slice(old)
    if (touches.push({ ...stretch, account, atUs: now }) > TOUCHES_MAX) {
      touches = []
      blindUs = now
    }
    for (const kept of [...(owners.get(account)?.questions.values() ?? [])])
      for (const day of [...kept.days.values()]) if (overlap(day, stretch)) dropDay(kept, day)
  }

  /** Drops days that other nodes have stored into since. */
  function hear(owner: Owner): void {
    if (others.isAlone) return
    const { account, elsewhere } = owner
    const state = others.stateOf(account)
    if (state === elsewhere) return
    // a node that says nothing about the account may have stored anything
    const sinceUs = others.sinceUs(account, elsewhere, Number.NEGATIVE_INFINITY)
    Object.assign(owner, { elsewhere: state, storedUs: monotonicUs() })
    touch(account, Math.min(sinceUs ?? 0, nowUs()), nowUs())
  }

  const isHeard = (): boolean => others.isAlone || nowUs() - others.knownUs() <= HEARD_WITHIN_US

  const isFresh = ({ askedUs }: Day, { storedUs }: Owner): boolean => {
    const ageUs = monotonicUs() - askedUs
    return ageUs <= RENEW_US || (storedUs < askedUs && ageUs <= 6 * RENEW_US)
  }

  function findOwner(account: string): Owner {
    const known = owners.get(account)
    if (known !== undefined) return known
    const elsewhere = others.stateOf(account)
    const owner: Owner = { account, questions: new Map(), reading: 0, storedUs: Number.NEGATIVE_INFINITY, elsewhere }
    owners.set(account, owner)
    return owner
  }

  function useQuestion(owner: Owner, words: string): Kept {
    const kept = owner.questions.get(words) ?? { owner, words, days: new Map() }
    owner.questions.set(words, kept)
    if (!asked.delete(kept)) bytes += QUESTION_BYTES
    asked.add(kept)
    return kept
  }

  function findKnown<Row>(owner: Owner, words: string, days: readonly Stretch[]): Map<bigint, readonly Row[]> {
    const known = new Map<bigint, readonly Row[]>()
    const kept = owner.questions.get(words)
    if (kept === undefined) return known
    for (const { fromNs, toNs } of days) {
      const day = kept.days.get(fromNs)
      if (day === undefined || day.toNs !== toNs) continue
      if (isFresh(day, owner)) known.set(fromNs, day.rows as readonly Row[])
      else dropDay(kept, day)
    }
    if (known.size > 0) useQuestion(owner, words)
    return known
  }

  return {
    /** Is the day over that ends then? None of its runs is still running. */
    isClosed: (toNs: bigint, nowNs: bigint): boolean => toNs + ns(maxRunUs + CLOSED_AFTER_US) <= nowNs,

    /** Hands over which of these closed days are known, while `work` reads the others; undefined: none may be kept. */
    async read<Row, T>(
      { account, words }: Wanted,
      days: readonly Stretch[],
      work: (found: Found<Row> | undefined) => Promise<T>,
    ): Promise<T> {
      if (!isHeard()) return work(undefined)
      const askedUs = monotonicUs()
      const owner = findOwner(account)
      owner.reading++
      hear(owner)
      const keep: Found<Row>['keep'] = (read) => {
        hear(owner)
        if (owners.get(account) !== owner || askedUs - LAG_US <= blindUs || !isHeard()) return
        const fresh = touches.filter((one) => one.account === account && one.atUs >= askedUs - LAG_US)
        for (const day of read) {
          if (fresh.some((stretch) => overlap(day, stretch))) continue
          const own = useQuestion(owner, words).days
          const size = day.bytes + DAY_BYTES
          bytes += size - (own.get(day.fromNs)?.bytes ?? 0)
          own.set(day.fromNs, { ...day, bytes: size, askedUs })
        }
        for (const kept of asked) {
          if (bytes <= maxBytes) break
          dropQuestion(kept)
        }
      }
      try {
        return await work({ known: findKnown<Row>(owner, words, days), keep })
      } finally {
        owner.reading--
        release(owner)
      }
    },

    /** A store has taken these events, or may have. */
    note(events: readonly Event[]): void {
      const [now, promptUs] = [monotonicUs(), nowUs() - PROMPT_US]
      const late = new Map<string, { readonly account: string; fromUs: number; toUs: number }>()
      for (const { account, stamp } of events) {
        const owner = owners.get(account)
        if (owner !== undefined) owner.storedUs = now
        const us = timeUs(stamp)
        if (us >= promptUs) continue
        const key = `${Math.floor(us / DAY_US)} ${account}`
        const { fromUs, toUs } = late.get(key) ?? { fromUs: us, toUs: us }
        late.set(key, { account, fromUs: Math.min(fromUs, us), toUs: Math.max(toUs, us) })
      }
      for (const { account, fromUs, toUs } of late.values()) touch(account, fromUs, toUs)
    },

    /** Nothing of the account is remembered. */
    forget(account: string): void {
      const owner = owners.get(account)
      owners.delete(account)
      for (const kept of [...(owner?.questions.values() ?? [])]) dropQuestion(kept)
    },

    bytes: (): number => bytes,
  }
}

const ns = (us: number): bigint => BigInt(Math.floor(us)) * 1000n
const overlap = (a: Stretch, b: Stretch): boolean => a.fromNs < b.toNs && b.fromNs < a.toNs
