// The second reader of a spool: its own position, segments that stay for it, and nothing that the first one notices.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Follower, Position, Spool } from '../../src/spool/spool.ts'
import { until } from '../support/until.ts'
import { errno, FakeDisk } from './fake-disk.ts'
import { appendGroups, DIR, drain, numbersOf, openOn, segmentsOf, untilTaken } from './spool-trial.ts'

const all = () => true
const open = (disk: FakeDisk, maxBytes = 2 ** 30) => openOn(disk, { isFollowed: true, maxBytes })

/** Reads until there is nothing more. */
async function readAll(follower: Follower, batchRecords = 7): Promise<string[]> {
  const found: string[] = []
  for (;;) {
    const { seq } = follower.position
    found.push(...(await follower.read(batchRecords, 1 << 20)).records)
    if (follower.position.seq === seq) return found
  }
}

const keptOn = (disk: FakeDisk) => segmentsOf(disk).filter((path) => disk.contents(path).some((byte) => byte !== 0))

test('reads every record with its arrival, whatever the first reader has delivered', async () => {
  const spool = await open(new FakeDisk())
  const follower = spool.follow(undefined, all)
  const records = await appendGroups(spool, [1, 30, 2])
  expect(await drain(spool)).toEqual(records)
  const first = await follower.read(10, 1 << 20)
  expect(first.records).toEqual(records.slice(0, 10))
  expect(first.arrivedUs).toEqual(Array.from({ length: 10 }, (_, i) => 1_000_000 + i))
  expect(await readAll(follower)).toEqual(records.slice(10))
  for (const [i, next] of first.nexts.entries()) {
    const behind = spool.follow(next, all)
    expect(behind.skipped()).toBe(false)
    expect((await behind.read(1, 1 << 20)).records).toEqual([records[i + 1]!])
  }
})

test('records that are not wanted are passed by their first bytes, and count towards the size of a batch', async () => {
  const spool = await open(new FakeDisk())
  const heads: string[] = []
  const follower = spool.follow(undefined, (head) => heads.push(head.toString()) > 0 && head[0] === 0x31)
  const records = await appendGroups(spool, [40])
  const batch = await follower.read(25, 1 << 20)
  expect(batch.records).toEqual(records.slice(0, 25).filter((record) => record.startsWith('1')))
  expect(batch.arrivedUs).toHaveLength(batch.records.length)
  expect(follower.position.seq).toBe(26)
  await spool.append('é'.repeat(1000), 1)
  await readAll(follower)
  expect(heads).toHaveLength(41)
  expect(Buffer.byteLength(heads.at(-1)!)).toBe(96)
})

test('a read ends before the sequence that it is given, whatever is appended meanwhile', async () => {
  const spool = await open(new FakeDisk())
  const follower = spool.follow(undefined, all)
  const records = await appendGroups(spool, [30, 30])
  expect((await follower.read(100, 1 << 20, 46)).records).toEqual(records.slice(0, 45))
  expect((await follower.read(100, 1 << 20, 46)).records).toEqual([])
  expect(await readAll(follower)).toEqual(records.slice(45))
})

describe('segments', () => {
  test('stay until both readers have passed them', async () => {
    const disk = new FakeDisk()
    const spool = await open(disk)
    const follower = spool.follow(undefined, all)
    await appendGroups(spool, [60, 60])
    const before = keptOn(disk).length
    expect(before).toBeGreaterThan(4)
    await drain(spool)
    expect(keptOn(disk)).toHaveLength(before)
    await readAll(follower)
    expect(keptOn(disk)).toHaveLength(before)
    await follower.keep(follower.position)
    expect(keptOn(disk)).toHaveLength(1)
    await appendGroups(spool, [60], 120) // the follower is ahead now
    await readAll(follower)
    await follower.keep(follower.position)
    expect(keptOn(disk).length).toBeGreaterThan(2)
    expect(numbersOf(await drain(spool))).toHaveLength(60)
    expect(keptOn(disk)).toHaveLength(1)
  })

  test('stay over a start until the follower says where it is', async () => {
    const disk = new FakeDisk()
    const spool = await open(disk)
    const follower = spool.follow(undefined, all)
    const records = await appendGroups(spool, [60, 60])
    await follower.read(20, 1 << 20)
    const kept = follower.position
    await follower.keep(kept)
    await drain(spool)
    const again = await open(disk.clone())
    await appendGroups(again, [20], 120)
    await drain(again)
    const second = again.follow(kept, all)
    expect(second.skipped()).toBe(false)
    expect((await readAll(second, 100)).slice(0, -20)).toEqual(records.slice(20))
    await second.keep(second.position)
    expect(await readAll(second)).toEqual([])
  })

  test('that only the follower needs count neither as held nor towards a refusal', async () => {
    const spool = await open(new FakeDisk(), 8192)
    const follower = spool.follow(undefined, all)
    for (let round = 0; round < 5; round++) {
      await appendGroups(spool, [100], 100 * round)
      expect(spool.refusal()).toBeUndefined()
      await drain(spool, 1000)
      expect(spool.stats()).toMatchObject({ records: 0, bytes: 0 })
    }
    expect(await readAll(follower, 100)).toHaveLength(500)
  })

  test.each([
    ['more than is free on the disk', { free: 6000, least: 100 }],
    ['on a disk that is low', { free: 60_000, least: 80_000 }],
  ])('%s go: it continues where the first reader is and says so, also after a start', async (_, { free, least }) => {
    const disk = new FakeDisk()
    const spool = await openOn(disk, { isFollowed: true, minFreeBytes: least, lookEveryMs: 5 })
    const follower = spool.follow(undefined, all)
    const kept = follower.position
    await appendGroups(spool, Array(40).fill(10))
    disk.free = free
    await drain(spool, 1000)
    await until('removed', () => keptOn(disk).length < 2, 5_000)
    expect(spool.refusal()).toBe(free < least ? 'disk_low' : undefined)
    disk.free = Number.POSITIVE_INFINITY
    await untilTaken(spool, '400')
    expect(await readAll(follower)).toEqual(['400'])
    expect(follower.skipped()).toBe(true)
    expect(follower.skipped()).toBe(false)
    const again = (await open(disk.clone())).follow(kept, all)
    expect(again.skipped()).toBe(true)
    expect(await readAll(again)).toEqual(['400'])
  })

  test('of less than is free on the disk stay', async () => {
    const disk = new FakeDisk()
    const spool = await openOn(disk, { isFollowed: true, lookEveryMs: 5 })
    const follower = spool.follow(undefined, all)
    const records = await appendGroups(spool, Array(40).fill(10))
    disk.free = 100_000
    await drain(spool, 1000)
    const { looks } = disk
    await until('looked at', () => disk.looks > looks + 1, 5_000)
    expect(spool.refusal()).toBeUndefined()
    expect(await readAll(follower)).toEqual(records)
    expect(follower.skipped()).toBe(false)
  })
})

describe('a position outside of the log begins at the position of the first reader', () => {
  /** 120 records; the first reader has delivered 100 of them, the follower has kept the end of what it read. */
  const written = async (read: number) => {
    const disk = new FakeDisk()
    const spool = await open(disk)
    const follower = spool.follow(undefined, all)
    const records = await appendGroups(spool, [60, 60])
    await spool.advance((await spool.read(100, 1 << 20)).next)
    await follower.read(read, 1 << 20)
    return { disk, spool, follower, records }
  }
  const follow = (spool: Spool, from: Position | undefined) => {
    const follower = spool.follow(from, all)
    return { skipped: follower.skipped(), seq: follower.position.seq }
  }

  test('ahead of it, as when an older spool was restored', async () => {
    const { disk, spool, follower } = await written(120)
    const older = disk.clone()
    await appendGroups(spool, [5], 120)
    await readAll(follower)
    expect(follow(await open(older), follower.position)).toEqual({ skipped: true, seq: 101 })
  })

  test('in a directory that was deleted', async () => {
    const { follower } = await written(50)
    expect(follow(await open(new FakeDisk()), follower.position)).toEqual({ skipped: true, seq: 1 })
  })

  test('before it, as when the database of the positions was restored', async () => {
    const { disk, spool, follower } = await written(20)
    const older = follower.position
    await readAll(follower)
    await follower.keep(follower.position)
    await spool.close()
    expect(follow(await open(disk), older)).toEqual({ skipped: true, seq: 101 })
  })

  test('in front of a segment that was moved away', async () => {
    const { disk, follower } = await written(20)
    const kept = follower.position
    const moved = keptOn(disk).find((path) => Number(path.slice(DIR.length + 1, -'.segment'.length)) >= kept.segment)!
    disk.names.delete(moved)
    expect(follow(await open(disk.clone()), kept)).toEqual({ skipped: true, seq: 101 })
  })

  test('but not at its end, nor behind a segment that has gone', async () => {
    const { disk, spool, follower } = await written(120)
    await spool.close()
    const at = follower.position
    expect(follow(await open(disk.clone()), at)).toEqual({ skipped: false, seq: 121 })
    const again = await open(disk)
    await drain(again)
    await again.follow(at, all).keep(at)
    await appendGroups(again, [3], 120)
    expect(follow(await open(disk.clone()), at)).toEqual({ skipped: false, seq: 121 })
  })
})

test('passes damaged records, and waits in front of a segment that cannot be read', async () => {
  const disk = new FakeDisk()
  const spool = await open(disk)
  const follower = spool.follow(undefined, all)
  const records = await appendGroups(spool, [60])
  const [first, second] = keptOn(disk) as [string, string]
  disk.contents(first)[64 + 24]! ^= 1
  disk.fault = ({ op, path }) => (op === 'open' && path === second ? errno('EIO') : undefined)
  const found = (await follower.read(100, 1 << 20)).records
  expect(found[0]).toBe(records[1]!)
  await expect(follower.read(100, 1 << 20)).rejects.toMatchObject({ code: 'disk_failed' })
  disk.fault = undefined
  expect([...found, ...(await readAll(follower))]).toEqual(records.slice(1))
})

test('waiting ends when there is a record that it has not read', async () => {
  const spool = await open(new FakeDisk())
  const follower = spool.follow(undefined, all)
  const never = new AbortController().signal
  await appendGroups(spool, [1])
  await follower.waitForRecords(never)
  await readAll(follower)
  let isOver = false
  const waiting = follower.waitForRecords(never).then(() => {
    isOver = true
  })
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  expect(isOver).toBe(false)
  await appendGroups(spool, [1], 1)
  await waiting
})

/** More where other cases than those of every run are drawn. */
const RUNS = process.env.STINT_TEST_SEED === undefined ? 80 : 300
const step = fc.oneof(
  fc.record({ do: fc.constant('append' as const), n: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ do: fc.constant('deliver' as const), n: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ do: fc.constant('read' as const), n: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ do: fc.constant('keep' as const), n: fc.constant(0) }),
  fc.record({ do: fc.constant('kill' as const), n: fc.constant(0) }),
)

test('over any kills each record is read once between two kept positions, and the first reader misses none', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      let disk = new FakeDisk()
      let spool = await open(disk)
      let follower = spool.follow(undefined, all)
      let kept = { position: follower.position, read: 0 }
      await follower.keep(kept.position)
      let [sent, read, delivered] = [0, 0, 0]
      for (const { do: what, n } of steps) {
        if (what === 'append') {
          await appendGroups(spool, [n], sent)
          sent += n
        } else if (what === 'deliver') {
          const { records, next } = await spool.read(n, 1 << 20)
          await spool.advance(next)
          expect(numbersOf(records)).toEqual(Array.from({ length: records.length }, (_, i) => delivered + i))
          delivered += records.length
        } else if (what === 'read') {
          const { records, arrivedUs } = await follower.read(n, 1 << 20)
          expect(numbersOf(records)).toEqual(Array.from({ length: records.length }, (_, i) => read + i))
          expect(arrivedUs).toEqual(Array.from({ length: records.length }, (_, i) => 1_000_000 + read + i))
          expect(records.length).toBe(Math.min(n, sent - read))
          read += records.length
        } else if (what === 'keep') {
          kept = { position: follower.position, read }
          await follower.keep(kept.position)
        } else {
          disk = disk.clone()
          spool = await open(disk)
          follower = spool.follow(kept.position, all)
          expect(follower.skipped()).toBe(false)
          await follower.keep(kept.position)
          read = kept.read
        }
      }
      expect(numbersOf(await readAll(follower))).toEqual(Array.from({ length: sent - read }, (_, i) => read + i))
      expect(numbersOf(await drain(spool))).toHaveLength(sent - delivered)
    }),
    { numRuns: RUNS },
  )
})

test('a tail holds nothing back: what went before it was read is said, and it continues at the first reader', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk, { isFollowed: false, segmentBytes: 512 })
  const tail = spool.tail(undefined, all)
  const first = await appendGroups(spool, [3])
  expect(await readAll(tail)).toEqual(first)
  await appendGroups(
    spool,
    Array.from({ length: 20 }, () => 5),
  )
  await drain(spool)
  expect(keptOn(disk).length).toBeLessThan(4)
  const later = await appendGroups(spool, [2])
  expect(await readAll(tail)).toEqual(later)
  expect([tail.skipped(), tail.skipped()]).toEqual([true, false])
  await tail.close()
  await spool.close()
})

test('a tail that was closed is not remembered', async () => {
  const spool = await openOn(new FakeDisk())
  await appendGroups(spool, [3])
  const readOnce = async () => {
    const keeps = () => true
    const tail = spool.tail(undefined, keeps)
    await tail.read(3, 1 << 20)
    await tail.close()
    return new WeakRef(keeps)
  }
  const kept: WeakRef<() => boolean>[] = []
  for (let i = 0; i < 100; i++) kept.push(await readOnce())
  await until('most of them are gone', () => {
    Bun.gc(true)
    return kept.filter((one) => one.deref() === undefined).length > 50
  })
  await spool.close()
})
