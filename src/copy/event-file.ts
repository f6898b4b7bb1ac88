// Files of events, one per line, gzipped when their name ends in .gz. A file is written beside its name and renamed when it is complete and on disk; it is read line by line.
import { createReadStream, createWriteStream, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Transform } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { type Event, type Family, familyOf } from '../event/event.ts'
import { timeUs } from '../event/stamp.ts'
import { type Chunk, type Counts, NO_COUNTS, type Scan, type ScanSelection } from '../store/scan.ts'
import { addCounts } from './compare-stores.ts'
import { CopyError } from './copy-error.ts'
import { fromLine, kindOfLine, toLine } from './event-line.ts'

const CHUNK_EVENTS = 20_000
const CHUNK_CHARS = 8 * 2 ** 20
const DAY_US = 86_400_000_000

const isGzip = (path: string) => path.endsWith('.gz')

/** Columnar files need the engine, which reads and writes none of Stint's identities in them. */
export function refuseParquet(path: string): void {
  if (/\.parquet$/i.test(path))
    throw new CopyError(`${path}: Parquet is not supported; use a name that ends in .ndjson or .ndjson.gz`)
}

/** Reads events from a file as from a store. With `account` every event becomes that account's. Throws CopyError when the file cannot be read. */
export function openFileScan(path: string, account?: string): Scan {
  refuseParquet(path)
  if (!existsSync(path))
    throw new CopyError(`${path}: file not found; --from takes embedded, clickhouse, influxdb or a file`)

  async function* lines(): AsyncGenerator<string> {
    const file = createReadStream(path)
    const input = isGzip(path) ? file.pipe(createGunzip()) : file
    file.on('error', (error) => input.destroy(error))
    try {
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) yield line
    } catch (cause) {
      throw new CopyError(`${path}: ${(cause as Error).message}`, { cause })
    }
  }

  async function* events(family: Family, { account: only, range }: ScanSelection, from = 0) {
    let number = 0
    for await (const line of lines()) {
      number++
      if (number <= from || line === '') continue
      const kind = kindOfLine(line)
      if (kind !== undefined && familyOf(kind) !== family) continue
      const event = parse(line, number)
      if (familyOf(event.kind) !== family || (only !== undefined && event.account !== only)) continue
      if (range !== undefined && !isWithin(event, range)) continue
      yield { event, number, chars: line.length }
    }
  }

  function parse(line: string, number: number): Event {
    try {
      return fromLine(line, account)
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

function isWithin({ stamp }: Event, { fromNs, toNs }: NonNullable<ScanSelection['range']>): boolean {
  const ns = BigInt(timeUs(stamp)) * 1000n
  return ns >= fromNs && ns < toNs
}

export interface EventFile {
  write(events: readonly Event[]): Promise<void>
  /** Complete and on disk under its name. */
  finish(): Promise<void>
  /** Removes what was written. */
  discard(): Promise<void>
}

/** Throws CopyError when the file exists or cannot be written. */
export async function createEventFile(path: string, withAccount: boolean): Promise<EventFile> {
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
    async write(events) {
      const text = events.map((event) => `${toLine(event, withAccount)}\n`).join('')
      await Promise.race([new Promise<void>((resolve) => output.write(text, () => resolve())), failed])
    },
    async finish() {
      output.end()
      await Promise.race([ended, failed])
      fsyncSync(openSync(partPath, 'r'))
      renameSync(partPath, path)
    },
    async discard() {
      output.destroy()
      file.destroy()
      rmSync(partPath, { force: true })
    },
  }
}
