// The heartbeat of the real evaluator, requested from a real receiver; the clock and the store of marks are the test's.
import { expect, test } from 'bun:test'
import { createHeartbeat } from '../../src/watch/heartbeat.ts'
import { startReceiver } from '../support/receiver.ts'
import { inMemoryDir } from '../support/temp-dir.ts'
import { evaluatorOf, openStore, silent, watchOf } from './watch-cast.ts'

test('is requested once a minute while the watches are evaluated, and not while a store is away', async () => {
  const beganUs = Date.UTC(2026, 10, 21) * 1000
  let now = beganUs
  let isAway = false
  let isStill = false
  const beats: number[] = []
  const receiver = startReceiver(() => {
    beats.push((now - beganUs) / 1e6)
    return new Response('ok')
  })
  const answer = async () => {
    if (isAway) throw new Error('the store is away')
    return []
  }
  const source = { findMarks: answer, findNewestStarts: answer, findExceptions: answer, aggregateMetrics: answer }
  const store = openStore(inMemoryDir())
  await store.addWatch(watchOf('wat_1', { long: '5m' }), 1)
  const nowUs = () => now
  const evaluator = evaluatorOf({ store, source, nowUs })
  const { lastRoundUs } = evaluator
  const url = `${receiver.url}/`
  const heartbeat = createHeartbeat({ url, post: { allowPrivate: true }, nowUs, lastRoundUs, log: silent })
  const pass = async (seconds: number) => {
    for (const endUs = now + seconds * 1e6; now < endUs; now += 5e6) {
      if (!isStill) await evaluator.step()
      await heartbeat.step()
    }
  }
  try {
    await pass(300)
    expect(beats).toEqual([0, 60, 120, 180, 240])
    isAway = true
    await pass(600)
    expect(beats.splice(0).at(-1)).toBeLessThanOrEqual(300 + 90) // a round stays good for 90 s
    isAway = false
    await pass(120)
    expect(beats.length).toBe(2)
    isStill = true // nothing fails, and nothing is evaluated
    await pass(100)
    beats.length = 0
    await pass(600)
    expect(beats).toEqual([])
  } finally {
    await receiver.close()
    await store.close()
  }
})
