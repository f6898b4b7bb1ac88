// Events that Stint has not acknowledged yet, in the user's state directory.
//   1. A file is written once, with its length in its name, and synced before others rely on it: a shorter file is
//      still being written, or was torn by a crash. Nothing is ever appended, so any number of processes may add, send
//      and remove files without a lock.
//   2. A file is removed only by a process that has an answer for each of its events; an event sent twice is stored
//      once.
//   3. A file's events are for one Stint, whose hash is in the name; no key is written, and the address without user
//      and password.
//   4. The oldest files go first: to Stint, and when there is no room for more.
//   5. Older and newer versions share the directory. Version 1.0 reads `pending-TIME-…` files, the kinds start, end and
//      exception, and bodies of strings: so `failed` stands beside the body, and metrics are in files that it does not
//      see.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { OutgoingEvent } from './send-event.ts'

export interface PendingEvent extends OutgoingEvent {
  /** Address of the Stint it is for. */
  readonly url: string
}

export interface PendingFile {
  readonly events: readonly PendingEvent[]
  /** Number of lines that are not events, in a damaged file. */
  readonly unreadable: number
}

export interface PendingEvents {
  /**
   * `us`: wall clock. Returns the new file's name, and how many of the oldest files were removed to make room. Throws
   * if it cannot be written.
   */
  add(events: readonly OutgoingEvent[], url: string, us: number): { readonly file: string; readonly dropped: number }
  /** Names of the files for one Stint, or of all; the oldest first. */
  list(url?: string): string[]
  /** Undefined if another process has sent and removed it, or may still write to it. `us`: wall clock. */
  read(file: string, us: number): PendingFile | undefined
  /** Replaces a file by the rest of its events. Returns the new name. */
  replace(file: string, events: readonly PendingEvent[]): string
  remove(file: string): void
}

export const MAX_FILES = 4000
export const MAX_BYTES = 32 * 2 ** 20

/** No process writes for longer than this. */
const TORN_AFTER_US = 60_000_000
/** Time, address and length: all that must be known of thousands of files without opening them. */
const NAME = /^(pending-(?:metrics-)?\d{17}-[0-9a-f]{8})-(\d+)-[0-9a-f-]+\.jsonl$/
const KINDS = { start: true, end: true, exception: true, metrics: true } satisfies Record<OutgoingEvent['kind'], true>

/** `unique` returns a string that no other process uses. */
export function openPendingEvents(dir: string, unique: () => string): PendingEvents {
  const pathOf = (file: string) => join(dir, file)
  const list = (url?: string) =>
    (existsSync(dir) ? readdirSync(dir) : [])
      .filter((name) => NAME.test(name) && (url === undefined || name.includes(`-${markOf(url)}-`)))
      .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))

  /** The new file's name. */
  function write(prefix: string, events: readonly PendingEvent[]): string {
    const text = events.map(formatEvent).join('')
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

  /** Removes the oldest files until there is room for one more. */
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
      const metrics = events.some(({ kind }) => kind === 'metrics') ? 'metrics-' : ''
      const prefix = `pending-${metrics}${String(Math.round(us)).padStart(17, '0')}-${markOf(url)}`
      const file = write(
        prefix,
        events.map((event) => ({ ...event, url })),
      )
      return { file, dropped }
    },
    list,
    read(file, us) {
      const path = pathOf(file)
      const isComplete = hasLostItsProcess(file) // before it is read: the process may write its last event at any time
      let bytes: Buffer
      try {
        bytes = readFileSync(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      const modifiedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
      if (modifiedMs === undefined) return undefined
      const isUnfinished = bytes.length < lengthOf(file) && us - modifiedMs * 1000 < TORN_AFTER_US
      if (isUnfinished && !isComplete) return undefined
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

/**
 * A client library's file bears its host and process (src/client/backlog.ts); nobody writes to it when that process has
 * ended.
 */
function hasLostItsProcess(file: string): boolean {
  const [, host, pid] = /-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.jsonl$/.exec(file) ?? []
  return host === markOf(hostname()) && !isAlive(Number(pid))
}

/** True also for a process of another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

const lengthOf = (file: string): number => Number(NAME.exec(file)![2])

const ageOf = (file: string): string => file.replace('metrics-', '')

/** Hash of an address or host for a file's name; the lines hold the address itself. */
const markOf = (text: string) => Bun.hash.xxHash32(text).toString(16).padStart(8, '0')

function formatEvent({ kind, url, body: { failed, ...body } }: PendingEvent): string {
  return `${JSON.stringify({ kind, url, body, ...(failed === true && { failed }) })}\n`
}

function parseEvent(line: string): PendingEvent | undefined {
  try {
    const { kind, url, body, failed } = JSON.parse(line) as PendingEvent & { failed?: unknown }
    const values = Object.entries(body).filter(([name]) => kind !== 'metrics' || name !== 'items')
    const isEvent =
      Object.hasOwn(KINDS, kind) && typeof url === 'string' && values.every(([, value]) => typeof value === 'string')
    return isEvent ? { kind, url, body: failed === true ? { ...body, failed } : body } : undefined
  } catch {
    return undefined
  }
}
