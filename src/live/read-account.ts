// Reads an account, or some of its processes: what the stores know, united with the log since the shipper's position,
// which is taken before the stores are asked. In turns of the event loop.
import type { Both } from '../event/event.ts'
import { Problem } from '../problem.ts'
import { groupInTurns, rest, spend } from '../turns.ts'
import {
  type Account,
  bytesAt,
  bytesOfProcess,
  createAccount,
  dropProcesses,
  FOLD_EVENTS,
  FOLD_STEPS,
  type Folding,
  foldEvents,
  type LoggedEvent,
  PROCESS_BYTES,
} from './account.ts'
import { type BaseSources, type InTurn, readHead, readPages } from './base.ts'
import { addHead, addPage } from './build.ts'
import type { LogReader, TailSpool } from './tail.ts'

export interface Reading {
  readonly account: string
  /** Only these. */
  readonly processes: readonly string[] | undefined
  readonly sources: BaseSources
  readonly reader: Pick<LogReader, 'begin' | 'readBetween'>
  readonly spools: Both<TailSpool>
  readonly folding: Folding
  readonly maxMarks: number
  nowUs(): number
  readonly inTurn: InTurn
  /** Grows with the events that come meanwhile. */
  readonly buffer: readonly LoggedEvent[]
}

/** The longest part of the log that is read for what the stores lack. */
const CATCH_UP_BYTES = 64 * 2 ** 20
/** Each round leaves the events that arrived during it. */
const ROUNDS = 20

export const farBehind = (cause?: unknown) =>
  new Problem('store_unavailable', 'The store is far behind. What was sent is safe: try again later.', {
    retryAfterS: 30,
    cause,
  })

/**
 * Resolves to a function to call when the account replaces the former one: it adds the latest events. Rejects with
 * Problem, `store_unavailable` also while too much waits for the stores.
 */
export async function readAccount(reading: Reading): Promise<() => Account> {
  const { account: name, processes, sources, reader, spools, folding, maxMarks, inTurn, buffer } = reading
  const from = { points: spools.points.position, exceptions: spools.exceptions.position }
  const until = await reader.begin()
  const missed = await reader.readBetween(from, until, name, CATCH_UP_BYTES).catch((cause) => {
    throw farBehind(cause)
  })
  const nowUs = reading.nowUs()
  const { maxRunUs, maxBytes } = folding
  const maxProcesses = Math.max(1, Math.floor(maxBytes / PROCESS_BYTES))
  const q = { account: name, processes, maxRunUs, maxMarks, maxProcesses, nowUs }
  const head = await inTurn((signal) => readHead(sources, { ...q, signal }))
  const delivered = { points: spools.points.position.seq, exceptions: spools.exceptions.position.seq }
  const account = createAccount(name)
  await addHead(account, head)
  account.bytes = await countBytes(account)
  const logged = new Map<string, LoggedEvent[]>()
  const isAsked = ({ event }: LoggedEvent) => processes?.includes(event.process) ?? true
  const note = async (events: readonly LoggedEvent[]) => {
    for (const one of events) {
      const own = logged.get(one.event.process)
      if (own === undefined) logged.set(one.event.process, [one])
      else own.push(one)
      if (spend()) await rest()
    }
  }
  await note(missed.filter(isAsked))
  let noted = 0
  const newEvents = (): LoggedEvent[] => {
    const news = buffer.slice(noted)
    noted += news.length
    return news.filter(isAsked)
  }
  /** How many events of each process its rows have. */
  const used = new Map<string, number>()
  for await (const page of readPages(sources, q, head, inTurn)) {
    await note(newEvents())
    const marks = await groupInTurns(page.marks, ({ process }) => process)
    const starts = await groupInTurns(page.starts, ({ process }) => process)
    const figures = await groupInTurns(page.figures, ({ process }) => process)
    // earlier pages had the newer events and took the room
    if (!page.processes.some((process) => account.processes.has(process))) break
    for (const process of page.processes) {
      if (!account.processes.has(process)) continue
      const own = {
        processes: [process],
        marks: marks.get(process) ?? [],
        starts: starts.get(process) ?? [],
        figures: figures.get(process) ?? [],
      }
      const building = { ...folding, nowUs, delivered }
      const news = logged.get(process) ?? []
      account.bytes -= bytesAt(account, process)
      await addPage(account, { ...page, ...own }, news, building)
      account.bytes += bytesAt(account, process)
      used.set(process, news.length)
    }
    dropProcesses(account, folding)
  }
  await note(newEvents())
  let left = [...logged].flatMap(([process, own]) => own.slice(used.get(process) ?? 0))
  for (let round = 0; left.length > FOLD_EVENTS && round < ROUNDS; round++) {
    for (let i = 0; i < left.length; i += FOLD_EVENTS) {
      foldEvents(account, left.slice(i, i + FOLD_EVENTS), folding)
      if (spend(FOLD_EVENTS * FOLD_STEPS)) await rest()
    }
    left = newEvents()
  }
  return () => {
    foldEvents(account, [...left, ...newEvents()], folding)
    return account
  }
}

async function countBytes({ processes }: Account): Promise<number> {
  let bytes = 0
  for (const process of processes.values()) {
    bytes += bytesOfProcess(process)
    if (spend()) await rest()
  }
  return bytes
}
