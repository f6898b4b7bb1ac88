// This node among the others: a heartbeat every 2 s, the lease while it can hold it, the others' reports. Invariants:
// * `isOnDuty` is false before the lease can expire in PostgreSQL, even if this process was suspended.
// * The duty has ended completely before the lease is requested again.
import type { Logger } from '../../log.ts'
import type { SqlDatabase } from '../../state/database.ts'
import { whyAway } from '../../state/postgres.ts'
import { createToken } from '../random-id.ts'
import {
  forgetNode,
  giveSignOfLife,
  LEASE_US,
  listNodes,
  type NodeReport,
  type NodeRow,
  type Round,
  releaseLease,
  SILENT_AFTER_US,
} from './node-table.ts'

const EVERY_MS = 2_000
/** The lease counts as lost this long before it expires. */
const MARGIN_US = 3e6
/** A longer gap between two heartbeats means that the process was suspended. */
const STOOD_STILL_US = 10e6
/** Clocks of nodes must agree to this. */
const CLOCK_WITHIN_US = 1e6
/** After a longer gap between two of this node's heartbeats none could be written for a while, by any node perhaps. */
const GAP_US = 5e6
/** A node with an older heartbeat is not assumed to accept events. */
const ACCEPTS_WITHIN_US = 10e6
/** Reports for the node on duty are repeated in this many heartbeats, so that none is missed. */
const REPORTED_TIMES = 3
/** More than this is dropped. */
const REPORTED_MAX = 1000

/** Another node, by its last heartbeat. */
export interface KnownNode {
  readonly node: number
  readonly seenUs: number
  readonly isSilent: boolean
  /** What arrived there before is in its blocks. */
  readonly knownUs: number
}

export interface PresenceOptions {
  readonly database: SqlDatabase
  /** NODE_ID. */
  readonly node: number
  nowUs(): number
  monotonicUs(): number
  /** Does this node accept events now? */
  accepts(): boolean
  /** What arrived here before is in blocks. */
  knownUs(): number
  /** What this node has stored. */
  stored(): NodeReport['stored']
  /** The report about the duty, while this node is on duty. */
  round(): Round | undefined
  /** Starts judging and delivering with this token; resolves to a function that stops both. */
  takeDuty(token: number): Promise<() => Promise<void>>
  /** Called while on duty with the accounts whose watches were changed on other nodes. */
  onChanged(accounts: readonly string[]): void
  readonly log: Logger
}

interface Heard extends NodeRow {
  readonly seenUs: number
}

export function createPresence(options: PresenceOptions) {
  const { database, node, nowUs, monotonicUs, log } = options
  const holder = createToken()
  let nodes: readonly Heard[] = []
  let duty: { token: number; end(): Promise<void> } | undefined
  let ending: Promise<void> | undefined
  let renewed = { wallUs: 0, monotonicUs: 0 }
  let signed: { wallUs: number; monotonicUs: number } | undefined
  let acceptingSinceUs: number | undefined
  let timer: Timer | undefined
  let running: Promise<void> | undefined
  let isStopping = false
  let isAway = false
  /** The last heartbeat of this node that PostgreSQL took, and the first one after a gap. */
  let [heartbeatUs, resumedUs] = [0, 0]
  let isClockWrong = false
  let heardJudgedUs = nowUs()
  const missing = new Set<number>()
  const changed = new Map<string, { times: number }>()
  /** The last heartbeat of each node that was read during this duty: the row of a dead node stays for an hour. */
  const heard = new Map<number, number>()

  const readClocks = () => ({ wallUs: nowUs(), monotonicUs: monotonicUs() })
  /** Neither a clock that is set back nor a suspended machine makes it too small. */
  const since = (then: { wallUs: number; monotonicUs: number }) =>
    Math.max(nowUs() - then.wallUs, monotonicUs() - then.monotonicUs)
  const isOnDuty = () => duty !== undefined && ending === undefined && since(renewed) < LEASE_US - MARGIN_US

  function noteAcceptance(): void {
    const stoodStill = signed !== undefined && since(signed) > STOOD_STILL_US
    if (!options.accepts()) acceptingSinceUs = undefined
    else if (acceptingSinceUs === undefined || stoodStill) acceptingSinceUs = nowUs()
    signed = readClocks()
  }

  function ownReport(): NodeReport {
    const now = nowUs()
    const round = isOnDuty() ? options.round() : undefined
    const stored = options.stored()
    return {
      ...(acceptingSinceUs !== undefined && { acceptingForUs: Math.max(0, now - acceptingSinceUs) }),
      ...{ knownUs: options.knownUs(), edgeUs: options.knownUs() },
      changed: [...changed.keys()],
      links: true,
      late: [],
      ...(stored && { stored }),
      ...(round && { round }),
    }
  }

  const toHeard = (rows: readonly NodeRow[]): Heard[] => {
    const now = nowUs()
    return rows.map((row) => ({ ...row, seenUs: now - row.ageUs }))
  }

  async function step(): Promise<void> {
    noteAcceptance()
    if (!isOnDuty()) endDuty()
    if (nodes.length === 0) nodes = toHeard(await database.read(listNodes))
    const asked = readClocks()
    const { token = -1 } = duty ?? {}
    // nodes of an earlier version judge until the last of them has gone
    const isFormer = others().some((it) => it.report.edgeUs === undefined && !isSilent(it))
    const mayHold = ending === undefined && !isStopping && !isFormer
    const sign = { node, report: ownReport(), holder, token, mayHold }
    const answer = await database.write(() => giveSignOfLife(sign))
    noteHeartbeat()
    for (const [key, one] of changed) if (++one.times >= REPORTED_TIMES) changed.delete(key)
    nodes = toHeard(answer.nodes)
    compareClocks(asked.wallUs)
    logSilence()
    if (answer.token !== undefined && answer.token === duty?.token) renewed = asked
    else if (duty !== undefined) endDuty()
    else if (answer.token !== undefined) await begin(answer.token, asked)
    if (isOnDuty()) hear()
    judgedUs()
  }

  function noteHeartbeat(): void {
    const now = nowUs()
    if (heartbeatUs > 0 && now - heartbeatUs > GAP_US) resumedUs = now
    heartbeatUs = now
  }

  /** Events of several nodes are judged in the order of arrival, by the clocks of the nodes. */
  function compareClocks(askedUs: number): void {
    const theirUs = nodes.find((it) => it.node === node)?.signedUs ?? askedUs
    const aheadUs = Math.max(askedUs - theirUs, 0) || Math.min(nowUs() - theirUs, 0)
    const isWrong = Math.abs(aheadUs) > CLOCK_WITHIN_US
    if (isWrong && !isClockWrong)
      log.warn(
        { node, aheadMs: Math.round(aheadUs / 1000) },
        "this node's clock differs from PostgreSQL's: set it by NTP",
      )
    isClockWrong = isWrong
  }

  function hear(): void {
    const fresh = nodes.filter((it) => heard.get(it.node) !== it.signedUs)
    for (const { node, signedUs } of fresh) heard.set(node, signedUs)
    options.onChanged(fresh.flatMap(({ report }) => report.changed))
  }

  async function begin(token: number, asked: typeof renewed): Promise<void> {
    renewed = asked
    duty = { token, end: async () => {} }
    try {
      duty = { token, end: await options.takeDuty(token) }
      heard.clear()
      log.info({ node }, 'this node judges the watches')
    } catch (err) {
      duty = undefined
      log.warn({ err }, 'the watches could not be checked here; trying again')
      await database.write(() => releaseLease(token)).catch(() => {}) // it expires
    }
  }

  function endDuty(): void {
    if (duty === undefined || ending !== undefined) return
    const { end } = duty
    log.warn({ node }, 'this node no longer judges the watches')
    ending = end()
      .catch((err: unknown) => log.error({ err }, 'judging the watches did not end as it should'))
      .finally(() => {
        duty = undefined
        ending = undefined
      })
  }

  function logSilence(): void {
    const ids = others()
      .filter(isSilent)
      .map((it) => it.node)
    for (const id of ids) {
      if (!missing.has(id))
        log.warn({ silent: id }, 'a node is silent: what it may hold is waited for, 10 minutes at most')
      missing.add(id)
    }
    for (const id of missing) if (!ids.includes(id)) missing.delete(id)
  }

  const others = () => nodes.filter((it) => it.node !== node)
  const toKnown = (it: Heard): KnownNode => {
    const { node, seenUs, report } = it
    return { node, seenUs, isSilent: isSilent(it), knownUs: Math.min(report.knownUs || seenUs, seenUs) }
  }
  /** Only for time in which this node had a heartbeat: while PostgreSQL is away, no node can write one. */
  const isSilent = ({ seenUs }: Heard) => heartbeatUs - Math.max(seenUs, resumedUs) > SILENT_AFTER_US
  const onDuty = () => others().find((it) => !isSilent(it) && it.report.round !== undefined)

  /** Since when each node with a recent heartbeat has accepted events. */
  function acceptance(): number[] {
    const now = nowUs()
    const elsewhere = others().flatMap(({ seenUs, report: { acceptingForUs } }) =>
      acceptingForUs === undefined || now - seenUs > ACCEPTS_WITHIN_US ? [] : [seenUs - acceptingForUs],
    )
    return options.accepts() ? [acceptingSinceUs ?? now, ...elsewhere] : elsewhere
  }

  function judgedUs(): number {
    const round = isOnDuty() ? options.round() : onDuty()?.report.round
    heardJudgedUs = Math.max(heardJudgedUs, round?.judgedUs ?? 0)
    return heardJudgedUs
  }

  async function safeStep(): Promise<void> {
    try {
      await step()
      if (isAway) log.info('watches: PostgreSQL answers again')
      isAway = false
    } catch (err) {
      if (!isAway) log.warn({ err }, `watches: ${whyAway(err)}; nothing is judged until it answers`)
      isAway = true
    }
    if (!isOnDuty()) endDuty()
    if (!isStopping) timer = setTimeout(run, EVERY_MS)
  }
  function run(): void {
    running = safeStep()
  }

  return {
    isOnDuty,
    isAway: (): boolean => isAway,
    /** The other nodes that were heard of within an hour. */
    nodes: (): KnownNode[] => others().map(toKnown),
    /** What each of them said last. */
    reports: () => others().map((it) => ({ ...it, isSilent: isSilent(it) })),
    /** What is judged waits for these, this one included. */
    awaited: (): number[] => [
      node,
      ...others()
        .filter((it) => !isSilent(it))
        .map((it) => it.node),
    ],
    /** Whether any node accepts events, and since when there has always been one. */
    accepts: (): boolean => acceptance().length > 0,
    coveredSinceUs: (): number => Math.min(nowUs(), ...acceptance()),
    /** Everything that arrived before it is judged, as far as this node has heard. */
    judgedUs,
    /** The report of the node on duty; undefined if no node is on duty. */
    round: (): Round | undefined => (isOnDuty() ? options.round() : onDuty()?.report.round),
    noteChanged(account: string): void {
      if (changed.size < REPORTED_MAX) changed.set(account, { times: 0 })
    },
    step,
    async start(): Promise<void> {
      run()
      await running
    },
    /** Ends the duty; the lease is asked for again. */
    dropDuty: endDuty,
    /** Ends the duty and hands the lease over. */
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(timer)
      await running
      const token = duty?.token
      endDuty()
      await ending
      if (token !== undefined) await database.write(() => releaseLease(token)).catch(() => {}) // it expires
    },
    /** Call it when everything that was accepted is in blocks: the others need not wait for this node. */
    async leave(): Promise<void> {
      await database.write(() => forgetNode(node)).catch(() => {}) // it is silent for an hour
    },
  }
}
