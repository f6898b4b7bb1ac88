// Events that Stint has not acknowledged yet, in the user's state directory.
//   1. a file appears whole or not at all (written aside, fsync, rename, fsync of the directory) and is never appended to, so that any number
//      of processes may add, send and remove without a lock;
//   2. a file is removed only by who has had every event of it answered; an event sent twice is one, by its `at` and its content;
//   3. a file's events are for one Stint, which its name tells; no key is written, and the address only without user and password;
//   4. the oldest go first, to Stint, and when the directory is full.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
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
  /** Undefined when it is gone: somebody else has sent it. */
  read(file: string): PendingFile | undefined
  /** Puts what is left of a file in its place. */
  replace(file: string, events: readonly PendingEvent[]): void
  remove(file: string): void
  /** Removes what a writer that was killed has left aside. */
  sweep(us: number): void
}

export const MAX_FILES = 4000
export const MAX_BYTES = 32 * 2 ** 20

const ASIDE = /^\.pending-.*\.jsonl\./
const ASIDE_KEPT_US = 3_600_000_000
/** Time, address, size: all that must be known of thousands of files without looking into them. */
const NAME = /^pending-\d{17}-[0-9a-f]{8}-(\d+)-[0-9a-f-]+\.jsonl$/
const KINDS = new Set(['start', 'end', 'exception'])

/** `unique` makes names that no other process makes. */
export function openPendingEvents(dir: string, unique: () => string): PendingEvents {
  const pathOf = (file: string) => join(dir, file)
  const list = (url?: string) =>
    names(dir)
      .filter((name) => NAME.test(name) && (url === undefined || name.includes(`-${markOf(url)}-`)))
      .sort()

  function write(file: string, text: string): void {
    const aside = pathOf(`.${file}.${unique()}`)
    const fd = openSync(aside, 'wx', 0o600)
    try {
      writeFileSync(fd, text)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(aside, pathOf(file))
    syncDirectory(dir)
  }

  /** Removes the oldest until one more has room. */
  function makeRoom(): number {
    const files = list()
    const bytes = files.map((file) => Number(NAME.exec(file)![1]))
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
      const text = formatEvents(events.map((event) => ({ ...event, url })))
      const file = `pending-${String(Math.round(us)).padStart(17, '0')}-${markOf(url)}-${Buffer.byteLength(text)}-${unique()}.jsonl`
      write(file, text)
      return { file, dropped }
    },
    list,
    read(file) {
      let text: string
      try {
        text = readFileSync(pathOf(file), 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      const parsed = text
        .split('\n')
        .filter((line) => line !== '')
        .map(parseEvent)
      const events = parsed.filter((event) => event !== undefined)
      return { events, unreadable: parsed.length - events.length }
    },
    replace: (file, events) => write(file, formatEvents(events)),
    remove: (file) => rmSync(pathOf(file), { force: true }),
    sweep(us) {
      for (const name of names(dir).filter((each) => ASIDE.test(each))) {
        const modifiedMs = statSync(pathOf(name), { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
        if (us - modifiedMs * 1000 > ASIDE_KEPT_US) rmSync(pathOf(name), { force: true })
      }
    },
  }
}

/** In a file's name; two addresses with the same mark are told apart by the lines. */
const markOf = (url: string) => Bun.hash.xxHash32(url).toString(16).padStart(8, '0')

const formatEvents = (events: readonly PendingEvent[]): string =>
  events.map(({ kind, url, body }) => `${JSON.stringify({ kind, url, body })}\n`).join('')

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

function syncDirectory(dir: string): void {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
