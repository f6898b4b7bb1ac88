// What the other nodes have stored: their heartbeats say so, and the stores are asked from the earliest event on that
// this node does not have.
import { MAX_AHEAD_US } from '../event/own-time.ts'
import type { BaseSources } from './base.ts'
import type { StoredNews } from './build.ts'
import { MOMENTS_KEPT } from './raised.ts'

export interface OtherNodes {
  /** No other node stores events. */
  readonly isAlone: boolean
  /** What this node says to the others. */
  serve(here: StoredHere): void
  /** Everything that arrived earlier at any other node is in the stores; infinite without other nodes. */
  knownUs(): number
  /** Differs once another node has stored something of the account. */
  stateOf(account: string): string
  /** The earliest event that was stored since that state, when `knownUs` was known; undefined: ask for all. */
  sinceUs(account: string, state: string, knownUs: number): number | undefined
}

export interface StoredHere {
  /** Everything that arrived earlier at this node is in the stores. */
  storedUs(): number
  /** The accounts that are looked at, newest last: what is stored of them elsewhere is of interest. */
  looked(): readonly string[]
  /** How often something of these accounts was stored, and from when on. */
  newsOf(
    accounts: readonly string[],
  ): Readonly<Record<string, readonly (readonly [count: number, earliestUs: number])[]>>
}

/** A single node. */
export const NO_OTHERS: OtherNodes = {
  isAlone: true,
  serve: () => {},
  knownUs: () => Number.POSITIVE_INFINITY,
  stateOf: () => '',
  sinceUs: () => undefined,
}

interface OthersQuestion {
  readonly account: string
  readonly sinceUs: number
  readonly nowUs: number
  readonly signal: AbortSignal
}

const MARKS_MAX = 20_000
const PROCESSES_MAX = 1_000

/** Everything of the account since `sinceUs`; undefined if that is so much that the account is to be read again. */
export async function readSince(
  { points, exceptions }: BaseSources,
  { account, sinceUs, nowUs, signal }: OthersQuestion,
): Promise<StoredNews | undefined> {
  const toNs = BigInt(Math.floor(nowUs + MAX_AHEAD_US)) * 1000n
  const range = { account, signal, fromNs: BigInt(Math.floor(sinceUs)) * 1000n, toNs }
  const [marks, raised, ...processes] = await Promise.all([
    points.findMarks({ ...range, maxRows: MARKS_MAX + 1 }),
    exceptions.findRaised({ ...range, countFromNs: range.fromNs, each: MOMENTS_KEPT, maxRows: PROCESSES_MAX + 1 }),
    points.findPointProcesses({ ...range, maxRows: PROCESSES_MAX + 1 }),
    exceptions.findExceptionProcesses({ ...range, maxRows: PROCESSES_MAX + 1 }),
  ])
  const isTooMuch = marks.length > MARKS_MAX || [raised, ...processes].some((rows) => rows.length > PROCESSES_MAX)
  return isTooMuch ? undefined : { marks, raised, processes: processes.flat() }
}
