// Reads both spools from where the stores end, for the accounts that somebody looks at. Invariants:
// * It holds no segment; `onGap` reports one that was removed before it was read.
// * It is open only while an account is looked at, and reads in turns.
import { accountOfHead } from '../event/account-of-head.ts'
import { type Both, DESTINATIONS, type Destination } from '../event/event.ts'
import { fromRecord } from '../event/record.ts'
import type { Logger } from '../log.ts'
import type { Position, Spool, Tail } from '../spool/spool.ts'
import { rest, spend, stepsOf } from '../turns.ts'
import { FOLD_EVENTS, FOLD_STEPS, type LoggedEvent, type Seqs } from './account.ts'

export type TailSpool = Pick<Spool, 'tail' | 'position' | 'mark' | 'stats' | 'writingUs'>

/** Limits of one reading, which has a turn of its own. */
const [RECORDS, BYTES] = [1_000, 512 * 1024]
/** The steps of a record, beside those of its text. */
const DECODE_STEPS = 8
const RETRY_MS = 1_000

interface LogReaderOptions {
  readonly spools: Both<TailSpool>
  /** The stamp clock. */
  nowUs(): number
  /** The earliest stamp of a request that is still being received. */
  receivingUs(): number | undefined
  isLooked(account: string): boolean
  onEvents(account: string, events: readonly LoggedEvent[]): void
  /** Events were folded; the oldest of them arrived at `arrivedUs`. */
  onFolded(arrivedUs: number): void
  /** Something was removed before it was read. */
  onGap(): void
  readonly log: Logger
}

interface Open {
  readonly tails: Both<Tail>
  readonly stop: AbortController
  /** Behind what was folded. */
  readonly seqs: { -readonly [D in Destination]: number }
  /** Arrival of the last record that was read. */
  readonly arrivedUs: { -readonly [D in Destination]: number }
  readonly turns: { [D in Destination]: Promise<void> }
}

export type LogReader = ReturnType<typeof createLogReader>

export function createLogReader(options: LogReaderOptions) {
  const { spools, nowUs, receivingUs, isLooked, onEvents, onFolded, onGap, log } = options
  let open: Open | undefined
  const waiting = new Set<() => void>()

  async function deliver(
    spool: Destination,
    records: readonly string[],
    nexts: readonly Position[],
    at: Open,
  ): Promise<void> {
    for (let from = 0; from < records.length; from += FOLD_EVENTS) {
      const to = from + FOLD_EVENTS
      fold(spool, records.slice(from, to), nexts.slice(from, to))
      if (spend(FOLD_STEPS * FOLD_EVENTS)) await rest()
    }
    at.seqs[spool] = at.tails[spool].position.seq
    for (const wake of waiting) wake()
  }

  function fold(spool: Destination, records: readonly string[], nexts: readonly Position[]): void {
    const byAccount = new Map<string, LoggedEvent[]>()
    for (const [i, record] of records.entries()) {
      const seqs: Seqs = { points: 0, exceptions: 0, [spool]: nexts[i]!.seq }
      try {
        const event = fromRecord(record)
        const own = byAccount.get(event.account)
        if (own === undefined) byAccount.set(event.account, [{ event, seqs }])
        else own.push({ event, seqs })
      } catch {} // a record that a newer Stint wrote: the shipper reports it
    }
    for (const [account, events] of byAccount) onEvents(account, events)
  }

  /** Everything that arrived before stands in the logs, or was rejected. */
  function edgeUs(): number {
    const under = [receivingUs(), ...DESTINATIONS.map((spool) => spools[spool].writingUs())]
    return Math.min(nowUs() - 1, ...under.filter((us) => us !== undefined))
  }

  async function readTurn(spool: Destination, at: Open): Promise<void> {
    const tail = at.tails[spool]
    const { records, nexts, arrivedUs } = await tail.read(RECORDS, BYTES)
    if (tail.skipped()) onGap()
    await deliver(spool, records, nexts, at)
    if (arrivedUs.length > 0) onFolded(arrivedUs[0]!)
    at.arrivedUs[spool] = arrivedUs.at(-1) ?? at.arrivedUs[spool]
  }

  async function follow(spool: Destination, at: Open): Promise<void> {
    const { signal } = at.stop
    while (!signal.aborted) {
      await at.tails[spool].waitForRecords(signal)
      if (signal.aborted) return
      try {
        at.turns[spool] = readTurn(spool, at)
        await at.turns[spool]
        await rest()
      } catch (err) {
        // a segment that was removed in between; or the disk fails, which the shipper reports
        log.debug({ err, spool }, 'live: the log cannot be read; trying again')
        await Bun.sleep(RETRY_MS)
      }
    }
  }

  return {
    isOpen: (): boolean => open !== undefined,
    /** From the shipper's position on. */
    open(): void {
      if (open !== undefined) return
      const keeps = (head: Buffer) => isLooked(accountOfHead(head) ?? '')
      const tailOf = (spool: Destination) => spools[spool].tail(undefined, keeps)
      const tails = { points: tailOf('points'), exceptions: tailOf('exceptions') }
      const now = nowUs()
      open = {
        tails,
        stop: new AbortController(),
        arrivedUs: { points: now, exceptions: now },
        seqs: { points: tails.points.position.seq, exceptions: tails.exceptions.position.seq },
        turns: { points: Promise.resolve(), exceptions: Promise.resolve() },
      }
      for (const spool of DESTINATIONS) void follow(spool, open)
    },
    async close(): Promise<void> {
      const at = open
      open = undefined
      if (at === undefined) return
      at.stop.abort()
      for (const spool of DESTINATIONS) {
        await at.turns[spool].catch(() => {})
        await at.tails[spool].close()
      }
    },
    /** Where events of an account that is looked at since now are delivered from. */
    async begin(): Promise<Seqs> {
      if (open === undefined) throw new Error('the log is not being read')
      const { turns, tails } = open
      // a turn that is under way may have passed events of the account
      await Promise.allSettled(Object.values(turns))
      return { points: tails.points.position.seq, exceptions: tails.exceptions.position.seq }
    },
    /** The events of one account from a position to another one, without moving anything. */
    async readBetween(from: Both<Position>, to: Seqs, account: string, maxBytes: number): Promise<LoggedEvent[]> {
      const found: LoggedEvent[] = []
      for (const spool of DESTINATIONS) {
        if (from[spool].seq >= to[spool]) continue
        const tail = spools[spool].tail(from[spool], (head) => accountOfHead(head) === account)
        try {
          for (let bytes = 0; tail.position.seq < to[spool]; ) {
            const { records, nexts } = await tail.read(RECORDS, BYTES)
            bytes += records.reduce((sum, record) => sum + record.length, 0)
            if (tail.skipped() || bytes > maxBytes) throw new Error('the log is too long')
            for (const [i, record] of records.entries()) {
              found.push({ event: fromRecord(record), seqs: { points: 0, exceptions: 0, [spool]: nexts[i]!.seq } })
              if (spend(DECODE_STEPS + stepsOf(record))) await rest()
            }
            await rest()
          }
        } finally {
          await tail.close()
        }
      }
      return found
    },
    /** Resolves to true once every event is folded that was acknowledged before the call, to false after `withinMs`. */
    async catchUp(withinMs: number): Promise<boolean> {
      const marks = { points: spools.points.mark(), exceptions: spools.exceptions.mark() }
      const isHere = () => open !== undefined && DESTINATIONS.every((spool) => open!.seqs[spool] >= marks[spool])
      if (isHere()) return true
      const { promise, resolve } = Promise.withResolvers<void>()
      const wake = () => isHere() && resolve()
      const timer = setTimeout(resolve, withinMs)
      waiting.add(wake)
      await promise
      waiting.delete(wake)
      clearTimeout(timer)
      return isHere()
    },
    edgeUs,
    /** Every event that arrived earlier is folded. */
    knownUs(): number {
      const at = open
      if (at === undefined) return 0
      const ofSpool = (spool: Destination) =>
        at.seqs[spool] >= spools[spool].mark() ? Number.POSITIVE_INFINITY : at.arrivedUs[spool]
      return Math.min(edgeUs(), ...DESTINATIONS.map(ofSpool))
    },
  }
}
