// Bytes flipped and cut at the offsets of a small log, the segments in turn: what is good is delivered, in order, and nothing that was never written.
import { expect, test } from 'bun:test'
import { FakeDisk } from './fake-disk.ts'
import { appendGroups, createLogLines, DIR, drain, openOn, quiet, segmentsOf } from './spool-trial.ts'

const SEGMENTS = [1, 2, 3].map((index) => `${DIR}/${String(index).padStart(16, '0')}.segment`)

/** Three segments of some ten records each; closed cleanly unless `killed`. */
async function smallLog({ killed = false } = {}): Promise<{ disk: FakeDisk; records: string[] }> {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  const records = await appendGroups(spool, [1, 3, 5, 2, 7, 1, 1, 4])
  if (killed) return { disk: disk.clone(), records }
  await spool.close()
  return { disk, records }
}

async function reopen(
  disk: FakeDisk,
): Promise<{ delivered: string[]; damaged: number; warned: boolean; appended: boolean }> {
  const { log, lines } = createLogLines()
  const spool = await openOn(disk, { log })
  const delivered = await drain(spool)
  const { damaged } = spool.stats()
  await spool.append('afterwards', 2_000_000)
  const appended = (await drain(spool)).join() === 'afterwards'
  await spool.close()
  return { delivered, damaged, warned: !quiet(lines), appended }
}

/** The good ones are all there in order; at most `lost` are not. */
function expectAllBut(lost: number, delivered: string[], records: string[], what: string): void {
  const missing = records.filter((record) => !delivered.includes(record))
  if (missing.length > lost) throw new Error(`${what}: ${missing.length} records missing: ${missing}`)
  const expected = records.filter((record) => !missing.includes(record))
  expect(delivered, what).toEqual(expected)
}

/** Why a start on this disk is refused; with this file moved away it succeeds, and what was in it is counted. */
async function expectRefused(disk: FakeDisk, path: string, records: readonly string[], what: string): Promise<void> {
  await expect(openOn(disk), what).rejects.toThrow(`the segment ${path} cannot be read`)
  disk.names.delete(path)
  const { delivered, damaged, appended } = await reopen(disk)
  expect(delivered, what).toEqual(records.filter((record) => delivered.includes(record)))
  expect(delivered.length, what).toBeGreaterThan(5)
  expect(damaged, what).toBe(records.length - delivered.length)
  expect(appended, what).toBe(true)
}

/** Of a header; zeros follow to 64. */
const HEADER_BYTES = 44
const FLIPS = [0x01, 0x80, 0xff]
/** Segment and the first offset at which it is damaged: together they meet every offset. */
const PARTS = SEGMENTS.map((path, i) => [path, i] as const)
const STEP = PARTS.length
/** One of them at each place. */
const flipAt = (at: number): number => FLIPS[Math.floor(at / STEP) % FLIPS.length]!

test('the small log has three segments and every record in it', async () => {
  const { disk, records } = await smallLog()
  for (const path of SEGMENTS) expect(disk.names.has(path)).toBe(true)
  expect((await reopen(disk.clone())).delivered).toEqual(records)
})

test.each(PARTS)(
  'a flipped byte among the records of %s loses at most one, which is counted, and the file is kept',
  async (path, first) => {
    const { disk, records } = await smallLog()
    const used = disk.contents(path).findLastIndex((byte) => byte !== 0)
    for (let at = 64 + first; at <= used; at += STEP) {
      const damagedDisk = disk.clone()
      damagedDisk.contents(path)[at]! ^= flipAt(at)
      const { delivered, damaged, warned, appended } = await reopen(damagedDisk)
      const what = `byte ${at} ^ ${flipAt(at)}`
      expectAllBut(1, delivered, records, what)
      expect(damaged, what).toBe(records.length - delivered.length)
      expect(appended, what).toBe(true)
      if (delivered.length < records.length) {
        expect(warned, what).toBe(true)
        expect(damagedDisk.names.has(path.replace(DIR, `${DIR}/damaged`)), what).toBe(true)
        expect(damagedDisk.names.has(path), what).toBe(false)
      }
    }
  },
)

test.each(PARTS)(
  'a flipped byte in the header of %s refuses the start, which succeeds without it',
  async (path, first) => {
    const { disk, records } = await smallLog()
    for (let at = first; at < HEADER_BYTES; at += STEP) {
      const damagedDisk = disk.clone()
      damagedDisk.contents(path)[at]! ^= 0x10
      await expectRefused(damagedDisk, path, records, `byte ${at}`)
    }
  },
)

test('a flipped byte in the padding after a header is harmless', async () => {
  const { disk, records } = await smallLog()
  for (const at of [HEADER_BYTES, 63]) {
    const copy = disk.clone()
    copy.contents(SEGMENTS[1]!)[at]! ^= 0xff
    expect((await reopen(copy)).delivered).toEqual(records)
  }
})

test.each(PARTS)(
  '%s cut at any offset: everything before the cut and in the other segments is delivered',
  async (path, first) => {
    const { disk, records } = await smallLog()
    const whole = disk.contents(path)
    const others = await reopen(withEmpty(disk, path))
    for (let size = first; size < whole.length; size += STEP) {
      const cut = disk.clone()
      cut.put(path, whole.slice(0, size))
      if (size > 0 && size < HEADER_BYTES) {
        await expectRefused(cut, path, records, `cut at ${size}`)
        continue
      }
      const { delivered, damaged, appended } = await reopen(cut)
      expect(delivered, `cut at ${size}`).toEqual(records.filter((record) => delivered.includes(record)))
      expect(damaged, `cut at ${size}`).toBe(records.length - delivered.length)
      expect(appended).toBe(true)
      for (const record of others.delivered) expect(delivered).toContain(record)
    }
  },
)

test('bytes removed from or inserted into a segment lose only the record they hit', async () => {
  const { disk, records } = await smallLog()
  const whole = disk.contents(SEGMENTS[1]!)
  for (let at = 64; at < 300; at += 7) {
    for (const change of [
      [whole.slice(0, at), whole.slice(at + 5)],
      [whole.slice(0, at), Buffer.from('hello'), whole.slice(at)],
    ]) {
      const shifted = disk.clone()
      shifted.put(SEGMENTS[1]!, Buffer.concat(change))
      const { delivered, damaged } = await reopen(shifted)
      expectAllBut(change.length === 2 ? 2 : 1, delivered, records, `shift at ${at}`)
      expect(damaged).toBe(records.length - delivered.length)
    }
  }
})

test('bytes missing before the position lose no record after it', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk, { segmentBytes: 8192 })
  const records = await appendGroups(spool, [20])
  await spool.advance((await spool.read(6, 1 << 20)).next)
  await spool.close()
  const path = SEGMENTS[0]!
  const whole = disk.contents(path)
  for (const count of [1, 5, 30, 100]) {
    const shifted = disk.clone()
    shifted.put(path, Buffer.concat([whole.slice(0, 70), whole.slice(70 + count)]))
    const { delivered, damaged } = await reopen(shifted)
    expect(delivered).toEqual(records.slice(6))
    expect(damaged).toBe(0)
  }
})

test('a zeroed range loses only the records it covers', async () => {
  const { disk, records } = await smallLog()
  for (let at = 64; at < 480; at += 16) {
    const zeroed = disk.clone()
    zeroed.contents(SEGMENTS[1]!).fill(0, at, at + 32)
    const { delivered, damaged } = await reopen(zeroed)
    expectAllBut(3, delivered, records, `zeros at ${at}`)
    expect(damaged).toBe(records.length - delivered.length)
  }
})

test.each(SEGMENTS)('%s is missing: the others are delivered and the gap is counted', async (path) => {
  const { disk, records } = await smallLog()
  const { delivered: without } = await reopen(withEmpty(disk, path))
  disk.names.delete(path)
  const { delivered, damaged, warned, appended } = await reopen(disk)
  expect(delivered).toEqual(without)
  expect(delivered.length).toBeGreaterThan(5)
  expect(damaged).toBe(records.length - delivered.length)
  expect(warned).toBe(true)
  expect(appended).toBe(true)
})

test('with all segments missing, the loss is counted and new records are delivered', async () => {
  const { disk, records } = await smallLog()
  for (const path of SEGMENTS) disk.names.delete(path)
  expect((await openOn(disk.clone())).floorUs).toBe(1_000_000 + records.length - 1)
  const { delivered, damaged, appended } = await reopen(disk)
  expect(delivered).toEqual([])
  expect(damaged).toBe(records.length)
  expect(appended).toBe(true)
})

test('after all segments were lost, records of the next process survive a further restart', async () => {
  const { disk } = await smallLog()
  await drain(await openOn(disk)) // the position is in the last of them
  for (const path of segmentsOf(disk)) disk.names.delete(path)
  const spool = await openOn(disk)
  await spool.append('new', 1)
  expect(await drain(await openOn(disk.clone()))).toEqual(['new'])
})

test('a segment is taken for blank, and removed, only if all its bytes are zero', async () => {
  const { disk, records } = await smallLog()
  const blank = `${DIR}/0000000000000077.segment`
  disk.put(blank, new Uint8Array(9000))
  const unlike = disk.clone()
  unlike.contents(blank)[8999] = 1
  await expect(openOn(unlike)).rejects.toThrow(`the segment ${blank} cannot be read: its header is damaged`)
  expect(unlike.contents(blank)[8999]).toBe(1)
  expect((await reopen(disk)).delivered).toEqual(records)
  expect(disk.names.has(blank)).toBe(false)
})

test('a segment under the name of another refuses the start', async () => {
  const { disk, records } = await smallLog()
  const [first, second, third] = SEGMENTS as [string, string, string]
  const [a, b] = [disk.contents(second), disk.contents(third)]
  disk.put(second, b)
  disk.put(third, a)
  await expect(openOn(disk)).rejects.toThrow(`${second} cannot be read: it was written as 0000000000000003.segment`)
  disk.put(second, a)
  disk.put(third, b)
  const copy = `${DIR}/0000000000000099.segment`
  disk.put(copy, disk.contents(first))
  await expect(openOn(disk)).rejects.toThrow(`${copy} cannot be read: it was written as 0000000000000001.segment`)
  disk.names.delete(copy)
  expect((await reopen(disk)).delivered).toEqual(records)
})

test('after a kill a torn last record is cut without a count, a damaged one is counted', async () => {
  const { disk, records } = await smallLog({ killed: true })
  const path = SEGMENTS.filter((name) => disk.names.has(name)).at(-1)!
  const used = disk.contents(path).findLastIndex((byte) => byte !== 0)
  const last = records.at(-1)!
  for (let torn = 1; torn < 24 + Buffer.byteLength(last); torn++) {
    const copy = disk.clone()
    copy.contents(path).fill(0, used + 1 - torn)
    const { delivered, damaged } = await reopen(copy)
    expect(delivered, `torn by ${torn}`).toEqual(records.slice(0, -1))
    expect(damaged, `torn by ${torn}`).toBe(0)
  }
  disk.contents(path)[used - 2]! ^= 1
  const { delivered, damaged } = await reopen(disk)
  expect(delivered).toEqual(records.slice(0, -1))
  expect(damaged).toBe(1)
})

test('a position file with a flipped byte, or cut, loses nothing, and repeated records are in order', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  const records = await appendGroups(spool, [1, 3, 5, 2, 7])
  for (const count of [4, 5]) await spool.advance((await spool.read(count, 1 << 20)).next)
  const path = `${DIR}/position`
  const bytes = disk.clone().contents(path)
  const oldest = 9
  const variants = [0, 4096].flatMap((slot) =>
    Array.from({ length: 34 }, (_, i) => 2 * i).map((i) => bytes.with(slot + i, bytes[slot + i]! ^ flipAt(i))),
  )
  for (let size = 0; size < bytes.length; size += size < 80 || (size > 4080 && size < 4180) ? 3 : 97)
    variants.push(bytes.slice(0, size))
  for (const variant of variants) {
    const copy = disk.clone()
    copy.put(path, variant)
    const { delivered, damaged, appended, warned } = await reopen(copy)
    expect(records.slice(-delivered.length)).toEqual(delivered)
    expect(delivered.length).toBeGreaterThanOrEqual(records.length - oldest)
    expect(damaged).toBe(0)
    expect(appended).toBe(true)
    if (delivered.length > records.length - oldest) expect(warned).toBe(true)
  }
  const both = disk.clone()
  both.contents(path).fill(0x55)
  const { delivered, warned } = await reopen(both)
  expect(delivered).toEqual(records)
  expect(warned).toBe(true)
  const gone = disk.clone()
  gone.names.delete(path)
  expect((await reopen(gone)).delivered).toEqual(records)
})

test('damage under the running process is skipped and counted once however often it is read', async () => {
  const { log, lines } = createLogLines()
  const disk = new FakeDisk()
  const spool = await openOn(disk, { segmentBytes: 8192, log })
  const records = await appendGroups(spool, [10])
  disk.contents(SEGMENTS[0]!)[64 + 24 + Buffer.byteLength(records[0]!) + 30]! ^= 0xff
  const batch = await spool.read(100, 1 << 20)
  expect(batch.damaged).toBe(1)
  expect(batch.records).toEqual(records.filter((_, i) => i !== 1))
  await spool.read(100, 1 << 20)
  expect(spool.stats().damaged).toBe(1)
  expect(lines.filter(({ level }) => level >= 40)).toHaveLength(1)
  expect(lines.find(({ level }) => level >= 40)).toMatchObject({ segment: 1, offset: 64 + 24 + 2, records: 1 })
  await spool.advance(batch.next)
  expect(spool.stats().records).toBe(0)
})

test('a spool with only damaged records is skipped without advancing', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk, { segmentBytes: 8192 })
  await appendGroups(spool, [3])
  disk.contents(SEGMENTS[0]!).fill(0x77, 64, 300)
  expect(await spool.read(100, 1 << 20)).toMatchObject({ records: [], damaged: 3 })
  expect(spool.stats()).toMatchObject({ records: 0, damaged: 3 })
  await spool.append('next', 9)
  expect(await drain(spool)).toEqual(['next'])
})

test('a single read that returns garbage loses no good record', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk, { segmentBytes: 8192 })
  const records = await appendGroups(spool, [10])
  let reads = 0
  disk.afterRead = (into) => {
    if (reads++ === 0) into.fill(0xaa)
  }
  expect(await drain(spool)).toEqual(records)
  expect(reads).toBeGreaterThan(1)
  expect(spool.stats().damaged).toBe(0)
})

function withEmpty(disk: FakeDisk, path: string): FakeDisk {
  const copy = disk.clone()
  copy.put(path, new Uint8Array(copy.contents(path).length))
  return copy
}
