// What processes are like, kept from the log while somebody looks. Invariants:
// * Every acknowledged event is in the state: what the stores had at a position of the log, and the log from there on.
// * Nothing is read for an account that nobody looks at. The memory of all together is bounded: the account that was
//   asked for longest ago goes first.
// * While a store does not answer, the former state stays, and the log goes on.
import { type Both, DESTINATIONS } from '../event/event.ts'
import { formerFingerprint, rememberFingerprints } from '../event/fingerprint.ts'
import { timeUs } from '../event/stamp.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import type { ChangesAnswer } from '../wire/processes.ts'
import { type Account, type Folding, foldEvents, noteEvents, type Seqs } from './account.ts'
import { createAskOthers } from './ask-others.ts'
import type { BaseSources } from './base.ts'
import { adopt, createHeldAccounts, type Held } from './held-accounts.ts'
import type { OtherNodes } from './other-nodes.ts'
import { farBehind, type Reading, readAccount } from './read-account.ts'
import { createStoredCount } from './stored-count.ts'
import { createLogReader, type TailSpool } from './tail.ts'

export interface LiveOptions {
  readonly sources: BaseSources
  readonly spools: Both<TailSpool>
  readonly others: OtherNodes
  /** The stamp clock. */
  nowUs(): number
  /** The earliest stamp of a request that is still being received. */
  receivingUs(): number | undefined
  readonly maxRunUs: number
  readonly maxMarks: number
  readonly maxBytes: number
  /** How long an answer waits for the stores, which are read on. */
  readonly lookMs?: number
  /** Gives a question its turn and its time; rejects with Problem. */
  inTurn<T>(account: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** How long after its arrival the oldest of these events was folded. */
  observe(seconds: number): void
  /** Drops what was derived from the account. */
  onForget(account: string): void
  readonly log: Logger
}

export interface Look {
  readonly account: Account
  /** Every event that arrived earlier is in the account. */
  readonly knownUs: number
}

/** Copies and imports write past the log: what somebody looks at is read again. */
const RENEW_US = 600e6
const CATCH_UP_MS = 10_000
/** Less than a question may take. */
const LOOK_MS = 40_000
/** The stores are not asked again so soon after a failure, or for what only they can judge. */
const RETRY_US = 2e6
/** An answer that is older says so. */
const FRESH_US = 5e6
/** Processes that are read again at once. */
const AGAIN_MAX = 50
/** Events that come while the stores are asked. */
const BUFFER_MAX = 100_000

export type Live = ReturnType<typeof createLive>

export function createLive(options: LiveOptions) {
  const { sources, spools, others, nowUs, maxRunUs, maxMarks, maxBytes, inTurn, log, lookMs = LOOK_MS } = options
  const folding = { maxRunUs, maxBytes, fingerprint: rememberFingerprints() }
  const foldingFormer = { ...folding, former: rememberFingerprints(undefined, formerFingerprint) }
  const foldingOf = ({ hasFormer }: Held): Folding => (hasFormer ? foldingFormer : folding)
  const accounts = createHeldAccounts({
    nowUs,
    maxBytes,
    onFirst: () => reader.open(),
    onLast: () => void reader.close(),
    onForget: options.onForget,
  })
  const { find, forget, held } = accounts
  const elsewhere = createAskOthers({ others, sources, folding, nowUs, inTurn, read: (one) => read(one) })

  const reader = createLogReader({
    spools,
    nowUs,
    log,
    receivingUs: options.receivingUs,
    isLooked: (account) => held.has(account),
    onFolded: (arrivedUs) => options.observe((nowUs() - arrivedUs) / 1e6),
    onEvents(account, events) {
      const one = held.get(account)
      if (one === undefined) return
      if (one.buffer !== undefined && one.buffer.length + events.length > BUFFER_MAX) one.buffer = undefined
      one.buffer?.push(...events)
      one.stored?.note(events)
      if (one.hasBase) foldEvents(one.account, events, foldingOf(one))
      else noteEvents(one.account, events, folding)
      accounts.bound(one)
    },
    onGap() {
      for (const one of held.values()) one.gapUs ??= one.baseUs
    },
  })

  const isDelivered = (seqs: Seqs): boolean => DESTINATIONS.every((spool) => spools[spool].position.seq >= seqs[spool])

  const storedHereUs = () =>
    Math.min(
      ...DESTINATIONS.map((spool) => {
        const { records, oldestUs = 0 } = spools[spool].stats()
        return records === 0 ? reader.edgeUs() : oldestUs
      }),
    )

  others.serve({
    storedUs: storedHereUs,
    looked: accounts.looked,
    newsOf: (names) =>
      Object.fromEntries(
        names.map((name) => {
          const one = accounts.serve(name)
          one.stored ??= createStoredCount(
            { points: spools.points.mark(), exceptions: spools.exceptions.mark() },
            isDelivered,
            ({ event }) => timeUs(event.stamp),
          )
          return [name, one.stored.take()]
        }),
      ),
  })

  async function close(): Promise<void> {
    accounts.close()
    await reader.close()
  }

  /** One reading of an account at a time; of these processes alone if they are named. */
  function read(one: Held, processes?: readonly string[]): Promise<void> {
    one.reading ??= start().finally(() => {
      one.reading = undefined
      one.buffer = undefined
    })
    return one.reading

    async function start(): Promise<void> {
      const { name } = one.account
      const [othersSeen, othersKnownUs] = [others.stateOf(name), others.knownUs()]
      one.buffer = []
      const reading: Reading = {
        account: name,
        processes,
        sources,
        reader,
        spools,
        maxMarks,
        nowUs,
        folding: foldingOf(one),
        inTurn: async (work) => {
          if (held.get(name) !== one) throw farBehind()
          return inTurn(name, work)
        },
        buffer: one.buffer,
      }
      try {
        const finish = await readAccount(reading)
        if (held.get(name) !== one || one.buffer !== reading.buffer) throw farBehind()
        adopt(one, finish(), processes)
        if (processes === undefined) {
          Object.assign(one, { hasBase: true, baseUs: nowUs(), gapUs: undefined, baseVersion: one.account.version })
          Object.assign(one, { othersSeen, othersKnownUs })
        }
        one.fault = undefined
        accounts.bound(one)
      } catch (error) {
        Object.assign(one, { fault: error, faultUs: nowUs() })
        throw error
      }
    }
  }

  async function readBase(one: Held): Promise<void> {
    if (one.reading !== undefined) await one.reading.catch(() => {})
    if (one.hasBase && one.gapUs === undefined) return
    if (one.fault !== undefined && nowUs() - one.faultUs < RETRY_US) throw one.fault
    await read(one)
  }

  /** Starts readings that nobody waits for. */
  function refresh(one: Held): void {
    const { account, reading, baseUs, baseVersion } = one
    if (reading !== undefined || nowUs() - one.askedUs < RETRY_US) return
    const again = [...account.again].filter(([, seqs]) => isDelivered(seqs)).map(([process]) => process)
    const ageUs = nowUs() - baseUs
    const isOld = ageUs > RENEW_US && (account.version !== baseVersion || ageUs > 6 * RENEW_US)
    if (!isOld && again.length === 0 && !elsewhere.isBehind(one)) return
    one.askedUs = nowUs()
    const work = async (): Promise<void> => {
      if (isOld) return read(one)
      await elsewhere.ask(one)
      if (again.length > 0) await read(one, again.slice(0, AGAIN_MAX))
    }
    work().catch((err: unknown) => log.debug({ err, account: account.name }, 'live: the stores do not answer yet'))
  }

  function versionOf({ account, heldSince, touches }: Held, processes?: readonly string[]): string {
    const text = ({ version, seqs }: { version: number; seqs: Seqs }) => `${version}${isDelivered(seqs) ? '' : '+'}`
    const own = processes?.map((process) => {
      const known = account.processes.get(process)
      if (known === undefined) return `0${account.omitted}`
      return text({ version: Math.max(known.version, account.sinceVersion), seqs: known.seqs })
    })
    return `${heldSince.toString(36)} ${touches} ${own?.join(' ') ?? text(account)}`
  }

  /**
   * Rejects with Problem if nothing is known, because a store does not answer. `hasFormer`: something was decided about
   * groups of 2.0.
   */
  async function look(name: string, hasFormer: boolean): Promise<Look> {
    const one = find(name)
    one.hasFormer = hasFormer
    if (!one.hasBase || one.gapUs !== undefined)
      await within(readBase(one), lookMs, stillReading).catch((error: unknown) => {
        if (!one.hasBase) throw error
      })
    await elsewhere.await(one)
    await reader.catchUp(CATCH_UP_MS)
    if (held.get(name) !== one) return look(name, hasFormer) // this one gets no more events
    if (!one.hasBase) throw farBehind()
    refresh(one)
    const knownUs = Math.min(reader.knownUs(), elsewhere.knownUs(one), one.gapUs ?? Number.POSITIVE_INFINITY)
    return { account: one.account, knownUs }
  }

  return {
    look,
    /** What arrived before, at any node, is in the stores. */
    storedUs: () => Math.min(storedHereUs(), others.knownUs()),
    /**
     * What changes with each event that answers about these processes may show, once when it is in the log and again
     * when it is in its store; undefined where other nodes store events, too.
     */
    versionOf(name: string, processes?: readonly string[]): string | undefined {
      const one = find(name)
      if (one.hasBase) refresh(one)
      return others.isAlone ? versionOf(one, processes) : undefined
    },
    /** `versionOf` for answers from memory; undefined while they are old. */
    freshVersionOf(name: string, processes?: readonly string[]): string | undefined {
      const one = find(name)
      if (!others.isAlone || !one.hasBase || one.gapUs !== undefined || nowUs() - reader.knownUs() > FRESH_US)
        return undefined
      refresh(one)
      return versionOf(one, processes)
    },
    knownUs: () => reader.knownUs(),
    isReading: (name: string): boolean => held.get(name)?.reading !== undefined,
    /** For GET /api/changes. */
    changesOf(name: string): ChangesAnswer {
      const version = `${versionOf(find(name))} ${others.stateOf(name)}`
      return { version, late: version, whole: others.isAlone }
    },
    /** Something else of the account changed that its answers show. */
    touch(name: string): void {
      const one = held.get(name)
      if (one === undefined) return
      one.touches++
      for (const process of one.account.processes.values()) process.isChanged = true
    },
    forget,
    close,
    bytes: () => held.values().reduce((sum, { account }) => sum + account.bytes, 0),
  }
}

const stillReading = () =>
  new Problem('store_unavailable', 'This account is so large that it is still being read. Try again.', {
    retryAfterS: 5,
  })

async function within(work: Promise<void>, ms: number, late: () => Problem): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(late()), ms)
  work.then(resolve, reject)
  try {
    await promise
  } finally {
    clearTimeout(timer)
  }
}
