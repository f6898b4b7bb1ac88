// Events in files until the server has them, so that they survive a crash of this process; the files of `stint exec`
// (pending-events.ts), which `stint flush` sends, too. Invariants:
//   1. an event is in a file when `keep` returns: the kernel has it, so a kill of the process does not lose it (a power
//      cut may);
//   2. a segment belongs to one process. Its name promises SEGMENT_BYTES, so that others take it for unfinished while
//      it is touched; who finds it abandoned takes it over by renaming it, which only one can do;
//   3. a segment goes when all events in it are settled. An event sent twice is stored once, so any doubt is resolved
//      by sending.
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { nowUs } from './event-times.ts'

export interface Segment {
  readonly path: string
  fd: number | undefined
  /** Events in it that are not settled. */
  open: number
  bytes: number
}

export interface Backlog {
  /** Writes an event to the disk; one of `later` is read back by `adopt`. Undefined when that is not possible. */
  keep(kind: string, body: string, later: boolean): Segment | undefined
  settle(segment: Segment): void
  /** Events of one segment that no other process is about to send. */
  adopt(): { readonly line: string; readonly segment: Segment }[] | undefined
  /** Removes what holds no events. For the exit of the process. */
  close(): void
}

const SEGMENT_BYTES = 2 ** 20
const MAX_BYTES = 32 * 2 ** 20
const TOUCH_EVERY_MS = 20_000
const SEARCH_EVERY_US = 30_000_000
const ABANDONED_AFTER_US = 60_000_000

/** In that format it stands beside the body, which holds only texts and items. */
const FAILED = '"failed":true,'

const hex = (value: number) => value.toString(16).padStart(8, '0')

export function openBacklog(dir: string, url: string, warn: (text: string) => void): Backlog {
  const urlMark = hex(xxHash32(url))
  const host = hex(xxHash32(hostname()))
  const name = new RegExp(
    `^pending-(?:metrics-)?(\\d{17})-${urlMark}-(\\d+)-(?:([0-9a-f]{8})-(\\d+)-[0-9a-f]{8}|[0-9a-f-]+)\\.jsonl$`,
  )
  const own = new Map<string, Segment>()
  let current: Segment | undefined
  let overflow: Segment | undefined
  /** Overflows, the oldest first. */
  const unread: Segment[] = []
  let searchedUs = 0
  let toucher: ReturnType<typeof setInterval> | undefined

  function newPath(): string {
    const owner = `${host}-${process.pid}-${crypto.randomUUID().slice(0, 8)}`
    const time = String(nowUs()).padStart(17, '0')
    return join(dir, `pending-metrics-${time}-${urlMark}-${SEGMENT_BYTES}-${owner}.jsonl`)
  }

  function hold(path: string, fd: number | undefined, bytes: number): Segment {
    const segment = { path, fd, open: 0, bytes }
    own.set(path, segment)
    toucher ??= setInterval(touch, TOUCH_EVERY_MS)
    toucher.unref()
    return segment
  }

  function create(): Segment {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const path = newPath()
    return hold(path, openSync(path, 'ax', 0o600), 0)
  }

  function close(segment: Segment): void {
    if (segment.fd !== undefined) closeSync(segment.fd)
    segment.fd = undefined
    if (current === segment) current = undefined
    if (overflow === segment) overflow = undefined
    if (segment.open === 0) remove(segment)
  }

  function remove({ path }: Segment): void {
    own.delete(path)
    rmSync(path, { force: true })
  }

  /** Shows that we are alive. A process that was taken for dead has lost the file and continues in another one. */
  function touch(): void {
    for (const segment of own.values()) {
      try {
        utimesSync(segment.path, nowUs() / 1e6, nowUs() / 1e6)
      } catch {
        own.delete(segment.path)
        close(segment)
      }
    }
  }

  /** Has its process ended, or is it a complete file of `stint exec`? */
  function isAbandoned(path: string, [, madeUs, length, theirHost, pid]: RegExpExecArray): boolean {
    const { mtimeMs, size } = statSync(path)
    if (size >= Number(length) && pid === undefined) return true
    if (nowUs() - mtimeMs * 1000 > ABANDONED_AFTER_US) return true
    if (theirHost !== host) return false
    if (Number(pid) === process.pid) return Number(madeUs) < nowUs() - process.uptime() * 1e6 - 1e6
    try {
      process.kill(Number(pid), 0)
      return false
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ESRCH'
    }
  }

  /** The first that could be taken over. */
  function takeOver(): Segment | undefined {
    if (nowUs() - searchedUs < SEARCH_EVERY_US) return undefined
    for (const file of readdirSync(dir).sort()) {
      const match = name.exec(file)
      const path = join(dir, file)
      if (match === null || own.has(path)) continue
      try {
        if (!isAbandoned(path, match)) continue
        const taken = newPath()
        renameSync(path, taken)
        const segment = hold(taken, undefined, statSync(taken).size)
        touch()
        return segment
      } catch {
        // somebody else was faster
      }
    }
    searchedUs = nowUs()
    return undefined
  }

  function load(segment: Segment): { line: string; segment: Segment }[] {
    const found: { line: string; segment: Segment }[] = []
    let unreadable = 0
    let foreign = 0 // for another address whose hash is the same: they stay
    for (const text of readFileSync(segment.path, 'utf8').split('\n')) {
      if (text === '') continue
      try {
        const { kind, url: theirs, body, failed } = JSON.parse(text)
        if (theirs === url) found.push({ line: JSON.stringify({ kind, ...body, failed }), segment })
        else foreign++
      } catch {
        unreadable++ // torn by a crash: its call had not returned
      }
    }
    if (unreadable > 0) warn(`${unreadable} unreadable lines in a backlog file`)
    segment.open = found.length + foreign
    if (segment.open === 0) remove(segment)
    return found
  }

  return {
    keep(kind, body, later) {
      try {
        let segment = later ? overflow : current
        if (segment !== undefined && segment.bytes >= SEGMENT_BYTES) {
          close(segment)
          segment = undefined
        }
        if (segment === undefined) {
          let total = 0
          for (const { bytes } of own.values()) total += bytes
          if (total >= MAX_BYTES) return undefined
          segment = create()
          if (later) {
            overflow = segment
            unread.push(segment)
          } else current = segment
        }
        const texts = body.replace(FAILED, '')
        const failed = texts === body ? '' : ',"failed":true'
        const line = Buffer.from(`{"kind":"${kind}","url":${JSON.stringify(url)},"body":${texts}${failed}}\n`)
        segment.open++
        segment.bytes += line.length
        if (writeSync(segment.fd!, line) === line.length) return segment
        // A torn line: nothing may follow it.
        segment.open--
        close(segment)
        warn('the backlog cannot be written: short write')
      } catch (error) {
        warn(`the backlog cannot be written: ${(error as NodeJS.ErrnoException).code ?? error}`)
      }
      return undefined
    },
    settle(segment) {
      segment.open--
      if (segment.open > 0) return
      try {
        if (segment !== current) remove(segment)
        else {
          ftruncateSync(segment.fd!)
          segment.bytes = 0
        }
      } catch {
        // it stays, and is sent again
      }
    },
    adopt() {
      try {
        const spilled = unread.shift()
        if (spilled !== undefined) {
          close(spilled)
          return load(spilled)
        }
        const taken = takeOver()
        return taken && load(taken)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          warn(`the backlog cannot be read: ${(error as NodeJS.ErrnoException).code ?? error}`)
        return undefined
      }
    },
    close() {
      clearInterval(toucher)
      for (const segment of own.values()) close(segment)
    },
  }
}

// XXH32 with seed 0, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md: names of backlog files hold that
// of the address.
const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1]
const rotate = (x: number, bits: number) => (x << bits) | (x >>> (32 - bits))

export function xxHash32(text: string): number {
  const bytes = new TextEncoder().encode(text)
  const view = new DataView(bytes.buffer)
  const { length } = bytes
  let at = 0
  let hash = P5
  if (length >= 16) {
    const lanes = [P1 + P2, P2, 0, -P1]
    for (; at + 16 <= length; at += 16)
      for (let i = 0; i < 4; i++)
        lanes[i] = Math.imul(rotate(lanes[i]! + Math.imul(view.getUint32(at + 4 * i, true), P2), 13), P1)
    hash = [1, 7, 12, 18].reduce((sum, bits, i) => sum + rotate(lanes[i]!, bits), 0)
  }
  hash = (hash + length) | 0
  for (; at + 4 <= length; at += 4) hash = Math.imul(rotate(hash + Math.imul(view.getUint32(at, true), P3), 17), P4)
  for (; at < length; at++) hash = Math.imul(rotate(hash + Math.imul(bytes[at]!, P5), 11), P1)
  hash = Math.imul(hash ^ (hash >>> 15), P2)
  hash = Math.imul(hash ^ (hash >>> 13), P3)
  return (hash ^ (hash >>> 16)) >>> 0
}
