// Follows a node's spools with a position of its own and hands over the records of accounts with watches. Invariants:
// * A record is handed over once; what is handed over and stored is not handed over again.
// * What arrived before `knownUs` is handed over: the least of the clock, of what requests are received, of what the
//   spools are writing, and of what was read. See rule 1 of ../README.md.
// * A record is dropped by a list of accounts with watches that was read after the record stood in the log: what is
//   accepted after the answer that made a watch is handed over.
// * Where a spool has removed what only the feeder needed, it continues at the shipper's position, see `skipped`.

import { accountOfHead } from '../../event/account-of-head.ts'
import { type Both, DESTINATIONS, type Destination, END_TEXTS, KINDS } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import type { Follower } from '../../spool/follower.ts'
import type { Position } from '../../spool/segment.ts'
import type { Spool } from '../../spool/spool.ts'
import type { RefusedTime } from '../log/episode.ts'
import { createLogWindow, type Fed } from './log-window.ts'
import type { RefusedTimes } from './refused-times.ts'

const RECORDS = 5000
const BYTES = 4 * 2 ** 20

/** What arrived at a spool since the last one. */
export interface Block {
  readonly spool: Destination
  /** In the order of arrival. */
  readonly records: readonly Fed[]
  /** Where to begin when all of them are taken. */
  readonly next: Position
  /** There is more. */
  readonly isFull: boolean
}

/** Where to begin. Of what stands behind `position`, what arrived before `knownUs` is taken. */
export interface FeedStart {
  readonly position: Position
  readonly knownUs: number
}

export type FollowedSpools = Both<Pick<Spool, 'follow' | 'mark' | 'writingUs'>>

interface FeederOptions {
  readonly spools: FollowedSpools
  /** The stamp clock. */
  nowUs(): number
  /** The earliest stamp of the requests that are received; undefined if none is. */
  receivingUs?(): number | undefined
  isWatched(account: string): boolean
  /** Asks which accounts have watches now; absent: `isWatched` always knows. */
  learnWatched?(): Promise<void>
  readonly refusedTimes?: Pick<RefusedTimes, 'take'> | undefined
  readonly log: Logger
}

export type Feeder = ReturnType<typeof createFeeder>

interface Followed {
  readonly follower: Follower
  readonly window: ReturnType<typeof createLogWindow>
}

export function createFeeder(options: FeederOptions) {
  const { spools, nowUs, receivingUs, isWatched, refusedTimes, log } = options
  let followed: Both<Followed> | undefined
  let hasSkipped = false
  let knownUs = 0

  const keeps = (head: Buffer) => {
    if (UNREAD.has(head[KIND_AT]!)) return false
    const account = accountOfHead(head)
    return account === undefined || isWatched(account)
  }
  const started = (): Both<Followed> => {
    if (followed === undefined) throw new Error('the feeder has not begun')
    return followed
  }

  /** Everything that arrived before it stands in the logs, or was rejected; the next stamp is no earlier. */
  function edgeUs(): number {
    const under = [receivingUs?.(), ...DESTINATIONS.map((spool) => spools[spool].writingUs())]
    return Math.min(nowUs() - 1, ...under.filter((us) => us !== undefined))
  }

  function noteSkipped(spool: Destination, follower: Follower): void {
    if (!follower.skipped()) return
    hasSkipped = true
    log.warn({ spool }, 'watches are far behind: they continue where the store is, and ask it for what was before')
  }

  return {
    /** Begins at stored positions; again if they are others than expected. One that is not in the spool is skipped. */
    begin(starts: Partial<Both<FeedStart>>): void {
      const follow = (spool: Destination): Followed => {
        const start = starts[spool]
        const follower = spools[spool].follow(start?.position, keeps)
        noteSkipped(spool, follower)
        const taken = { untilUs: start?.knownUs ?? 0, endSeq: spools[spool].mark() }
        return { follower, window: createLogWindow(follower.position, taken) }
      }
      knownUs = Math.min(...DESTINATIONS.map((spool) => starts[spool]?.knownUs ?? 0))
      followed = { points: follow('points'), exceptions: follow('exceptions') }
    },
    hasBegun: (): boolean => followed !== undefined,
    positions: (): Both<Position> => {
      const { points, exceptions } = started()
      return { points: points.window.start(), exceptions: exceptions.window.start() }
    },
    async read(): Promise<Block[]> {
      const own = started()
      const edge = edgeUs()
      const isFull = { points: false, exceptions: false }
      const ends = { points: spools.points.mark(), exceptions: spools.exceptions.mark() }
      await options.learnWatched?.()
      for (const spool of DESTINATIONS) {
        const { follower, window } = own[spool]
        const isOpen = window.isOpen()
        if (isOpen) window.add(await follower.read(RECORDS, BYTES, ends[spool]))
        noteSkipped(spool, follower)
        const isAll = follower.position.seq >= ends[spool]
        isFull[spool] = isOpen && !isAll
        window.noteRead(edge, isAll)
      }
      knownUs = Math.max(knownUs, Math.min(...DESTINATIONS.map((spool) => own[spool].window.readUs())))
      return DESTINATIONS.map((spool) => {
        const records = own[spool].window.take(knownUs)
        return { spool, records, next: own[spool].window.start(), isFull: isFull[spool] }
      })
    },
    /** The positions are stored: what lies before may be removed. */
    async keep(positions: Partial<Both<Position>>): Promise<void> {
      for (const spool of DESTINATIONS) {
        const position = positions[spool]
        if (position !== undefined) await started()[spool].follower.keep(position)
      }
    },
    /** Was a stretch left out since the last call? */
    skipped(): boolean {
      const was = hasSkipped
      hasSkipped = false
      return was
    },
    /** Everything that arrived before is handed over. */
    knownUs: () => knownUs,
    /** When events of watched accounts were refused: call it after `read`, to know of all until `knownUs`. */
    refused: (): readonly RefusedTime[] => refusedTimes?.take(isWatched) ?? [],
    /** Resolves when a spool has something new, or the signal aborts. */
    waitForRecords: (signal: AbortSignal): Promise<void> =>
      Promise.race(DESTINATIONS.map((spool) => started()[spool].follower.waitForRecords(signal))),
  }
}

/** The tag of a record, and those of texts that runs have said: no watch reads them. */
const KIND_AT = 2
const UNREAD: ReadonlySet<number> = new Set(END_TEXTS.map((kind) => KINDS[kind].tag.charCodeAt(0)))
