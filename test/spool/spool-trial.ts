// What the spool's tests share: opening on a disk of their choice, a log that can be looked at, reading all there is.
import pino from 'pino'
import type { Logger } from '../../src/log.ts'
import type { Disk } from '../../src/spool/disk.ts'
import { openSpool, type SpoolOptions } from '../../src/spool/open-spool.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { disposing } from '../support/disposing.ts'
import { until } from '../support/until.ts'
import type { FakeDisk } from './fake-disk.ts'

export const DIR = '/spool'

export interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [name: string]: unknown
}

export function createLogLines(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = []
  return { log: pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) }), lines }
}

/** Nothing warned of. */
export const quiet = (lines: readonly LogLine[]): boolean => lines.every(({ level }) => level < 40)

export async function openOn(disk: Disk, options: Partial<SpoolOptions> = {}): Promise<Spool & AsyncDisposable> {
  const { log } = createLogLines()
  const fixed = { dir: DIR, maxBytes: 2 ** 30, minFreeBytes: 0, segmentBytes: 512 }
  return disposing(await openSpool({ ...fixed, log, disk, ...options }))
}

/** Reads and advances until there is nothing more. */
export async function drain(spool: Spool, batchRecords = 7): Promise<string[]> {
  const all: string[] = []
  for (;;) {
    const { records, next } = await spool.read(batchRecords, 1 << 20)
    if (records.length === 0) return all
    all.push(...records)
    await spool.advance(next)
  }
}

/** Appends one group after the other, `sizes[i]` records each: `0`, `1`, … with some text behind. */
export async function appendGroups(spool: Spool, sizes: readonly number[], from = 0): Promise<string[]> {
  const records: string[] = []
  for (const size of sizes) {
    const group = Array.from({ length: size }, (_, i) => recordOf(from + records.length + i))
    await Promise.all(group.map((record, i) => spool.append(record, 1_000_000 + from + records.length + i)))
    records.push(...group)
  }
  return records
}

/** Records of different lengths, some with more than one byte per character. */
export const recordOf = (i: number): string => `${i} ${'é'.repeat(i % 5)}${'.'.repeat((i * 7) % 23)}`

/** The numbers of such records. */
export const numbersOf = (records: readonly string[]): number[] => records.map((record) => Number.parseInt(record, 10))

/** The segments of the spool on this disk, the oldest first. */
export const segmentsOf = (disk: FakeDisk): string[] =>
  [...disk.names.keys()].filter((path) => /^\/spool\/\d+\.segment$/.test(path)).sort()

/** Appends a record again and again until the disk takes it. */
export const untilTaken = (spool: Spool, record: string): Promise<void> =>
  until('the disk takes records again', () =>
    spool.append(record, 2).then(
      () => true,
      () => false,
    ),
  )
