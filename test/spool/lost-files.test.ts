// Files that the disk cannot read, or that somebody deleted: delivery waits in front of them and names them, events are
// accepted meanwhile, and a start without such a file delivers the rest and counts what was in it.
import { describe, expect, test } from 'bun:test'
import { readdirSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { systemDisk } from '../../src/spool/disk.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { errno, FakeDisk } from './fake-disk.ts'
import { appendGroups, createLogLines, drain, openOn, segmentsOf, untilTaken } from './spool-trial.ts'

const SEGMENT_BYTES = 16 * 1024
const GROUPS = Array.from({ length: 40 }, () => 50)

describe('a segment that the disk cannot read', () => {
  const fill = async () => {
    const disk = new FakeDisk()
    const { log, lines } = createLogLines()
    const spool = await openOn(disk, { segmentBytes: SEGMENT_BYTES, log })
    return { disk, spool, lines, records: await appendGroups(spool, GROUPS) }
  }

  test.each([
    ['a page in the middle', 8192, 8193],
    ['its first page', 0, 65],
  ])('%s: delivery waits in front of it, names it, and resumes by itself', async (_, from, to) => {
    const { disk, spool, lines, records } = await fill()
    const path = segmentsOf(disk)[2]!
    disk.unreadable = [{ path, from, to }]
    const delivered: string[] = []
    const deliver = async () => {
      for (;;) {
        const { records, next } = await spool.read(100, 1 << 20)
        if (records.length === 0) return
        delivered.push(...records)
        await spool.advance(next)
      }
    }
    for (let again = 0; again < 20; again++) {
      const error = await deliver().catch((error) => error)
      expect(error).toMatchObject({ name: 'SpoolError', code: 'disk_failed' })
      expect(error.cause.message).toContain(`the segment ${path} cannot be read: EIO`)
    }
    expect(delivered).toEqual(records.slice(0, delivered.length))
    expect(delivered.length).toBeGreaterThan(100)
    expect(spool.stats()).toMatchObject({ unreadable: path, damaged: 0, records: records.length - delivered.length })
    expect(lines.filter((line) => line.level === 50 && line.path === path)).toHaveLength(1)
    expect(spool.refusal()).toBeUndefined()
    const more = await appendGroups(spool, [5], 90_000)
    disk.unreadable = []
    await deliver()
    expect(delivered).toEqual([...records, ...more])
    expect(spool.stats()).toMatchObject({ records: 0, damaged: 0, unreadable: undefined })
  })

  test('refuses a start; without the file all others are delivered, and its records are counted', async () => {
    const { disk, spool, records } = await fill()
    await spool.close()
    for (const which of [0, 2, -1]) {
      const broken = disk.clone()
      const isUsed = (path: string) => disk.contents(path).some((byte) => byte !== 0)
      const path = segmentsOf(broken).filter(isUsed).at(which)!
      broken.unreadable = [{ path, from: 0, to: 64 }]
      await expect(openOn(broken)).rejects.toThrow(`the segment ${path} cannot be read: EIO`)
      await broken.rename(path, '/elsewhere/a-segment')
      const { log, lines } = createLogLines()
      const again = await openOn(broken, { segmentBytes: SEGMENT_BYTES, log })
      const more = await appendGroups(again, [5], 90_000)
      const delivered = await drain(again, 100)
      const rest = delivered.slice(0, -more.length)
      expect(delivered.slice(-more.length)).toEqual(more)
      expect(rest).toEqual(records.filter((record) => rest.includes(record)))
      expect(rest.length).toBeGreaterThan(records.length / 2)
      expect(again.stats().damaged).toBe(records.length - rest.length)
      expect(lines.filter(({ level }) => level === 50)).toHaveLength(1)
    }
  })

  test('refuses a start also in the rest of the last segment', async () => {
    const { disk } = await fill()
    const path = segmentsOf(disk).findLast((path) => disk.contents(path).some((byte) => byte !== 0))!
    const killed = disk.clone()
    killed.unreadable = [{ path, from: 4096, to: 4097 }]
    await expect(openOn(killed)).rejects.toThrow(`the segment ${path} cannot be read: EIO`)
  })

  test('a last segment that cannot be opened refuses the start', async () => {
    const disk = new FakeDisk()
    await (await openOn(disk)).append('kept', 1)
    const killed = disk.clone()
    const [path] = segmentsOf(killed)
    killed.fault = (call) => (call.op === 'open' && call.path === path ? errno('EIO') : undefined)
    await expect(openOn(killed)).rejects.toThrow(`the segment ${path} cannot be read: EIO`)
    killed.fault = undefined
    expect(await drain(await openOn(killed))).toEqual(['kept'])
  })
})

describe('a file deleted under the running process', () => {
  const openReal = async () => {
    const dir = tempDir('deleted')
    const { log, lines } = createLogLines()
    const spool = await openOn(systemDisk, { dir, segmentBytes: SEGMENT_BYTES, lookEveryMs: 5, log })
    return { dir, spool, lines, records: await appendGroups(spool, GROUPS) }
  }
  const segmentsIn = (dir: string) =>
    readdirSync(dir)
      .filter((name) => name.endsWith('.segment'))
      .sort()

  test('a segment: delivery waits; the next start delivers the rest and counts what was in it', async () => {
    const { dir, spool, records } = await openReal()
    const path = join(dir, segmentsIn(dir)[2]!)
    unlinkSync(path)
    const before: string[] = []
    await expect(
      (async () => {
        for (;;) {
          const { records, next } = await spool.read(100, 1 << 20)
          before.push(...records)
          await spool.advance(next)
        }
      })(),
    ).rejects.toMatchObject({ code: 'disk_failed' })
    expect(spool.stats().unreadable).toBe(path)
    await spool.close()
    const again = await openOn(systemDisk, { dir, segmentBytes: SEGMENT_BYTES })
    const delivered = [...before, ...(await drain(again, 100))]
    expect(delivered).toEqual(records.filter((record) => delivered.includes(record)))
    expect(delivered.length).toBeLessThan(records.length)
    expect(again.stats().damaged).toBe(records.length - delivered.length)
    await again.close()
  })

  test('the current segment: no append to it is acknowledged', async () => {
    const { dir, spool } = await openReal()
    await drain(spool, 100)
    for (const name of segmentsIn(dir)) unlinkSync(join(dir, name))
    const refused = spool.append('into nothing', 1)
    await expect(refused).rejects.toMatchObject({ code: 'disk_failed' })
    await untilTaken(spool, 'kept')
    expect(await drain(spool)).toEqual(['kept'])
    await spool.close()
  })

  test('the directory: appends fail, and the spool reports it missing', async () => {
    const { dir, spool, lines } = await openReal()
    rmSync(dir, { recursive: true })
    await expect(spool.append('into nothing', 1)).rejects.toMatchObject({ code: 'disk_failed' })
    await until('noticed', () => spool.fault() === 'spool_missing')
    await expect(spool.append('into nothing', 1)).rejects.toMatchObject({ code: 'disk_failed' })
    expect(lines.some(({ msg }) => msg.includes('directory of the spool was deleted'))).toBe(true)
    await spool.close()
  })
})
