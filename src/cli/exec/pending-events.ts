// Events that Stint has not acknowledged yet, in the user's state directory.
//   1. a file is written once, with its length in its name, and synced before anybody relies on it: what is shorter is still being written,
//      or was torn by a crash. Nothing is ever appended, so that any number of processes may add, send and remove without a lock;
//   2. a file is removed only by who has had every event of it answered; an event sent twice is one, by its `at` and its content;
//   3. a file's events are for one Stint, which its name tells; no key is written, and the address only without user and password;
//   4. the oldest go first: to Stint, and when there is no room for more.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { OutgoingEvent } from './job-events.ts'

export interface PendingEvent extends OutgoingEvent {
  /** The Stint it is for. */
  readonly url: string
}

export interface PendingFile {
  readonly events: readonly PendingEvent[]
  /** Lines that are no events: a damaged file. */
  readonly unreadable: number
}

export interface PendingEvents {
  /** The new file's name, made of the wall clock's µs, and how many of the oldest files had to go for it. Throws when it cannot be written. */
  add(events: readonly OutgoingEvent[], url: string, us: number): { readonly file: string; readonly dropped: number }
  /** Those for one Stint, or all; the oldest first. */
  list(url?: string): string[]
  /** Undefined when it is gone, as somebody else has sent it, or not there in full yet. `us` is now. */
  read(file: string, us: number): PendingFile | undefined
  /** Puts what is left of a file in its place, under a new name. */
  replace(file: string, events: readonly PendingEvent[]): string
  remove(file: string): void
}

export const MAX_FILES = 4000
export const MAX_BYTES = 32 * 2 ** 20

/** Nobody writes for so long. */
const TORN_AFTER_US = 60_000_000
/** Time, address and length: all that must be known of thousands of files without looking into them. */
const NAME = /^(pending-\d{17}-[0-9a-f]{8})-(\d+)-[0-9a-f-]+\.jsonl$/
const KINDS = new Set(['start', 'end', 'exception'])

/** `unique` makes names that no other process makes. */
export function openPendingEvents(dir: string, unique: () => string): PendingEvents {
  const pathOf = (file: string) => join(dir, file)
  const list = (url?: string) =>
    names(dir)
      .filter((name) => NAME.test(name) && (url === undefined || name.includes(`-${markOf(url)}-`)))
      .sort()

  /** The new file's name. */
  function write(prefix: string, events: readonly PendingEvent[]): string {
    const text = events.map(({ kind, url, body }) => `${JSON.stringify({ kind, url, body })}\n`).join('')
    const file = `${prefix}-${Buffer.byteLength(text)}-${unique()}.jsonl`
    const fd = openSync(pathOf(file), 'wx', 0o600)
    try {
      writeFileSync(fd, text)
      fsyncSync(fd)
    } catch (error) {
      rmSync(pathOf(file), { force: true })
      throw error
    } finally {
      closeSync(fd)
    }
    return file
  }

  /** Removes the oldest until one more has room. */
  function makeRoom(): number {
    const files = list()
    const bytes = files.map((file) => lengthOf(file))
    let total = bytes.reduce((sum, size) => sum + size, 0)
    let dropped = 0
    while (dropped < files.length && (files.length - dropped >= MAX_FILES || total >= MAX_BYTES)) {
      rmSync(pathOf(files[dropped]!), { force: true })
      total -= bytes[dropped]!
      dropped++
    }
    return dropped
  }

  return {
    add(events, url, us) {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      const dropped = makeRoom()
      const prefix = `pending-${String(Math.round(us)).padStart(17, '0')}-${markOf(url)}`
      const file = write(
        prefix,
        events.map((event) => ({ ...event, url })),
      )
      return { file, dropped }
    },
    list,
    read(file, us) {
      const path = pathOf(file)
      let bytes: Buffer
      try {
        bytes = readFileSync(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      const modifiedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
      if (modifiedMs === undefined) return undefined
      if (bytes.length < lengthOf(file) && us - modifiedMs * 1000 < TORN_AFTER_US) return undefined
      const lines = bytes.toString('utf8').split('\n')
      const parsed = lines.filter((line) => line !== '').map(parseEvent)
      const events = parsed.filter((event) => event !== undefined)
      return { events, unreadable: parsed.length - events.length }
    },
    replace(file, events) {
      const fresh = write(NAME.exec(file)![1]!, events)
      rmSync(pathOf(file), { force: true })
      return fresh
    },
    remove: (file) => rmSync(pathOf(file), { force: true }),
  }
}

const lengthOf = (file: string): number => Number(NAME.exec(file)![2])

/** In a file's name; two addresses with the same mark are told apart by the lines. */
const markOf = (url: string) => Bun.hash.xxHash32(url).toString(16).padStart(8, '0')

function parseEvent(line: string): PendingEvent | undefined {
  try {
    const { kind, url, body } = JSON.parse(line) as PendingEvent
    const isEvent = KINDS.has(kind) && typeof url === 'string' && Object.values(body).every(isText)
    return isEvent ? { kind, url, body } : undefined
  } catch {
    return undefined
  }
}

const isText = (value: unknown) => typeof value === 'string'

function names(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
