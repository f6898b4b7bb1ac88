// The spool whose files lie in golden/format-1: written once, read by every later version. `golden.test.ts` says what is in it.
import type { Disk } from '../../src/spool/disk.ts'
import { openOn } from './spool-trial.ts'

export const GOLDEN_RECORDS = Array.from(
  { length: 30 },
  (_, i) => `["s",${1_790_000_000_000_000 + i},0,"ü${'x'.repeat(i)}"]`,
)
export const GOLDEN_DELIVERED = 4
export const GOLDEN_SEGMENT_BYTES = 1024

/** 30 records over three segments, four of them delivered, closed cleanly. */
export async function writeGolden(disk: Disk): Promise<void> {
  await using spool = await openOn(disk, { segmentBytes: GOLDEN_SEGMENT_BYTES })
  for (const [i, record] of GOLDEN_RECORDS.entries()) await spool.append(record, 1_790_000_000_000_000 + i)
  await spool.advance((await spool.read(GOLDEN_DELIVERED, 1 << 20)).next)
}
