// This node among the others: a heartbeat every 2 s with its report, which requests the lease (duty-lease.ts), and the
// others' reports.
import { whyAway } from '../../state/postgres.ts'
import { createToken } from '../random-id.ts'
import { createDutyLease, elapsedUs, type LeaseOptions, type Moment, readClocks } from './duty-lease.ts'
import {
  forgetNode,
  giveSignOfLife,
  listNodes,
  type NodeReport,
  type NodeRow,
  type Round,
  SILENT_AFTER_US,
} from './node-table.ts'

const EVERY_MS = 2_000
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

export interface PresenceOptions extends LeaseOptions {
  /** Does this node accept events now? */
  accepts(): boolean
  /** What arrived here before is in blocks. */
  knownUs(): number
  /** What this node has stored. */
  stored(): NodeReport['stored']
  /** The report about the duty, while this node is on duty. */
  round(): Round | undefined
  /** Called while on duty with the accounts whose watches were changed on other nodes. */
  onChanged(accounts: readonly string[]): void
}

interface Heard extends NodeRow {
  readonly seenUs: number
}

/** What is given, and what is remembered between the heartbeats. */
interface State extends PresenceOptions {
  readonly lease: ReturnType<typeof createDutyLease>
  /** Identifies this process. */
  readonly holder: string
  /** All nodes by their last heartbeats, this one included. */
  nodes: readonly Heard[]
  /** The last heartbeat of this node that PostgreSQL took, and the first one after a gap. */
  heartbeatUs: number
  resumedUs: number
  /** Since when this node accepts events, and when it was last asked. */
  acceptingSinceUs: number | undefined
  signed: Moment | undefined
  /** What is judged, as far as this node has heard; never goes back. */
  judgedUs: number
  /** Accounts to report to the node on duty, and how often they were. */
  readonly changed: Map<string, number>
  /** The last heartbeat of each node that was read on duty: the row of a dead node stays for an hour. */
  readonly heard: Map<number, number>
  /** Silent nodes that a warning was logged about. */
  missing: ReadonlySet<number>
  isClockWrong: boolean
  isAway: boolean
  isStopping: boolean
  timer: Timer | undefined
  running: Promise<void> | undefined
}

export function createPresence(options: PresenceOptions) {
  const { database, node, nowUs } = options
  const state: State = {
    ...options,
    lease: createDutyLease(options),
    holder: createToken(),
    nodes: [],
    heartbeatUs: 0,
    resumedUs: 0,
    acceptingSinceUs: undefined,
    signed: undefined,
    judgedUs: nowUs(),
    changed: new Map(),
    heard: new Map(),
    missing: new Set(),
    isClockWrong: false,
    isAway: false,
    isStopping: false,
    timer: undefined,
    running: undefined,
  }
  const { lease, changed } = state
  return {
    isOnDuty: lease.isHeld,
    isAway: (): boolean => state.isAway,
    /** The other nodes that were heard of within an hour. */
    nodes: (): KnownNode[] => others(state).map((it) => toKnown(state, it)),
    /** What each of them said last. */
    reports: () => others(state).map((it) => ({ ...it, isSilent: isSilent(state, it) })),
    /** What is judged waits for these, this one included. */
    awaited: (): number[] => [node, ...living(state).map((it) => it.node)],
    /** Whether any node accepts events, and since when there has always been one. */
    accepts: (): boolean => acceptance(state).length > 0,
    coveredSinceUs: (): number => Math.min(nowUs(), ...acceptance(state)),
    /** Everything that arrived before it is judged, as far as this node has heard. */
    judgedUs: (): number => hearJudged(state),
    /** The report of the node on duty; undefined if no node is on duty. */
    round: (): Round | undefined => roundOf(state),
    noteChanged(account: string): void {
      if (changed.size < REPORTED_MAX) changed.set(account, 0)
    },
    step: () => step(state),
    async start(): Promise<void> {
      run(state)
      await state.running
    },
    /** Ends the duty; the lease is asked for again. */
    dropDuty: lease.end,
    /** Ends the duty and hands the lease over. */
    async stop(): Promise<void> {
      state.isStopping = true
      clearTimeout(state.timer)
      await state.running
      await lease.leave()
    },
    /** Call it when everything that was accepted is in blocks: the others need not wait for this node. */
    async leave(): Promise<void> {
      await database.write(() => forgetNode(node)).catch(() => {}) // it is silent for an hour
    },
  }
}

function run(state: State): void {
  state.running = safeStep(state)
}

async function safeStep(state: State): Promise<void> {
  const { lease, log } = state
  try {
    await step(state)
    if (state.isAway) log.info('watches: PostgreSQL answers again')
    state.isAway = false
  } catch (err) {
    if (!state.isAway) log.warn({ err }, `watches: ${whyAway(err)}; nothing is judged until it answers`)
    state.isAway = true
  }
  if (!lease.isHeld()) lease.end()
  if (!state.isStopping) state.timer = setTimeout(() => run(state), EVERY_MS)
}

async function step(state: State): Promise<void> {
  const { database, node, holder, lease, changed } = state
  noteAcceptance(state)
  if (!lease.isHeld()) lease.end()
  if (state.nodes.length === 0) state.nodes = toHeard(state, await database.read(listNodes))
  const asked = readClocks(state)
  const { token, mayHold } = lease.request()
  // nodes of an earlier version judge until the last of them has gone
  const isFormer = living(state).some((it) => it.report.edgeUs === undefined)
  const isFree = mayHold && !isFormer
  const sign = { node, report: ownReport(state), holder, token, mayHold: isFree }
  const answer = await database.write(() => giveSignOfLife(sign))
  noteHeartbeat(state)
  for (const [account, times] of changed)
    if (times + 1 >= REPORTED_TIMES) changed.delete(account)
    else changed.set(account, times + 1)
  state.nodes = toHeard(state, answer.nodes)
  compareClocks(state, asked.wallUs)
  logSilence(state)
  await lease.settle(answer.token, asked)
  if (lease.isHeld()) hear(state)
  hearJudged(state)
}

function noteAcceptance(state: State): void {
  const stoodStill = state.signed !== undefined && elapsedUs(state, state.signed) > STOOD_STILL_US
  if (!state.accepts()) state.acceptingSinceUs = undefined
  else if (state.acceptingSinceUs === undefined || stoodStill) state.acceptingSinceUs = state.nowUs()
  state.signed = readClocks(state)
}

function ownReport(state: State): NodeReport {
  const { lease, acceptingSinceUs, changed } = state
  const now = state.nowUs()
  const round = lease.isHeld() ? state.round() : undefined
  const stored = state.stored()
  return {
    ...(acceptingSinceUs !== undefined && { acceptingForUs: Math.max(0, now - acceptingSinceUs) }),
    knownUs: state.knownUs(),
    edgeUs: state.knownUs(),
    changed: [...changed.keys()],
    links: true,
    late: [],
    ...(stored && { stored }),
    ...(round && { round }),
  }
}

function toHeard({ nowUs }: State, rows: readonly NodeRow[]): Heard[] {
  const now = nowUs()
  return rows.map((row) => ({ ...row, seenUs: now - row.ageUs }))
}

function noteHeartbeat(state: State): void {
  const now = state.nowUs()
  if (state.heartbeatUs > 0 && now - state.heartbeatUs > GAP_US) state.resumedUs = now
  state.heartbeatUs = now
}

/** Events of several nodes are judged in the order of arrival, by the clocks of the nodes. */
function compareClocks(state: State, askedUs: number): void {
  const { node, nodes, nowUs, log } = state
  const theirUs = nodes.find((it) => it.node === node)?.signedUs ?? askedUs
  const aheadUs = Math.max(askedUs - theirUs, 0) || Math.min(nowUs() - theirUs, 0)
  const isWrong = Math.abs(aheadUs) > CLOCK_WITHIN_US
  if (isWrong && !state.isClockWrong)
    log.warn(
      { node, aheadMs: Math.round(aheadUs / 1000) },
      "this node's clock differs from PostgreSQL's: set it by NTP",
    )
  state.isClockWrong = isWrong
}

function logSilence(state: State): void {
  const { missing, log } = state
  const silent = new Set(
    others(state)
      .filter((it) => isSilent(state, it))
      .map((it) => it.node),
  )
  for (const id of silent.difference(missing))
    log.warn({ silent: id }, 'a node is silent: what it may hold is waited for, 10 minutes at most')
  state.missing = silent
}

function hear({ nodes, heard, onChanged }: State): void {
  const fresh = nodes.filter((it) => heard.get(it.node) !== it.signedUs)
  for (const { node, signedUs } of fresh) heard.set(node, signedUs)
  onChanged(fresh.flatMap(({ report }) => report.changed))
}

function hearJudged(state: State): number {
  state.judgedUs = Math.max(state.judgedUs, roundOf(state)?.judgedUs ?? 0)
  return state.judgedUs
}

const others = ({ node, nodes }: State) => nodes.filter((it) => it.node !== node)

/** Only for time in which this node had a heartbeat: while PostgreSQL is away, no node can write one. */
const isSilent = ({ heartbeatUs, resumedUs }: State, { seenUs }: Heard) =>
  heartbeatUs - Math.max(seenUs, resumedUs) > SILENT_AFTER_US

/** The others that are not silent. */
const living = (state: State) => others(state).filter((it) => !isSilent(state, it))

const toKnown = (state: State, it: Heard): KnownNode => {
  const { node, seenUs, report } = it
  return { node, seenUs, isSilent: isSilent(state, it), knownUs: Math.min(report.knownUs || seenUs, seenUs) }
}

/** What the node on duty reports. */
const roundOf = (state: State): Round | undefined =>
  state.lease.isHeld() ? state.round() : living(state).find(({ report }) => report.round)?.report.round

/** Since when each node with a recent heartbeat has accepted events. */
function acceptance(state: State): number[] {
  const now = state.nowUs()
  const elsewhere = others(state).flatMap(({ seenUs, report: { acceptingForUs } }) =>
    acceptingForUs === undefined || now - seenUs > ACCEPTS_WITHIN_US ? [] : [seenUs - acceptingForUs],
  )
  return state.accepts() ? [state.acceptingSinceUs ?? now, ...elsewhere] : elsewhere
}
