// This node among the others: a heartbeat every 2 s, the lease while it can hold it, the others' reports. Invariants:
// * `isOnDuty` is false before the lease can expire in PostgreSQL, even if this process was suspended.
// * The duty has ended completely before the lease is requested again.
import type { Logger } from '../../log.ts'
import type { SqlDatabase } from '../../state/database.ts'
import type { DelayedEvent } from '../evaluate/delayed-events.ts'
import type { SilentNode } from '../evaluate/gaps.ts'
import { createToken } from '../random-id.ts'
import { createHintNotes } from './hint-notes.ts'
import {
  type DelayedReport,
  forgetNode,
  giveSignOfLife,
  LEASE_US,
  type NodeReport,
  releaseLease,
  SILENT_AFTER_US,
} from './node-table.ts'

const EVERY_MS = 2_000
/** The lease counts as lost this long before it expires. */
const MARGIN_US = 3e6
/** A longer gap between two heartbeats means that the process was suspended. */
const STOOD_STILL_US = 10e6
/** A node with an older heartbeat is not assumed to accept events. */
const ACCEPTS_WITHIN_US = 10e6
/** Allowance for requests that are stamped but not in the spool yet. */
const IN_FLIGHT_US = 1e6
/** A silent node is assumed to hold back events if its oldest had waited this long; younger ones are likely stored. */
const BACKLOG_US = 10e6
/** Reports for the node on duty are repeated in this many heartbeats, so that none is missed. */
const REPORTED_TIMES = 3
/** More than this is dropped: the evaluation regularly reads the last day again. */
const REPORTED_MAX = 1000

export interface Unstored {
  readonly points: number | undefined
  readonly exceptions: number | undefined
}

export interface PresenceOptions {
  readonly database: SqlDatabase
  /** NODE_ID. */
  readonly node: number
  nowUs(): number
  monotonicUs(): number
  /** Does this node accept events now? */
  accepts(): boolean
  /** The report about this node's spools. */
  oldestUnstoredUs(): Unstored
  /** The report about the duty, while this node is on duty. */
  round(): NodeReport['round']
  /** Starts evaluating and delivering with this token; resolves to a function that stops both. */
  takeDuty(token: number): Promise<() => Promise<void>>
  /** Called after each heartbeat while on duty, with the nodes' reports since the last call. */
  onReports(reports: readonly NodeReport[]): void
  readonly log: Logger
}

interface KnownNode {
  readonly node: number
  readonly signedUs: number
  readonly seenUs: number
  readonly report: NodeReport
}

export type Presence = ReturnType<typeof createPresence>

export function createPresence(options: PresenceOptions) {
  const { database, node, nowUs, monotonicUs, log } = options
  const holder = createToken()
  let nodes: readonly KnownNode[] = []
  let duty: { token: number; end(): Promise<void> } | undefined
  let ending: Promise<void> | undefined
  let renewed = { wallUs: 0, monotonicUs: 0 }
  let signed: { wallUs: number; monotonicUs: number } | undefined
  let acceptingSinceUs: number | undefined
  let timer: Timer | undefined
  let running: Promise<void> | undefined
  let roundUs = nowUs()
  let isStopping = false
  let isAway = false
  const missing = new Set<number>()
  const delayed = new Map<string, { range: DelayedReport; times: number }>()
  const changed = new Map<string, { times: number }>()
  const hints = createHintNotes()
  /** The last heartbeat of each node that was read during this duty: the row of a dead node stays for an hour. */
  const heard = new Map<number, number>()
  const accepting = new Map<number, number>()

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
    const { points, exceptions } = options.oldestUnstoredUs()
    const now = nowUs()
    const round = isOnDuty() ? options.round() : undefined
    return {
      ...(acceptingSinceUs !== undefined && { acceptingForUs: Math.max(0, now - acceptingSinceUs) }),
      ...(points !== undefined && { pointsUs: points }),
      ...(exceptions !== undefined && { exceptionsUs: exceptions }),
      late: [...delayed.values()].map(({ range }) => range),
      changed: [...changed.keys()],
      hints: hints.report(),
      ...(round && { round }),
    }
  }

  async function step(): Promise<void> {
    noteAcceptance()
    if (!isOnDuty()) endDuty()
    const asked = readClocks()
    const { token = -1 } = duty ?? {}
    const mayHold = ending === undefined && !isStopping
    const sign = { node, report: ownReport(), holder, token, mayHold }
    const answer = await database.write(() => giveSignOfLife(sign))
    for (const noted of [delayed, changed])
      for (const [key, one] of noted) if (++one.times >= REPORTED_TIMES) noted.delete(key)
    hints.age()
    const now = nowUs()
    nodes = answer.nodes.map(({ ageUs, ...row }) => ({ ...row, seenUs: now - ageUs }))
    logSilence(answer.forgotten)
    if (answer.token !== undefined && answer.token === duty?.token) renewed = asked
    else if (duty !== undefined) endDuty()
    else if (answer.token !== undefined) await begin(answer.token, asked)
    roundUs = isOnDuty() ? now : (onDuty()?.seenUs ?? roundUs)
    if (isOnDuty()) hear()
  }

  function hear(): void {
    const fresh = nodes.filter((it) => heard.get(it.node) !== it.signedUs)
    for (const { node, signedUs } of fresh) heard.set(node, signedUs)
    options.onReports(fresh.map(({ node, report }) => (isNew(node, report) ? { ...report, hints: 'all' } : report)))
  }

  /** It was started or suspended since its last report: what it accepted shortly before was never reported. */
  function isNew(node: number, { acceptingForUs = 0 }: NodeReport): boolean {
    const before = accepting.get(node) ?? 0
    accepting.set(node, acceptingForUs)
    return acceptingForUs < before
  }

  async function begin(token: number, asked: typeof renewed): Promise<void> {
    renewed = asked
    duty = { token, end: async () => {} }
    try {
      duty = { token, end: await options.takeDuty(token) }
      heard.clear()
      accepting.clear()
      log.info({ node }, 'this node evaluates the watches')
    } catch (err) {
      duty = undefined
      log.warn({ err }, 'the evaluation of the watches could not begin; trying again')
      await database.write(() => releaseLease(token)).catch(() => {}) // it expires
    }
  }

  function endDuty(): void {
    if (duty === undefined || ending !== undefined) return
    const { end } = duty
    log.warn({ node }, 'this node does not evaluate the watches any more')
    ending = end()
      .catch((err: unknown) => log.error({ err }, 'the evaluation of the watches did not end as it should'))
      .finally(() => {
        duty = undefined
        ending = undefined
      })
  }

  function logSilence(forgotten: readonly number[]): void {
    for (const id of forgotten)
      log.warn({ silent: id }, 'a node that was silent for an hour is forgotten; `late` is judged without it')
    const ids = silent().map((it) => it.node)
    for (const id of ids) {
      if (!missing.has(id))
        log.warn({ silent: id }, 'a node is silent: `late` is unknown until it returns, is drained, or for an hour')
      missing.add(id)
    }
    for (const id of missing) if (!ids.includes(id)) missing.delete(id)
  }

  const others = () => nodes.filter((it) => it.node !== node)
  const isSilent = ({ seenUs }: KnownNode) => nowUs() - seenUs > SILENT_AFTER_US
  const silent = () => others().filter(isSilent)
  const onDuty = () => others().find((it) => !isSilent(it) && it.report.round !== undefined)

  function unstoredOf(name: 'points' | 'exceptions'): number | undefined {
    const key = `${name}Us` as const
    const known = others().map((it) => {
      const oldestUs = it.report[key]
      if (!isSilent(it)) return Math.min(oldestUs ?? Number.POSITIVE_INFINITY, it.seenUs - IN_FLIGHT_US)
      return oldestUs !== undefined && it.seenUs - oldestUs > BACKLOG_US ? oldestUs : Number.POSITIVE_INFINITY
    })
    const oldest = Math.min(options.oldestUnstoredUs()[name] ?? Number.POSITIVE_INFINITY, ...known)
    return Number.isFinite(oldest) ? oldest : undefined
  }

  /** Since when each node with a recent heartbeat has accepted events. */
  function acceptance(): number[] {
    const now = nowUs()
    const elsewhere = others().flatMap(({ seenUs, report: { acceptingForUs } }) =>
      acceptingForUs === undefined || now - seenUs > ACCEPTS_WITHIN_US ? [] : [seenUs - acceptingForUs],
    )
    return options.accepts() ? [acceptingSinceUs ?? now, ...elsewhere] : elsewhere
  }

  async function safeStep(): Promise<void> {
    try {
      await step()
      if (isAway) log.info('watches: PostgreSQL answers again')
      isAway = false
    } catch (err) {
      if (!isAway) log.warn({ err }, 'watches: PostgreSQL does not answer; nothing is judged until it does')
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
    /** Nodes that are silent and not forgotten yet, with the times of their last heartbeats. */
    silent: (): SilentNode[] => silent(),
    /** Over all nodes: events before it are stored. */
    oldestUnstoredUs: (): Unstored => ({ points: unstoredOf('points'), exceptions: unstoredOf('exceptions') }),
    /** Whether any node accepts events, and since when there has always been one. */
    accepts: (): boolean => acceptance().length > 0,
    coveredSinceUs: (): number => Math.min(nowUs(), ...acceptance()),
    /** The report of the node on duty; undefined if no node is on duty. */
    round: (): NodeReport['round'] => (isOnDuty() ? options.round() : onDuty()?.report.round),
    /** When a node was last known to be on duty. */
    roundUs: (): number => roundUs,
    noteDelayed({ atUs, ...subject }: DelayedEvent): void {
      const key = JSON.stringify(subject)
      const known = delayed.get(key)?.range
      if (known === undefined && delayed.size >= REPORTED_MAX) return
      const [fromUs, toUs] = [Math.min(atUs, known?.fromUs ?? atUs), Math.max(atUs, known?.toUs ?? atUs)]
      delayed.set(key, { range: { ...subject, fromUs, toUs }, times: 0 })
    },
    noteHint: hints.note,
    noteChanged(account: string): void {
      if (changed.size < REPORTED_MAX) changed.set(account, { times: 0 })
    },
    step,
    async start(): Promise<void> {
      run()
      await running
    },
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
    /** Call it when nothing is shipped any more: with empty spools the others need not wait for this node. */
    async leave(): Promise<void> {
      const { points, exceptions } = options.oldestUnstoredUs()
      if (points !== undefined || exceptions !== undefined) return
      await database.write(() => forgetNode(node)).catch(() => {}) // otherwise the others wait for it
    },
  }
}
