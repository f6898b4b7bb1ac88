// Clocks as a stranger meets them: what is no step of the clock is not taken for one, and small steps hide no dead job.
import { expect, test } from 'bun:test'
import { createLiveness } from '../../../src/watch/evaluate/liveness.ts'
import type { KnownMark } from '../../../src/watch/evaluate/watch-source.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { evaluatorOf, openStore, silent, sourceOf, watchOf } from '../watch-cast.ts'

const S = 1e6
const BORN = Date.UTC(2026, 10, 21) * 1000

/** A monotonic clock has fractions of a µs, as the runtime's has; the wall clock goes `wallUs` while it goes `monotonicUs`. */
async function storedAfter(wallUs: number, monotonicUs: number) {
  const store = openStore(inMemoryDir())
  let [wall, monotonic] = [BORN, 5 * S + 0.123]
  const liveness = createLiveness({
    ...{ store, log: silent, accepts: () => true },
    ...{ nowUs: () => wall, monotonicUs: () => monotonic },
  })
  await liveness.start()
  liveness.notice()
  wall += wallUs
  monotonic += monotonicUs
  await liveness.step()
  const stored = await store.alive()
  await liveness.stop()
  await store.close()
  return stored
}

test('a clock that is set back is stored apart from blind stretches, which earlier versions read', async () => {
  const { blind, rewinds } = await storedAfter(-600 * S, 0.5 * S + 0.777)
  expect(blind).toEqual([])
  expect(rewinds).toHaveLength(1)
  expect(rewinds[0]!.untilUs - rewinds[0]!.sinceUs).toBeGreaterThan(599 * S)
})

test('a pause that the monotonic clock measures is stored', async () => {
  const { blind, rewinds } = await storedAfter(20 * S, 20 * S + 0.777)
  const [stored, ...others] = blind
  expect([...others, ...rewinds]).toEqual([])
  expect(stored!.toUs - stored!.fromUs).toBeGreaterThanOrEqual(20 * S)
})

/** How far each clock moves in the pause; `torn`: the process is suspended between its readings of both. */
const PAUSES = {
  'a suspended process': { wallS: 45, monotonicS: 45, torn: false },
  'a process that is suspended between two readings': { wallS: 45, monotonicS: 45, torn: true },
  'a machine that slept, its monotonic clock stood': { wallS: 600, monotonicS: 0, torn: false },
  'a machine that slept, its monotonic clock ran': { wallS: 600, monotonicS: 600, torn: false },
  'a leap second': { wallS: 0.5, monotonicS: 1.5, torn: false },
  'a clock that is corrected a little': { wallS: -2, monotonicS: 0.5, torn: false },
}

for (const [name, { wallS, monotonicS, torn }] of Object.entries(PAUSES))
  test(`${name} is no clock that was set back`, async () => {
    const store = openStore(inMemoryDir())
    let [wall, monotonic] = [BORN, 0]
    let pending = 0 // the pause comes after the nth reading of a clock
    const pass = (wallUs: number, monotonicUs: number) => {
      wall += wallUs
      monotonic += monotonicUs
    }
    const read = (get: () => number) => () => {
      const us = get()
      if (pending > 0 && --pending === 0) pass(wallS * S, monotonicS * S)
      return us
    }
    const liveness = createLiveness({
      ...{ store, log: silent, accepts: () => true },
      nowUs: read(() => wall),
      monotonicUs: read(() => monotonic),
    })
    await liveness.start()
    for (const nth of torn ? [1, 2, 3] : [0]) {
      for (let i = 0; i < 10; i++) {
        pass(0.5 * S, 0.5 * S)
        liveness.notice()
      }
      pending = nth
      if (!torn) pass(wallS * S, monotonicS * S)
      for (let i = 0; i < 10; i++) {
        liveness.notice()
        pass(0.5 * S, 0.5 * S)
      }
      expect(liveness.rewind()).toBeUndefined()
    }
    const jumps = liveness.blind(wall).filter(({ isJump }) => isJump)
    expect(jumps).toHaveLength(wallS - monotonicS > 5 ? 1 : 0)
    await liveness.stop()
    await store.close()
  })

test('a clock that is corrected a little every few minutes hides no dead job', async () => {
  const marks: KnownMark[] = [{ process: 'job', meta: '', uid: '', mark: 'start', atUs: BORN + 10 * S }]
  const source = sourceOf({
    findMarks: async ({ fromUs, toUs }) => marks.filter(({ atUs }) => atUs >= fromUs && atUs < toUs),
  })
  const store = openStore(inMemoryDir())
  let [wall, monotonic] = [BORN, 0]
  const clocks = { nowUs: () => wall, monotonicUs: () => monotonic, log: silent, store }
  const liveness = createLiveness({ ...clocks, accepts: () => true })
  const evaluator = evaluatorOf({ ...clocks, source, liveness })
  const late = { every: '10m', grace: '20s' }
  await store.addWatch(watchOf('wat_1', { process: 'job', late }, { account: 'acc_1', sinceUs: BORN }), 9)
  await liveness.start()
  for (let t = 0; t < 1500; t++) {
    wall += t % 300 === 299 ? -0.5 * S : S
    monotonic += S
    await evaluator.step()
  }
  expect((await store.alerts('acc_1', { limit: 9 })).map(({ condition }) => condition)).toEqual(['late'])
  await liveness.stop()
  await store.close()
})

test('signs of life are stored one at a time, the last one at the end', async () => {
  const store = openStore(inMemoryDir())
  let [wall, monotonic, writing, most] = [BORN, 0, 0, 0]
  let slow = Promise.resolve()
  const noteAlive: typeof store.noteAlive = async (sign) => {
    most = Math.max(most, ++writing)
    await slow
    await store.noteAlive(sign)
    writing--
  }
  const clocks = { nowUs: () => wall, monotonicUs: () => monotonic }
  const liveness = createLiveness({ ...clocks, store: { ...store, noteAlive }, log: silent, accepts: () => true })
  await liveness.start()
  const { promise, resolve } = Promise.withResolvers<void>()
  slow = promise
  const pass = () => {
    wall += 11 * S
    monotonic += 11 * S
  }
  const steps = [1, 2].map(() => {
    pass()
    return liveness.step()
  })
  pass()
  steps.push(liveness.stop())
  resolve()
  await Promise.all(steps)
  expect([most, writing, (await store.alive()).aliveUs]).toEqual([1, 0, wall])
  await store.close()
})
