// Files of events, one per line, gzipped when their name ends in .gz. A file is written beside its name and renamed
// when it is complete and on disk; it is read line by line.
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Transform } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import {
  EVENT_KINDS,
  type Event,
  type EventKind,
  type Family,
  familyOf,
  isEventKind,
  ownFields,
} from '../event/event.ts'
import { Faults } from '../event/faults.ts'
import { isObject } from '../event/fields.ts'
import { parseEvent, textsOf, toEvent } from '../event/parse-event.ts'
import { formatStampNs, formatTime, parseStampNs, timeUs } from '../event/stamp.ts'
import { syncDir } from '../state/whole-file.ts'
import { type Chunk, type Counts, NO_COUNTS, type Scan, type ScanSelection } from '../store/scan.ts'
import { addCounts } from './compare-stores.ts'
import { CopyError } from './places.ts'

const CHUNK_EVENTS = 20_000
const CHUNK_CHARS = 8 * 2 ** 20
const DAY_US = 86_400_000_000

const isGzip = (path: string) => path.endsWith('.gz')

/** Columnar files need the engine, which reads and writes none of Stint's identities in them. */
function refuseParquet(path: string): void {
  if (/\.parquet$/i.test(path))
    throw new CopyError(`${path}: Parquet is not supported; use a name that ends in .ndjson or .ndjson.gz`)
}

/**
 * Reads events from a file as from a store. With `account` every event becomes that account's. Throws CopyError when
 * the file cannot be read.
 */
export function openFileScan(path: string, account?: string): Scan {
  refuseParquet(path)
  if (!existsSync(path))
    throw new CopyError(`${path}: file not found; --from takes embedded, clickhouse, influxdb or a file`)

  /** Bytes as characters: decoding comes later and is strict, and of all line separators only a line break counts. */
  async function* lines(): AsyncGenerator<string> {
    const file = createReadStream(path)
    const input = (isGzip(path) ? file.pipe(createGunzip()) : file).setEncoding('latin1')
    file.on('error', (error) => input.destroy(error))
    try {
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) yield line
    } catch (cause) {
      throw new CopyError(`${path}: ${(cause as Error).message}`, { cause })
    }
  }

  async function* events(family: Family, { account: only }: ScanSelection, from = 0) {
    let number = 0
    for await (const line of lines()) {
      number++
      if (number <= from || line === '') continue
      const kind = kindOfLine(line)
      if (kind !== undefined && familyOf(kind) !== family) continue
      const event = parse(line, number)
      if (familyOf(event.kind) !== family || (only !== undefined && event.account !== only)) continue
      yield { event, number, chars: line.length }
    }
  }

  function parse(line: string, number: number): Event {
    try {
      return fromLine(decode(line), account)
    } catch (cause) {
      throw new CopyError(`${path}, line ${number}: ${(cause as Error).message}`, { cause })
    }
  }

  async function* read(family: Family, selection: ScanSelection, after?: string): AsyncGenerator<Chunk, void> {
    let chunk: Event[] = []
    let chars = 0
    let last = 0
    for await (const { event, number, chars: length } of events(family, selection, Number(after ?? 0))) {
      chunk.push(event)
      chars += length
      last = number
      if (chunk.length < CHUNK_EVENTS && chars < CHUNK_CHARS) continue
      yield { events: chunk, cursor: String(last) }
      chunk = []
      chars = 0
    }
    if (chunk.length > 0) yield { events: chunk, cursor: String(last) }
  }

  return {
    read,
    async count(families, selection) {
      let counts: Counts = NO_COUNTS
      for (const family of families)
        for await (const { events: found } of read(family, selection)) counts = addCounts(counts, found)
      return counts
    },
    async countDays(family, selection) {
      const days = new Map<bigint, number>()
      for await (const { event } of events(family, selection)) {
        const us = timeUs(event.stamp)
        const day = BigInt(us - (us % DAY_US)) * 1000n
        days.set(day, (days.get(day) ?? 0) + (event.kind === 'metrics' ? event.items.length : 1))
      }
      return days
    },
    async close() {},
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Throws an Error when the bytes are not UTF-8: replaced characters would be another event. */
function decode(bytes: string): string {
  try {
    return /[\x80-\xff]/.test(bytes) ? utf8.decode(Buffer.from(bytes, 'latin1')) : bytes
  } catch (cause) {
    throw new Error('not valid UTF-8', { cause })
  }
}

/** Throws CopyError when the file exists or cannot be written. */
export async function createEventFile(path: string, withAccount: boolean) {
  refuseParquet(path)
  if (existsSync(path)) throw new CopyError(`${path} exists: delete it or name another file`)
  const partPath = `${path}.part`
  const file = createWriteStream(partPath, { mode: 0o600 })
  const gzip: Transform | undefined = isGzip(path) ? createGzip({ level: 5 }) : undefined
  gzip?.pipe(file)
  const output = gzip ?? file
  let fail: (cause: Error) => void
  const failed = new Promise<never>((_, reject) => {
    fail = (cause) => reject(new CopyError(`${path} cannot be written: ${cause.message}`, { cause }))
  })
  failed.catch(() => {}) // met by the next write
  file.on('error', (cause) => fail(cause))
  const ended = new Promise<void>((resolve) => file.on('close', resolve))

  return {
    async write(events: readonly Event[]): Promise<void> {
      const text = events.map((event) => `${toLine(event, withAccount)}\n`).join('')
      await Promise.race([new Promise<void>((resolve) => output.write(text, () => resolve())), failed])
    },
    /** Complete and on disk under its name. */
    async finish(): Promise<void> {
      output.end()
      await Promise.race([ended, failed])
      const written = openSync(partPath, 'r')
      try {
        fsyncSync(written)
      } finally {
        closeSync(written)
      }
      renameSync(partPath, path)
      syncDir(dirname(path))
    },
    /** Removes what was written. */
    async discard(): Promise<void> {
      output.destroy()
      file.destroy()
      rmSync(partPath, { force: true })
    },
  }
}

// One event as a line of a file (NDJSON): the fields of its call, and its stamp, which is its identity. `at` is for
// people; reading ignores it.
//
//   {"kind":"end","account":"acc_…","process":"nightly
//   import","meta":"eu","uid":"a1","failed":true,"at":"2026-…Z","stamp":"1763675562171920042"}
/** Without its line break. Without account for an export, which is of one account. */
export function toLine(event: Event, withAccount: boolean): string {
  const { kind, account, process, meta, uid = '', stamp, content } = event
  return JSON.stringify({
    kind,
    ...(withAccount && { account }),
    process,
    ...(meta !== '' && { meta }),
    ...(uid !== '' && { uid }),
    ...ownFields(event),
    at: formatTime(stamp),
    stamp: formatStampNs(stamp),
    ...(content !== undefined && { content: String(content) }),
  })
}

const STAMP = /^[1-9]\d{3,18}$/
const STAMP_MAX = 2n ** 63n - 1n
const CONTENT = /^\d{1,20}$/
const CONTENT_MAX = 2n ** 64n - 1n
/** Fields are checked as those of a request, but for the time: history is old. */
const NO_TIMES = { maxAgeUs: Number.MAX_SAFE_INTEGER, wallUs: () => 0 }

/**
 * `account` is that of every event of the file; absent = each line names its own. Throws an Error that names the fault
 * of the line.
 */
export function fromLine(line: string, account?: string): Event {
  const value: unknown = JSON.parse(line)
  if (!isObject(value)) throw new Error('not a JSON object')
  const { kind, account: own, at: _, stamp, content, ...fields } = value
  if (!isEventKind(kind)) throw new Error(`\`kind\` must be one of ${EVENT_KINDS.join(', ')}`)
  const owner = account ?? own
  if (typeof owner !== 'string' || owner === '') throw new Error('`account` is missing')
  if (typeof stamp !== 'string' || !STAMP.test(stamp) || BigInt(stamp) > STAMP_MAX)
    throw new Error('`stamp` must be nanoseconds since the epoch as text')
  if (
    content !== undefined &&
    !(typeof content === 'string' && CONTENT.test(content) && BigInt(content) <= CONTENT_MAX)
  )
    throw new Error('`content` must be a number below 2⁶⁴ as text')
  const faults = new Faults()
  const draft = parseEvent(kind, fields, NO_TIMES, faults)
  if (draft === undefined) {
    const [fault] = faults.list
    throw new Error(`${fault?.pointer.slice(1) || 'the line'} ${fault?.detail}`)
  }
  const [text] = textsOf(draft)
  if (text !== undefined) throw new Error(`\`${text.kind}\` is a line of its own`)
  const event = toEvent(draft, owner, parseStampNs(stamp))
  return content === undefined ? event : { ...event, content: BigInt(content) }
}

/** The kind in a line that `toLine` wrote, found without parsing all of it; undefined for any other line. */
function kindOfLine(line: string): EventKind | undefined {
  const kind = /^\{"kind":"(\w+)"/.exec(line)?.[1]
  return isEventKind(kind) ? kind : undefined
}
