// How far events with their own time were moved, so that a retry gets the same stamp after a restart
// (event/own-stamps.ts). Invariants:
//   1. what `keep` resolved for survives kill -9 and power loss: records that come together share one write and one
//      fdatasync;
//   2. after a failed write nobody knows what the file holds, so the next one writes a whole new file and renames it
//      into place;
//   3. at most MAX_ENTRIES are kept, the oldest are forgotten first, as are times that nobody may send any more;
//   4. damage costs the records that it hit, and no other.
// The file is a header of 8 bytes and records of 24: time, content, moves, CRC-32 of these 20 bytes.
import { chmodSync } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { readIfThere } from './whole-file.ts'

interface Entry {
  readonly atUs: number
  readonly content: bigint
  readonly moved: number
}

interface Group {
  readonly entries: Entry[]
  readonly done: PromiseWithResolvers<void>
}

const HEADER = Buffer.from('STINTMV1')
const RECORD_BYTES = 24
const MAX_ENTRIES = 100_000

/**
 * `keepUs`: how old a time may be. Throws an Error that names the file when it is of a newer version or cannot be read.
 */
export function openMovedStamps(options: {
  path: string
  keepUs: number
  clock: Pick<Clock, 'wallUs'>
  log: Logger
  maxEntries?: number
}) {
  const { path, keepUs, clock, log, maxEntries = MAX_ENTRIES } = options
  const known = new Map<string, Entry>()
  /** On their way to the disk. */
  const pending = new Map<string, { readonly moved: number; readonly kept: Promise<void> }>()
  const keyOf = (atUs: number, content: bigint) => `${atUs} ${content}`
  const isOver = (atUs: number) => atUs < clock.wallUs() - keepUs

  function remember(entry: Entry): void {
    known.set(keyOf(entry.atUs, entry.content), entry)
    if (known.size > maxEntries) known.delete(known.keys().next().value!)
  }

  for (const entry of readEntries(path, log)) if (!isOver(entry.atUs)) remember(entry)

  /** Undefined: the next write makes a whole new file. */
  let file: FileHandle | undefined
  let fileRecords = 0
  let filling: Group | undefined
  let working: Promise<void> | undefined
  let isClosed = false

  async function append(entries: readonly Entry[]): Promise<void> {
    if (file === undefined || fileRecords + entries.length > 2 * maxEntries) return writeAnew(entries)
    await file.appendFile(Buffer.concat(entries.map(toRecord)))
    await file.datasync()
    fileRecords += entries.length
  }

  async function writeAnew(entries: readonly Entry[]): Promise<void> {
    await file?.close()
    file = undefined
    const kept = [...known.values().filter(({ atUs }) => !isOver(atUs)), ...entries]
    const fresh = await open(`${path}.new`, 'w', 0o600)
    try {
      await fresh.writeFile(Buffer.concat([HEADER, ...kept.map(toRecord)]))
      await fresh.datasync()
    } finally {
      await fresh.close()
    }
    await rename(`${path}.new`, path)
    const dir = await open(dirname(path), 'r')
    await dir.sync().finally(() => dir.close())
    file = await open(path, 'a')
    fileRecords = kept.length
  }

  let isFailing = false
  async function work(): Promise<void> {
    for (let group = filling; group !== undefined; group = filling) {
      filling = undefined
      try {
        await append(group.entries)
        for (const entry of group.entries) remember(entry)
        group.done.resolve()
        isFailing = false
      } catch (error) {
        await file?.close().catch(() => {})
        file = undefined
        if (!isFailing) log.error({ err: error, path }, 'the list of moved stamps cannot be written')
        isFailing = true
        group.done.reject(error)
      }
      for (const { atUs, content } of group.entries) pending.delete(keyOf(atUs, content))
    }
    working = undefined
  }

  return {
    /** How far the event was moved; `kept` resolves when that is on disk, and is undefined when it already is. */
    find(atUs: number, content: bigint): { moved: number; kept: Promise<void> | undefined } | undefined {
      const key = keyOf(atUs, content)
      const entry = known.get(key)
      return entry === undefined ? pending.get(key) : { moved: entry.moved, kept: undefined }
    },
    /** Resolves when it is on disk; rejects with the error of the disk. */
    keep(atUs: number, content: bigint, moved: number): Promise<void> {
      if (isClosed) return Promise.reject(new Error(`${path} is closed`))
      filling ??= { entries: [], done: Promise.withResolvers() }
      filling.entries.push({ atUs, content, moved })
      const { promise } = filling.done
      pending.set(keyOf(atUs, content), { moved, kept: promise })
      working ??= Promise.resolve().then(work)
      return promise
    },
    async close(): Promise<void> {
      isClosed = true
      await working
      await file?.close()
    },
  }
}

function toRecord({ atUs, content, moved }: Entry): Buffer {
  const record = Buffer.alloc(RECORD_BYTES)
  record.writeBigUInt64LE(BigInt(atUs), 0)
  record.writeBigUInt64LE(content, 8)
  record.writeUInt32LE(moved, 16)
  record.writeUInt32LE(Bun.hash.crc32(record.subarray(0, 20)), 20)
  return record
}

function readEntries(path: string, log: Logger): Entry[] {
  let bytes: Buffer | undefined
  try {
    bytes = readIfThere(path)
    if (bytes === undefined) return []
    chmodSync(path, 0o600)
  } catch (cause) {
    throw new Error(`${path} cannot be read: ${(cause as Error).message}. Without it Stint starts, too: move it away`, {
      cause,
    })
  }
  const entries: Entry[] = []
  for (let at = HEADER.length; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const record = bytes.subarray(at, at + RECORD_BYTES)
    if (record.readUInt32LE(20) !== Bun.hash.crc32(record.subarray(0, 20))) continue
    entries.push({
      atUs: Number(record.readBigUInt64LE(0)),
      content: record.readBigUInt64LE(8),
      moved: record.readUInt32LE(16),
    })
  }
  const header = bytes.subarray(0, HEADER.length)
  const isWhole = header.equals(HEADER)
  if (!isWhole && entries.length === 0 && header.subarray(0, 7).equals(HEADER.subarray(0, 7)))
    throw new Error(`${path} was written by a newer Stint: start that one, or move the file away`)
  const lostBytes = bytes.length - HEADER.length - entries.length * RECORD_BYTES
  if (bytes.length > 0 && (!isWhole || lostBytes > 0))
    log.warn({ path, lost_bytes: lostBytes }, 'damaged parts of the list of moved stamps were skipped')
  return entries
}
