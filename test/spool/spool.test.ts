import { expect, test } from 'bun:test'
import { systemDisk } from '../../src/spool/disk.ts'
import { SpoolError } from '../../src/spool/spool-error.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { errno, FakeDisk } from './fake-disk.ts'
import { appendGroups, createLogLines, DIR, drain, numbersOf, openOn, quiet, recordOf } from './spool-trial.ts'

const freshDir = () => tempDir('spool')

test('reads appended records in order, byte for byte, across segments and a restart', async () => {
  const dir = freshDir()
  const { log, lines } = createLogLines()
  const open = () => openOn(systemDisk, { dir, segmentBytes: 4096, log })
  const spool = await open()
  const texts = ['', 'x', '"\\ü€😀\u2028', 'a'.repeat(20_000), '\u0000\u0001']
  for (const text of texts) await spool.append(text, 5)
  const rest = await appendGroups(spool, [1, 2, 300, 1])
  await spool.close()
  const again = await open()
  expect(again.stats().records).toBe(texts.length + rest.length)
  expect(await drain(again)).toEqual([...texts, ...rest])
  expect(again.stats()).toMatchObject({ records: 0, bytes: 0, oldestUs: undefined, damaged: 0 })
  await again.close()
  expect(quiet(lines)).toBe(true)
})

test('a batch respects its byte limit but holds at least one record', async () => {
  const spool = await openOn(new FakeDisk(), { segmentBytes: 8192 })
  for (const record of ['a'.repeat(100), 'b'.repeat(100), 'c'.repeat(1000)]) await spool.append(record, 1)
  expect((await spool.read(10, 200)).records).toHaveLength(2)
  expect((await spool.read(10, 199)).records).toHaveLength(1)
  const { records, next } = await spool.read(10, 0)
  expect(records).toHaveLength(1)
  await spool.advance(next)
})

test('appends during a commit share the next one', async () => {
  const disk = new FakeDisk()
  const commits: number[] = []
  const spool = await openOn(disk, { segmentBytes: 8192, onCommit: (records) => commits.push(records) })
  const first = spool.append('first', 1)
  const second = spool.append('second', 2)
  expect(second).toBe(first)
  const during = Promise.withResolvers<Promise<void>[]>()
  disk.fault = ({ op, path }) => {
    if (op !== 'write' || !path.endsWith('.segment')) return undefined
    disk.fault = undefined
    during.resolve([spool.append('third', 3), spool.append('fourth', 4)])
    return undefined
  }
  await first
  await Promise.all(await during.promise)
  expect(commits).toEqual([2, 2])
  expect(await drain(spool)).toEqual(['first', 'second', 'third', 'fourth'])
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('appends of a few turns of the event loop share a commit, and endless ones do not put it off', async () => {
  const commits: number[] = []
  const spool = await openOn(new FakeDisk(), { segmentBytes: 8192, onCommit: (records) => commits.push(records) })
  const together = [spool.append('0', 1)]
  for (let n = 1; n < 3; n++) {
    await turn()
    together.push(spool.append(String(n), 1))
  }
  await Promise.all(together)
  expect(commits).toEqual([3])

  let appended = 0
  const first = spool.append('endless', 1)
  const isOver = first.then(() => true)
  while (!(await Promise.race([isOver, turn()]))) {
    void spool.append('endless', 1)
    expect(appended++).toBeLessThan(100)
  }
  expect(commits[1]).toBeGreaterThan(1)
})

test('an append resolves only when its record is on the disk', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk, { segmentBytes: 8192 })
  await spool.append('makes the segment', 1)
  await spool.read(10, 1000) // after the position file has noted the segment
  let synced = false
  const held = Promise.withResolvers<void>()
  disk.check = async (op) => {
    if (op === 'datasync') {
      await held.promise
      synced = true
    }
    return undefined
  }
  let resolved = false
  const append = spool.append('waits', 2).then(() => {
    resolved = true
    expect(synced).toBe(true)
  })
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  expect(resolved).toBe(false)
  expect((await spool.read(10, 1000)).records).toEqual(['makes the segment'])
  held.resolve()
  await append
  expect((await spool.read(10, 1000)).records).toEqual(['makes the segment', 'waits'])
})

test('a floor that is forgotten does not come back from the records that wait, and the next arrivals raise it', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  for (let n = 0; n < 40; n++) await spool.append(recordOf(n), 1_800_000_000_000_000 + n)
  await spool.close()
  const again = await openOn(disk)
  await again.forgetFloor()
  expect((await openOn(disk.clone())).floorUs).toBe(0)
  for (let n = 40; n < 80; n++) {
    await again.append(recordOf(n), 1_700_000_000_000_000 + n)
    expect(again.floorUs).toBe(1_700_000_000_000_000 + n)
    expect((await openOn(disk.clone())).floorUs).toBe(1_700_000_000_000_000 + n)
  }
  expect(numbersOf(await drain(again))).toEqual(Array.from({ length: 80 }, (_, n) => n))
})

test('reports the arrival of the oldest record after appending, reading, advancing and reopening', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  await appendGroups(spool, [40])
  expect(spool.stats().oldestUs).toBe(1_000_000)
  await spool.advance((await spool.read(33, 1 << 20)).next)
  expect(spool.stats().oldestUs).toBeLessThanOrEqual(1_000_033)
  await spool.read(1, 0)
  expect(spool.stats().oldestUs).toBe(1_000_033)
  expect((await openOn(disk.clone())).stats().oldestUs).toBe(1_000_033)
  await drain(spool)
  expect(spool.stats().oldestUs).toBeUndefined()
  await spool.append('later', 2_000_000)
  expect(spool.stats().oldestUs).toBe(2_000_000)
})

test('reports the arrival of the next record as soon as the one before is delivered', async () => {
  const spool = await openOn(new FakeDisk(), { segmentBytes: 8192 })
  await appendGroups(spool, [3])
  await spool.advance((await spool.read(1, 1 << 20)).next)
  expect(spool.stats().oldestUs).toBe(1_000_001)
})

test('waiting ends when a record exists or the signal aborts', async () => {
  const spool = await openOn(new FakeDisk())
  const never = new AbortController().signal
  const woken = spool.waitForRecords(never)
  await spool.append('1', 1)
  await woken
  await spool.waitForRecords(never)
  await drain(spool)
  const stop = new AbortController()
  const stopped = spool.waitForRecords(stop.signal)
  stop.abort()
  await stopped
  await spool.waitForRecords(stop.signal)
})

test('a restart frees the unused space of a partly filled segment', async () => {
  const disk = new FakeDisk()
  const records = await appendGroups(await openOn(disk, { segmentBytes: 1 << 20 }), [3])
  const path = `${DIR}/0000000000000001.segment`
  expect(disk.contents(path).length).toBe(1 << 20)
  const spool = await openOn(disk)
  expect(disk.contents(path).length).toBeLessThan(200)
  expect(await drain(spool)).toEqual(records)
})

test('a full spool refuses until something is delivered', async () => {
  const spool = await openOn(new FakeDisk(), { maxBytes: 1500 })
  let accepted = 0
  while (spool.refusal() === undefined) await spool.append(recordOf(accepted++), 1)
  expect(spool.refusal()).toBe('spool_full')
  expect(spool.append('x', 1)).rejects.toMatchObject({ name: 'SpoolError', code: 'spool_full' })
  expect(spool.stats().bytes).toBeGreaterThanOrEqual(1500)
  expect(spool.stats().bytes).toBeLessThan(1600)
  const { records, next } = await spool.read(5, 1 << 20)
  await spool.advance(next)
  expect(spool.refusal()).toBeUndefined()
  await spool.append('again', 1)
  expect(await drain(spool)).toHaveLength(accepted - records.length + 1)
})

test('a full spool is logged, and that it has room again', async () => {
  const { log, lines } = createLogLines()
  const logged = () => lines.flatMap(({ msg }) => /the spool (is full|has room)/.exec(msg)?.[1] ?? [])
  await using spool = await openOn(new FakeDisk(), { maxBytes: 1500, lookEveryMs: 1, log })
  for (let i = 0; spool.refusal() === undefined; i++) await spool.append(recordOf(i), 1)
  await until('the log says that it is full', () => logged().length === 1)
  await drain(spool)
  await until('the log says that it has room', () => logged().length === 2)
  expect(logged()).toEqual(['is full', 'has room'])
})

test('a nearly full disk refuses, logs once, and accepts again when there is room', async () => {
  const disk = new FakeDisk()
  disk.free = 99
  const { log, lines } = createLogLines()
  await using spool = await openOn(disk, { minFreeBytes: 100, lookEveryMs: 5, log })
  expect(spool.refusal()).toBe('disk_low')
  expect(spool.append('x', 1)).rejects.toMatchObject({ code: 'disk_low' })
  disk.free = 100
  await until('spool.refusal() === undefined', () => spool.refusal() === undefined)
  await spool.append('y', 1)
  disk.free = 50
  await until('spool.refusal() === "disk_low"', () => spool.refusal() === 'disk_low')
  expect(await drain(spool)).toEqual(['y'])
  expect(lines.filter(({ msg }) => msg.includes('almost full'))).toHaveLength(2)
})

test('appends to a hanging disk are bounded in memory', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk, { segmentBytes: 1 << 20 })
  await spool.append('makes the segment', 1)
  const hangs = Promise.withResolvers<undefined>()
  disk.check = () => hangs.promise
  const big = 'x'.repeat(100_000)
  const pending: Promise<void>[] = []
  while (spool.refusal() === undefined && pending.length < 1000) {
    pending.push(spool.append(big, 1))
    if (pending.length === 1) await new Promise(setImmediate)
  }
  expect(spool.refusal()).toBe('busy')
  expect(spool.append('x', 1)).rejects.toMatchObject({ name: 'SpoolError', code: 'busy' })
  expect(pending.length).toBeGreaterThan(200)
  expect(pending.length).toBeLessThan(300)
  hangs.resolve(undefined)
  await Promise.all(pending)
  expect(spool.refusal()).toBeUndefined()
})

test('large appends wait until pending data is written or has failed', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk, { segmentBytes: 1 << 20 })
  await spool.append('makes the segment', 1)
  for (const isWell of [true, false]) {
    const hangs = Promise.withResolvers<undefined>()
    disk.check = () => hangs.promise
    const pending = [spool.append('in hand', 1)]
    await new Promise(setImmediate)
    expect(spool.backpressure()).toBeUndefined()
    while (spool.backpressure() === undefined) pending.push(spool.append('x'.repeat(1 << 20), 1))
    expect(pending.length).toBeLessThan(10)
    expect(spool.refusal()).toBeUndefined()
    const pressure = spool.backpressure()
    const settled = Promise.allSettled(pending)
    if (isWell) hangs.resolve(undefined)
    else hangs.reject(new Error('EIO'))
    await pressure
    await settled
    expect(spool.backpressure()).toBeUndefined()
    disk.check = async () => undefined
  }
})

test('beside batches at full speed a single event waits behind two commits and part of the next segment', async () => {
  const disk = new FakeDisk()
  const check = disk.check.bind(disk)
  let calls = 0
  disk.check = async (...call) => {
    calls++
    for (let waited = 0; waited < 4; waited++) await turn() // a disk behind a busy event loop
    return check(...call)
  }
  const spool = await openOn(disk, { segmentBytes: 4 * 2 ** 20 })
  const record = 'x'.repeat(10_000)
  const waits: { bytes: number; calls: number }[] = []
  for (let sent = 0; sent < 16 * 2 ** 20; ) {
    const inHand = spool.append(record, 1)
    let bytes = 0
    for (; spool.backpressure() === undefined; bytes += record.length) void spool.append(record, 1)
    const before = calls
    await Promise.all([inHand, spool.append('single', 1)])
    waits.push({ bytes, calls: calls - before })
    sent += bytes
  }
  expect(Math.max(...waits.map(({ bytes }) => bytes))).toBeLessThan(2 ** 20)
  expect(Math.min(...waits.map(({ bytes }) => bytes))).toBeGreaterThan(2 ** 18) // smaller commits cost more per event
  expect(Math.max(...waits.map(({ calls }) => calls))).toBeLessThan(25) // with 4 MiB filled and synced by 64 KiB: 134
})

test('closing finishes pending appends and rejects later ones', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  const appends = Array.from({ length: 50 }, (_, i) => spool.append(recordOf(i), i + 1))
  const waiting = openOn(new FakeDisk()).then((idle) => {
    const woken = idle.waitForRecords(new AbortController().signal)
    return idle.close().then(() => woken)
  })
  await spool.close()
  await Promise.all(appends)
  await waiting
  expect(spool.append('late', 1)).rejects.toBeInstanceOf(SpoolError)
  expect(await drain(await openOn(disk))).toHaveLength(50)
})

test('refuses a spool of a newer format without changing it', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  await appendGroups(spool, [20])
  await spool.close()
  for (const name of ['position', '0000000000000001.segment']) {
    const newer = disk.clone()
    const bytes = newer.contents(`${DIR}/${name}`)
    const slots = name === 'position' ? [0, 4096] : [0]
    for (const at of slots) bytes.set([3, 0, 0, 0, 252, 255, 255, 255], at + 8)
    const before = newer.clone()
    const error = await openOn(newer).catch((e) => e)
    expect(error).toMatchObject({ name: 'NewerFormat' })
    expect(error.message).toContain(name)
    expect(error.message).toContain('newer Stint (format 3')
    expect([...newer.names.keys()].sort()).toEqual([...before.names.keys()].sort())
    expect(newer.changes).toEqual([])
  }
})

test('reading and advancing continue while the disk rejects writes', async () => {
  const disk = new FakeDisk()
  const spool = await openOn(disk)
  const records = await appendGroups(spool, [60])
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate) // the segment ahead is made ready
  const sizes = new Map([...disk.names].map(([path, inode]) => [path, disk.inodes.get(inode)!.length]))
  disk.fault = ({ op, path }) => (op === 'open' && !disk.names.has(path) ? errno('ENOSPC') : undefined)
  expect(await drain(spool)).toEqual(records)
  for (const [path, inode] of disk.names) {
    if (sizes.has(path)) expect(disk.inodes.get(inode)!.length).toBeLessThanOrEqual(sizes.get(path)!)
  }
})
