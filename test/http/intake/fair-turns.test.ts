import { expect, test } from 'bun:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { createFairTurns, runInTurns } from '../../../src/http/intake/fair-turns.ts'
import { unpackBatch } from '../../../src/http/intake/read-batch.ts'

test('accounts take turns, whatever their load, each in its own order', async () => {
  const turns = createFairTurns()
  const order: string[] = []
  const work = async (account: string, pieces: number) => {
    for (let i = 0; i < pieces; i++) {
      await turns.take(account)
      order.push(account)
    }
  }
  await Promise.all([...Array.from({ length: 10 }, () => work('a', 10)), work('b', 5), work('c', 5)])
  expect(order).toHaveLength(110)
  expect(order.slice(0, 15).filter((account) => account === 'a')).toHaveLength(5)
  const late = order.lastIndexOf('b')
  expect(late).toBeLessThan(16)
})

test('yields to the event loop between two turns', async () => {
  const turns = createFairTurns()
  const seen: string[] = []
  for (let i = 0; i < 3; i++) {
    await turns.take('a')
    seen.push('turn')
    setImmediate(() => seen.push('other'))
  }
  expect(seen).toEqual(['turn', 'other', 'turn', 'other', 'turn'])
})

test('a turn is over by the clock, from its beginning on', async () => {
  let us = 0
  const turns = createFairTurns({ monotonicUs: () => us })
  us = 7_000
  await turns.take('a')
  expect(turns.isOver()).toBe(false)
  us += 2_000
  expect(turns.isOver()).toBe(true)
  await turns.take('a')
  expect(turns.isOver()).toBe(false)
})

test('the works of an account run one after the other, also behind one that failed', async () => {
  const turns = createFairTurns()
  const seen: string[] = []
  const work =
    (name: string, fails = false) =>
    async () => {
      seen.push(`${name} begins`)
      await Bun.sleep(1)
      seen.push(`${name} ends`)
      if (fails) throw new Error(name)
    }
  const results = await Promise.allSettled([
    turns.alone('a', work('first', true)),
    turns.alone('a', work('second')),
    turns.alone('a', work('third')),
    turns.alone('b', work('other')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  const ofA = seen.filter((step) => !step.startsWith('other'))
  expect(ofA).toEqual(['first begins', 'first ends', 'second begins', 'second ends', 'third begins', 'third ends'])
  expect(seen.indexOf('other begins')).toBeLessThan(seen.indexOf('first ends'))
})

for (const [coding, pack] of [
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
] as const)
  test(`unpacking ${coding} asks after each chunk whether its turn is over`, async () => {
    const packed = pack(Buffer.alloc(8 * 2 ** 20, ' '))
    const request = new Request('http://a/', { headers: { 'content-encoding': coding } })
    let [taken, reserved] = [0, 0]
    const turns = { ...createFairTurns(), isOver: () => true }
    const counting = { ...turns, take: (account: string) => turns.take(account).then(() => void taken++) }
    const bytes = await unpackBatch(request, packed, 'a', (more) => (reserved += more), counting)
    expect(bytes).toHaveLength(8 * 2 ** 20)
    expect(reserved).toBe(8 * 2 ** 20)
    expect(taken).toBeGreaterThanOrEqual(64)
  })

test('work that pauses takes a turn whenever its own is over', async () => {
  let us = 0
  let taken = 0
  const turns = createFairTurns({ monotonicUs: () => us })
  function* work() {
    for (let i = 0; i < 30; i++) {
      us += 100
      yield
    }
    return 'done'
  }
  const counting = { ...turns, take: (account: string) => turns.take(account).then(() => void taken++) }
  expect(await runInTurns(work(), 'a', counting)).toBe('done')
  expect(taken).toBe(7) // 31 steps, five in a turn
})
