// One owner cannot fill the spool for all others.
import { describe, expect, test } from 'bun:test'
import { Shares } from '../../src/spool/shares.ts'
import { until } from '../support/until.ts'
import { FakeDisk } from './fake-disk.ts'
import { drain, openOn } from './spool-trial.ts'

const TEXT = 'x'.repeat(976) // 1,000 bytes with its frame

describe('a shared spool', () => {
  const open = (isShared: () => boolean) => openOn(new FakeDisk(), { maxBytes: 100_000, segmentBytes: 8192, isShared })

  test('refuses only an owner who holds half of it; delivery frees the share', async () => {
    const spool = await open(() => true)
    for (let i = 0; i < 50; i++) await spool.append(TEXT, i + 1, 'mallory')
    expect(spool.refusal('mallory')).toBe('share_full')
    await expect(spool.append(TEXT, 51, 'mallory')).rejects.toMatchObject({ code: 'share_full' })
    expect([spool.refusal('ada'), spool.refusal()]).toEqual([undefined, undefined])
    for (let i = 0; i < 40; i++) await spool.append(TEXT, 60 + i, 'ada')
    expect(spool.refusal('ada')).toBeUndefined()
    expect(await drain(spool, 1000)).toHaveLength(90)
    expect(spool.refusal('mallory')).toBeUndefined()
  })

  test('also counts what waits for the disk', async () => {
    const spool = await open(() => true)
    const appends = Array.from({ length: 60 }, (_, i) =>
      spool.append(TEXT, i + 1, 'mallory').then(
        () => 1,
        () => 0,
      ),
    )
    const taken = (await Promise.all(appends)).filter((one) => one === 1).length
    expect(taken).toBe(50)
  })

  test('an owner who is released leaves the room to the others at once', async () => {
    const spool = await open(() => true)
    for (let i = 0; i < 50; i++) await spool.append(TEXT, i + 1, 'mallory')
    for (let i = 0; i < 49; i++) await spool.append(TEXT, 60 + i, 'ada')
    await spool.append(TEXT, 200)
    expect(spool.refusal('bob')).toBe('spool_full')
    spool.release('mallory')
    for (let i = 0; i < 49; i++) await spool.append(TEXT, 300 + i, 'bob')
    expect(spool.refusal('bob')).toBeUndefined()
    await spool.append(TEXT, 400)
    expect(spool.refusal('bob')).toBe('spool_full')
    expect(await drain(spool, 1000)).toHaveLength(150)
    expect(spool.refusal('bob')).toBeUndefined()
  })

  test('the backlog has its owners again after a restart', async () => {
    const disk = new FakeDisk()
    const ownerOf = (head: string) => head.split(' ', 1)[0]
    const reopen = () => openOn(disk, { maxBytes: 100_000, segmentBytes: 8192, isShared: () => true, ownerOf })
    const recordOf = (owner: string) => `${owner} ${TEXT}`.slice(0, 976)
    let spool = await reopen()
    for (let i = 0; i < 60; i++) await spool.append(recordOf(i < 10 ? 'ada' : 'mallory'), i + 1)
    await spool.advance((await spool.read(5, 1e6)).next)
    await spool.close()
    spool = await reopen()
    await until('the backlog is counted', () => spool.refusal('mallory') === 'share_full')
    expect(spool.refusal('ada')).toBeUndefined()
    for (let i = 0; i < 44; i++) await spool.append(recordOf('ada'), 100 + i, 'ada')
    expect(spool.refusal('ada')).toBeUndefined()
    await spool.advance((await spool.read(12, 1e6)).next) // 43 of mallory's are left
    await spool.close()
    spool = await reopen()
    for (let i = 0; i < 7; i++) await spool.append(recordOf('mallory'), 200 + i, 'mallory')
    await until('the backlog is counted', () => spool.refusal('mallory') === 'share_full')
    expect(spool.refusal('ada')).toBeUndefined()
    expect(await drain(spool, 1000)).toHaveLength(94)
    expect([spool.refusal('ada'), spool.refusal('mallory')]).toEqual([undefined, undefined])
    await spool.close()
  })

  test('an owner alone may fill all of it', async () => {
    let owners = 1
    const spool = await open(() => owners > 1)
    for (let i = 0; i < 80; i++) await spool.append(TEXT, i + 1, 'ada')
    expect(spool.refusal('ada')).toBeUndefined()
    owners = 2
    expect(spool.refusal('ada')).toBe('share_full')
  })
})

test('on a disk that is nearly full at the start, who sent most is refused from the start', async () => {
  const disk = new FakeDisk()
  disk.free = 150
  disk.total = 10_000
  await using spool = await openOn(disk, {
    minFreeBytes: 100,
    lookEveryMs: 3_600_000,
    judgeOwners: (fullness) => (fullness > 0 ? (owner) => owner === 'mallory' : undefined),
  })
  expect([spool.refusal('mallory'), spool.refusal('ada')]).toEqual(['disk_share', undefined])
})

test('a share is released step by step, never below what is held', () => {
  const shares = new Shares({
    runBytes: 100,
    maxBytes: 1e6,
    isShared: () => true,
    isOver: () => false,
    judgeOwners: () => undefined,
    onRefused: () => {},
  })
  shares.commit(
    new Map([
      ['a', { bytes: 80, records: 2 }],
      ['b', { bytes: 40, records: 1 }],
    ]),
    3,
  )
  shares.commit(new Map([['a', { bytes: 50, records: 1 }]]), 4)
  expect([shares.held('a'), shares.held('b')]).toEqual([130, 40])
  shares.pass(2)
  expect(shares.held('a')).toBe(130)
  shares.pass(3)
  expect([shares.held('a'), shares.held('b')]).toEqual([50, 0])
  shares.pass(4)
  expect(shares.held('a')).toBe(0)
})

test('what a released owner holds counts once, at most the size of the spool, until it is delivered', () => {
  const shares = new Shares({
    runBytes: 1,
    maxBytes: 100,
    isShared: () => true,
    isOver: () => false,
    judgeOwners: () => undefined,
    onRefused: () => {},
  })
  const commit = (bytes: number, endSeq: number) => shares.commit(new Map([['a', { bytes, records: 1 }]]), endSeq)
  commit(60, 1)
  shares.release('a')
  shares.release('a')
  expect(shares.uncountedBytes).toBe(60)
  commit(30, 2)
  expect(shares.uncountedBytes).toBe(90)
  commit(50, 3)
  expect(shares.uncountedBytes).toBe(100)
  shares.pass(3)
  expect(shares.uncountedBytes).toBe(0)
  shares.find(new Map([['b', 40]]), 3) // found in the log, and delivered meanwhile
  expect(shares.held('b')).toBe(0)
})
