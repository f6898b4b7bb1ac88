// What is remembered of one account that somebody looks at: its processes, folded from the log. Invariants:
// * What is known does not depend on the order in which events came, nor on how often.
// * A version of a process changes with each of its events, and that of the account with each event at all.
import { type Event, markName } from '../event/event.ts'
import { timeUs } from '../event/stamp.ts'
import { ByMeta } from './by-meta.ts'
import type { LiveMark } from './marks.ts'
import { createRaised, type RaisedOfRow, raise, raisedBytes } from './raised.ts'
import { bytesOf, createRow, foldMarks, type Row } from './row.ts'

/** Positions in both spools. */
export interface Seqs {
  readonly points: number
  readonly exceptions: number
}

export interface Process {
  readonly name: string
  /** '' = without. */
  readonly rows: ByMeta<Row>
  /** Undefined before the first exception. */
  raised: ByMeta<RaisedOfRow> | undefined
  /** Metas of all kinds of events, unsorted. */
  metas: readonly string[]
  /** The time of the newest event of any kind. */
  seenUs: number
  version: number
  /** Behind its newest event in the log. */
  seqs: Seqs
  isChanged: boolean
}

export interface Account {
  readonly name: string
  processes: Map<string, Process>
  version: number
  /** No process has an older version: all were read again. */
  sinceVersion: number
  /** How many events were raised or decided about. */
  seqs: Seqs
  /** Processes with events that only the store can judge, and behind which position it has them. */
  readonly again: Map<string, Seqs>
  /** Earlier counts are not known. */
  countsSinceUs: number | undefined
  /** Processes that have no room; they sent nothing for longer than the others. */
  omitted: number
  bytes: number
}

const NO_SEQS: Seqs = { points: 0, exceptions: 0 }
/** Events that are folded at once, and the steps (turns.ts) of each. */
export const [FOLD_EVENTS, FOLD_STEPS] = [20, 100]
/** More metas of a process are not named. */
const METAS_MAX = 101
/** An account may exceed its bytes by this share, so that not every event looks for the oldest process. */
const SLACK = 1 / 16
/** The times of so many tell which processes are the oldest. */
const SAMPLE = 4_096

/** Its object, the head of its name, its places in maps and its verdict, as measured. */
export const PROCESS_BYTES = 400
const META_BYTES = 60

export const createAccount = (name: string): Account => ({
  name,
  processes: new Map(),
  version: 0,
  sinceVersion: 0,
  seqs: NO_SEQS,
  again: new Map(),
  countsSinceUs: undefined,
  omitted: 0,
  bytes: 0,
})

const NO_METAS: readonly string[] = []
const NO_META: readonly string[] = ['']

export function createProcess(name: string): Process {
  // a literal without spreading takes half the memory
  return {
    name,
    rows: new ByMeta(),
    raised: undefined,
    metas: NO_METAS,
    seenUs: 0,
    version: 0,
    seqs: NO_SEQS,
    isChanged: true,
  }
}

export function noteMeta(process: Process, meta: string): void {
  const { metas } = process
  if (metas.length >= METAS_MAX || metas.includes(meta)) return
  process.metas = metas.length === 0 && meta === '' ? NO_META : [...metas, meta]
}

/** An event as the log has it. */
export interface LoggedEvent {
  readonly event: Event
  /** Behind its record. */
  readonly seqs: Seqs
}

/** `event`: a start or an end. */
export const toMark = (event: Event): LiveMark => ({
  uid: event.uid ?? '',
  mark: event.kind === 'start' || event.kind === 'end' ? markName(event) : 'end',
  ...timesOf(event),
})

/** The time, and the rest of the stamp behind it in ns. */
function timesOf({ stamp }: Event): { atUs: number; restNs: number } {
  const atUs = timeUs(stamp)
  return { atUs, restNs: (stamp.us - atUs) * 1000 + stamp.sub }
}

export function findProcess(account: Account, name: string): Process {
  const known = account.processes.get(name)
  if (known !== undefined) return known
  const process = createProcess(name)
  account.processes.set(name, process)
  return process
}

export interface Folding {
  readonly maxRunUs: number
  /** An account that exceeds it loses the processes that sent nothing for longest; see SLACK. */
  readonly maxBytes: number
  fingerprint(exception: string): string
  /** By the rules of 2.0; present only while a decision was made by them. */
  former?(exception: string): string | undefined
}

const latest = (a: Seqs, b: Seqs): Seqs => ({
  points: Math.max(a.points, b.points),
  exceptions: Math.max(a.exceptions, b.exceptions),
})

/** Events of this account, in any order. */
export function foldEvents(account: Account, events: readonly LoggedEvent[], folding: Folding): void {
  for (const [name, own] of Map.groupBy(events, ({ event }) => event.process)) {
    const isOmitted = account.omitted > 0 && !account.processes.has(name) // the stores may know more of it
    const before = bytesAt(account, name)
    const process = findProcess(account, name)
    for (const one of own) noteEvent(process, one)
    if (!foldProcess(process, own, folding) || isOmitted) account.again.set(name, process.seqs)
    process.version = ++account.version
    account.seqs = latest(account.seqs, process.seqs)
    account.bytes += bytesOfProcess(process) - before
  }
  dropProcesses(account, folding)
}

/** For an account without a base: changes only the versions of its processes. */
export function noteEvents(account: Account, events: readonly LoggedEvent[], folding: Folding): void {
  for (const one of events) {
    const before = bytesAt(account, one.event.process)
    const process = findProcess(account, one.event.process)
    noteEvent(process, one)
    process.version = ++account.version
    account.seqs = latest(account.seqs, one.seqs)
    account.bytes += bytesOfProcess(process) - before
  }
  dropProcesses(account, folding)
}

export function dropProcesses(account: Account, { maxBytes }: Pick<Folding, 'maxBytes'>): void {
  const { processes, again } = account
  if (account.bytes <= maxBytes * (1 + SLACK) || processes.size === 1) return
  const times = Float64Array.from(sampleOf(processes), ({ seenUs }) => seenUs).sort()
  const gone = Math.ceil((1 - maxBytes / account.bytes) * times.length)
  const goneUs = times[Math.min(gone, times.length - 1) - 1]!
  for (const process of processes.values()) {
    if (account.bytes <= maxBytes || processes.size === 1) return
    if (process.seenUs > goneUs) continue
    processes.delete(process.name)
    again.delete(process.name)
    account.bytes -= bytesOfProcess(process)
    account.omitted++
  }
}

/** Sorting the times of all would take too long a turn. */
function* sampleOf(processes: ReadonlyMap<string, Process>): Iterable<Process> {
  const every = Math.ceil(processes.size / SAMPLE)
  let i = 0
  for (const process of processes.values()) if (i++ % every === 0) yield process
}

export function noteEvent(process: Process, { event, seqs }: LoggedEvent): void {
  process.seqs = latest(process.seqs, seqs)
  process.isChanged = true
  process.seenUs = Math.max(process.seenUs, timeUs(event.stamp))
  noteMeta(process, event.meta)
}

type Fingerprints = Pick<Folding, 'fingerprint' | 'former'>

export const toException = (event: Extract<Event, { kind: 'exception' }>, { fingerprint, former }: Fingerprints) => ({
  ...timesOf(event),
  uid: event.uid ?? null,
  text: event.exception,
  fingerprint: fingerprint(event.exception),
  former: former?.(event.exception),
})

/** Returns false if an event is older than what is remembered: then the store must be asked again. */
function foldProcess(process: Process, events: readonly LoggedEvent[], folding: Folding): boolean {
  let isKnown = true
  const marks = new Map<string, LiveMark[]>()
  for (const { event } of events) {
    const { meta } = event
    if (event.kind === 'start' || event.kind === 'end') {
      const own = marks.get(meta)
      if (own === undefined) marks.set(meta, [toMark(event)])
      else own.push(toMark(event))
    } else if (event.kind === 'exception') {
      isKnown = raise(raisedOf(process, meta), toException(event, folding)) && isKnown
    }
  }
  for (const [meta, own] of marks) isKnown = foldMarks(rowOf(process, meta), own, folding.maxRunUs) && isKnown
  return isKnown
}

export function rowOf({ name, rows }: Process, meta: string): Row {
  const known = rows.get(meta)
  if (known !== undefined) return known
  const row = createRow(name, meta)
  rows.set(meta, row)
  return row
}

export function raisedOf(process: Process, meta: string): RaisedOfRow {
  process.raised ??= new ByMeta()
  const known = process.raised.get(meta)
  if (known !== undefined) return known
  const made = createRaised()
  process.raised.set(meta, made)
  return made
}

export function bytesAt({ processes }: Account, name: string): number {
  const process = processes.get(name)
  return process === undefined ? 0 : bytesOfProcess(process)
}

export function bytesOfProcess({ name, rows, raised, metas }: Process): number {
  let bytes = PROCESS_BYTES + name.length + META_BYTES * (metas.length - 1)
  for (const row of rows.values()) bytes += bytesOf(row)
  for (const one of raised?.values() ?? []) bytes += raisedBytes(one)
  return bytes
}
