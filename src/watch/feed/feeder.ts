// Follows a node's spools with a position of its own and hands over the records of accounts with watches. Invariants:
// * A record is handed over once; what is handed over and stored is never read again.
// * Where a spool has removed what only the feeder needed, it continues at the shipper's position, see `skipped`.
import { type Both, DESTINATIONS, type Destination, KINDS } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import type { Follower } from '../../spool/follower.ts'
import type { Position } from '../../spool/segment.ts'
import type { Spool } from '../../spool/spool.ts'

const RECORDS = 5000
const BYTES = 4 * 2 ** 20
/** From the stamp of a request to its record in the spool. */
const IN_FLIGHT_US = 1e6

/** A record with its arrival and the position behind it. */
export interface Fed {
  readonly arrivedUs: number
  readonly record: string
  readonly next: Position
}

/** What a spool had behind a position. */
export interface Block {
  readonly spool: Destination
  readonly records: readonly Fed[]
  /** Behind the last record that was read, watched or not. */
  readonly next: Position
  /** There is more. */
  readonly isFull: boolean
}

interface FeederOptions {
  readonly spools: Both<Pick<Spool, 'follow' | 'mark'>>
  /** The stamp clock. */
  nowUs(): number
  isWatched(account: string): boolean
  readonly log: Logger
}

export type Feeder = ReturnType<typeof createFeeder>

export function createFeeder({ spools, nowUs, isWatched, log }: FeederOptions) {
  let followers: Both<Follower> | undefined
  let hasSkipped = false
  let knownUs = 0

  const keeps = (head: Buffer) => {
    if (head[KIND_AT] === OUTPUT) return false
    const account = accountOfHead(head)
    return account === undefined || isWatched(account)
  }
  const started = (): Both<Follower> => {
    if (followers === undefined) throw new Error('the feeder has not begun')
    return followers
  }

  function noteSkipped(spool: Destination, follower: Follower): void {
    if (!follower.skipped()) return
    hasSkipped = true
    log.warn({ spool }, 'watches are far behind: they continue where the store is, and ask it for what was before')
  }

  return {
    /** Begins at stored positions. A position that is not in the spool is passed over, see `skipped`. */
    begin(positions: Partial<Both<Position>>): void {
      const follow = (spool: Destination) => {
        const follower = spools[spool].follow(positions[spool], keeps)
        noteSkipped(spool, follower)
        return follower
      }
      followers = { points: follow('points'), exceptions: follow('exceptions') }
    },
    hasBegun: (): boolean => followers !== undefined,
    positions: (): Both<Position> => {
      const { points, exceptions } = started()
      return { points: points.position, exceptions: exceptions.position }
    },
    /** Marks first: an exception that was accepted before its run's end is read with it or earlier. */
    async read(): Promise<Block[]> {
      const askedUs = nowUs()
      const blocks: Block[] = []
      for (const spool of DESTINATIONS) {
        const follower = started()[spool]
        const end = spools[spool].mark()
        const { records, arrivedUs, nexts, next } = await follower.read(RECORDS, BYTES)
        noteSkipped(spool, follower)
        const fed = records.map((record, i) => ({ record, arrivedUs: arrivedUs[i]!, next: nexts[i]! }))
        blocks.push({ spool, records: fed, next, isFull: next.seq < end })
      }
      if (blocks.every(({ isFull }) => !isFull)) knownUs = Math.max(knownUs, askedUs - IN_FLIGHT_US)
      return blocks
    },
    /** The positions are stored: what lies before may be removed. */
    async keep(positions: Partial<Both<Position>>): Promise<void> {
      for (const spool of DESTINATIONS) {
        const position = positions[spool]
        if (position !== undefined) await started()[spool].keep(position)
      }
    },
    /** Was a stretch left out since the last call? */
    skipped(): boolean {
      const was = hasSkipped
      hasSkipped = false
      return was
    },
    /** Everything that arrived before is read. */
    knownUs: () => knownUs,
    /** Resolves when a spool has something new, or the signal aborts. */
    waitForRecords: (signal: AbortSignal): Promise<void> =>
      Promise.race(DESTINATIONS.map((spool) => started()[spool].waitForRecords(signal))),
  }
}

const QUOTE = 34
/** The tag of a record, and that of outputs: no watch reads them. */
const KIND_AT = 2
const OUTPUT = KINDS.output.tag.charCodeAt(0)

/** The account by the first bytes of a record, `["s",1764107210000000,2,"acc_…`: the first quote behind the kind. */
export function accountOfHead(head: Buffer): string | undefined {
  const from = head.indexOf(QUOTE, 5)
  const to = head.indexOf(QUOTE, from + 1)
  return from < 0 || to < 0 ? undefined : head.toString('latin1', from + 1, to)
}
