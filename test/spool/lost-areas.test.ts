// What a disk loses: areas that cannot be read, files that somebody deleted, copied or swapped. All else is delivered, and what is missing is
// counted and named.
import { describe, expect, test } from 'bun:test'
import { readdirSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { systemDisk } from '../../src/spool/disk.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { errno, FakeDisk } from './fake-disk.ts'
import { appendGroups, createLogLines, DIR, drain, openOn, segmentsOf, untilTaken } from './spool-trial.ts'

const SEGMENT_BYTES = 16 * 1024
const GROUPS = Array.from({ length: 40 }, () => 50)

/** Reads on through faults, as a shipper does; gives up after `attempts` in a row. */
async function persist(spool: Spool, attempts = 20): Promise<string[]> {
  const all: string[] = []
  for (let failed = 0; failed < attempts; ) {
    try {
      const { records, next } = await spool.read(100, 1 << 20)
      if (records.length === 0 && spool.stats().records === 0) return all
      all.push(...records)
      await spool.advance(next)
      failed = 0
    } catch (error) {
      expect(error).toMatchObject({ name: 'SpoolError', code: 'disk_failed' })
      failed++
    }
  }
  return all
}

const isSubset = (some: readonly string[], all: readonly string[]) => {
  const rest = all[Symbol.iterator]()
  return some.every((record) => {
    for (let next = rest.next(); !next.done; next = rest.next()) if (next.value === record) return true
    return false
  })
}

describe('an unreadable area', () => {
  const fill = async (disk: FakeDisk) => {
    const { log, lines } = createLogLines()
    const spool = await openOn(disk, { segmentBytes: SEGMENT_BYTES, log })
    return { spool, lines, records: await appendGroups(spool, GROUPS) }
  }

  test.each([
    ['a page in the middle', 8192, 8193],
    ['the header', 0, 64],
    ['the last page', SEGMENT_BYTES - 1, SEGMENT_BYTES],
  ])('%s loses only its own records; they are counted, and the file is reported and kept', async (_, from, to) => {
    const disk = new FakeDisk()
    const { spool, lines, records } = await fill(disk)
    const path = segmentsOf(disk)[2]!
    disk.unreadable = [{ path, from, to }]
    const delivered = await persist(spool)
    expect(isSubset(delivered, records)).toBe(true)
    const lost = records.length - delivered.length
    expect(lost).toBeLessThan(4096 / 24)
    expect(spool.stats()).toMatchObject({ records: 0, damaged: lost })
    expect(lost === 0 || lines.some((line) => line.level === 50 && line.path === path)).toBe(true)
    expect(lost === 0 || disk.names.has(path.replace(DIR, `${DIR}/damaged`))).toBe(true)
  })

  test('in a header at the start loses only its page, and the start continues', async () => {
    const first = new FakeDisk()
    const { records } = await fill(first)
    for (const which of [0, 2, -1]) {
      const disk = first.clone()
      const path = segmentsOf(disk).at(which)!
      disk.unreadable = [{ path, from: 0, to: 64 }]
      const { log, lines } = createLogLines()
      const spool = await openOn(disk, { segmentBytes: SEGMENT_BYTES, log })
      const delivered = await persist(spool)
      expect(isSubset(delivered, records)).toBe(true)
      expect(records.length - delivered.length).toBeLessThan(4096 / 24)
      expect(spool.stats().damaged).toBe(records.length - delivered.length)
      expect(lines.some((line) => line.level === 50 && line.path === path)).toBe(true)
      const more = await appendGroups(spool, [5], 90_000)
      expect(await persist(spool)).toEqual(more)
    }
  })

  test('a whole file is abandoned if others are readable, and none if no file is', async () => {
    const disk = new FakeDisk()
    const { spool, records } = await fill(disk)
    disk.fault = ({ op }) => (op === 'read' ? errno('EIO') : undefined)
    expect(await persist(spool, 40)).toEqual([])
    expect(spool.stats()).toMatchObject({ records: records.length, damaged: 0 })
    const path = segmentsOf(disk)[1]!
    disk.fault = undefined
    disk.unreadable = [{ path, from: 0, to: SEGMENT_BYTES }]
    const delivered = await persist(spool)
    expect(isSubset(delivered, records)).toBe(true)
    expect(spool.stats()).toMatchObject({ records: 0, damaged: records.length - delivered.length })
    expect(delivered.length).toBeGreaterThan(records.length / 2)
  })
})

describe('a file deleted under the running process', () => {
  const openReal = async () => {
    const dir = tempDir('deleted')
    const { log, lines } = createLogLines()
    const spool = await openOn(systemDisk, { dir, segmentBytes: SEGMENT_BYTES, log })
    return { dir, spool, lines, records: await appendGroups(spool, GROUPS) }
  }
  const segmentsIn = (dir: string) =>
    readdirSync(dir)
      .filter((name) => name.endsWith('.segment'))
      .sort()

  test('a segment is counted once, and the rest is delivered', async () => {
    const { dir, spool, records } = await openReal()
    unlinkSync(join(dir, segmentsIn(dir)[2]!))
    await until('counted', () => spool.stats().damaged > 0)
    const { damaged } = spool.stats()
    const delivered = await persist(spool)
    expect(isSubset(delivered, records)).toBe(true)
    expect(delivered.length).toBe(records.length - damaged)
    expect(spool.stats().damaged).toBe(damaged)
    await spool.close()
  })

  test('the current segment: no append to it is acknowledged', async () => {
    const { dir, spool } = await openReal()
    await persist(spool)
    for (const name of segmentsIn(dir)) unlinkSync(join(dir, name))
    const refused = spool.append('into nothing', 1)
    await expect(refused).rejects.toMatchObject({ code: 'disk_failed' })
    await untilTaken(spool, 'kept')
    expect(await persist(spool)).toEqual(['kept'])
    await spool.close()
  })

  test('the directory: appends fail, and the spool reports it missing', async () => {
    const { dir, spool, lines } = await openReal()
    rmSync(dir, { recursive: true })
    await expect(spool.append('into nothing', 1)).rejects.toMatchObject({ code: 'disk_failed' })
    await until('noticed', () => spool.isGone())
    await expect(spool.append('into nothing', 1)).rejects.toMatchObject({ code: 'disk_failed' })
    expect(lines.some(({ msg }) => msg.includes('directory of the spool was deleted'))).toBe(true)
    await spool.close()
  })
})

describe('the last segment after a kill', () => {
  test.each<[string, (disk: FakeDisk, path: string) => void]>([
    ['deleted', (disk, path) => disk.names.delete(path)],
    ['cut', (disk, path) => disk.put(path, disk.contents(path).subarray(0, 1000))],
  ])('%s: all of its records are counted', async (_, damage) => {
    const disk = new FakeDisk()
    await using spool = await openOn(disk, { segmentBytes: SEGMENT_BYTES })
    const records = await appendGroups(spool, GROUPS)
    await until(
      'the loss is reported exactly',
      async () => {
        const killed = disk.clone()
        damage(killed, segmentsOf(killed).findLast((path) => killed.contents(path).some((byte) => byte !== 0))!)
        const next = await openOn(killed, { segmentBytes: SEGMENT_BYTES })
        const delivered = await persist(next)
        const lost = records.length - delivered.length
        expect(lost).toBeGreaterThan(50)
        const { damaged } = next.stats()
        await next.close()
        return damaged === lost
      },
      5_000,
    )
  })
})

describe('a segment with a wrong name', () => {
  const stopped = async () => {
    const disk = new FakeDisk()
    const spool = await openOn(disk, { segmentBytes: SEGMENT_BYTES })
    const records = await appendGroups(spool, GROUPS)
    await spool.close()
    return { disk, records }
  }
  const reopened = async (disk: FakeDisk) => {
    const { log, lines } = createLogLines()
    const spool = await openOn(disk, { segmentBytes: SEGMENT_BYTES, log })
    return { spool, lines }
  }

  test('a copy is set aside and reported, and everything is delivered', async () => {
    const { disk, records } = await stopped()
    const [first] = segmentsOf(disk)
    const copy = `${DIR}/0000000000000099.segment`
    disk.put(copy, disk.contents(first!))
    const { spool, lines } = await reopened(disk)
    expect(lines.filter(({ level, path }) => level === 50 && path === copy)).toHaveLength(1)
    expect(await drain(spool, 1000)).toEqual(records)
    expect(spool.stats().damaged).toBe(0)
    expect(disk.names.has(copy.replace(DIR, `${DIR}/damaged`))).toBe(true)
  })

  test('two that are swapped are set aside; their records are counted, the others delivered', async () => {
    const { disk, records } = await stopped()
    const [, second, third] = segmentsOf(disk)
    const [a, b] = [disk.contents(second!), disk.contents(third!)]
    disk.put(second!, b)
    disk.put(third!, a)
    const { spool, lines } = await reopened(disk)
    expect(lines.filter(({ level }) => level === 50)).toHaveLength(2)
    const delivered = await persist(spool)
    expect(isSubset(delivered, records)).toBe(true)
    expect(spool.stats()).toMatchObject({ records: 0, damaged: records.length - delivered.length })
    expect(delivered.length).toBeLessThan(records.length)
  })
})

test('the loss of the last segment is also counted after a kill', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk, { segmentBytes: SEGMENT_BYTES })
  await appendGroups(spool, GROUPS)
  await spool.read(1, 1) // after the position file has noted the last segment
  const killed = disk.clone()
  const used = segmentsOf(killed).filter((path) => killed.contents(path).some((byte) => byte !== 0))
  await killed.unlink(used.at(-1)!)
  const again = await openOn(killed, { segmentBytes: SEGMENT_BYTES })
  await persist(again)
  expect(again.stats().damaged).toBeGreaterThan(0)
})

test('a last segment that cannot be opened counts as one lost record at least', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  await spool.append('lost', 1)
  const killed = disk.clone()
  const [path] = segmentsOf(killed)
  killed.fault = (call) => (call.op === 'open' && call.path === path ? errno('EIO') : undefined)
  const again = await openOn(killed)
  await again.append('kept', 2)
  expect(await persist(again)).toEqual(['kept'])
  expect(again.stats().damaged).toBeGreaterThan(0)
})

describe('an append that failed on disk', () => {
  test('is absent after a restart if its removal was durable', async () => {
    const disk = new FakeDisk()
    const spool = await openOn(disk)
    await spool.append('before', 1)
    let failed = false
    disk.fault = ({ op, path }) => {
      if (op !== 'datasync' || failed || !path.endsWith('.segment')) return undefined
      failed = true
      return errno('EIO')
    }
    await expect(spool.append('refused', 2)).rejects.toMatchObject({ code: 'disk_failed', mayBeKept: false })
    disk.fault = undefined
    expect(await drain(await openOn(disk.clone()))).toEqual(['before'])
  })

  test('reports that it may be kept if its removal failed as well', async () => {
    const disk = new FakeDisk()
    const spool = await openOn(disk)
    await spool.append('before', 1)
    disk.fault = ({ op }) => (op === 'datasync' || op === 'truncate' ? errno('EIO') : undefined)
    await expect(spool.append('refused', 2)).rejects.toMatchObject({ code: 'disk_failed', mayBeKept: true })
    disk.fault = undefined
    expect(await drain(await openOn(disk.clone()))).toEqual(['before', 'refused']) // which is why it says so
  })
})
