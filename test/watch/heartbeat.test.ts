// The heartbeat, requested from a real receiver; the clock and the judge are the test's.
import { expect, test } from 'bun:test'
import { createHeartbeat } from '../../src/watch/heartbeat.ts'
import { startReceiver } from '../support/receiver.ts'
import { silent } from './watch-cast.ts'

test('is requested once a minute while the judge is less than a minute behind', async () => {
  const beganUs = Date.UTC(2026, 10, 21) * 1000
  let now = beganUs
  let judged: number | undefined
  let isStill = false
  const beats: number[] = []
  const receiver = startReceiver(() => {
    beats.push((now - beganUs) / 1e6)
    return new Response('ok')
  })
  const url = `${receiver.url}/`
  const nowUs = () => now
  const heartbeat = createHeartbeat({ url, post: { allowPrivate: true }, nowUs, judgedUs: () => judged, log: silent })
  const pass = async (seconds: number) => {
    for (const endUs = now + seconds * 1e6; now < endUs; now += 5e6) {
      if (!isStill) judged = now - 1e6
      await heartbeat.step()
    }
  }
  try {
    await pass(300)
    expect(beats).toEqual([0, 60, 120, 180, 240])
    isStill = true
    await pass(600)
    expect(beats.splice(0).at(-1)).toBeLessThanOrEqual(300 + 60)
    isStill = false
    await pass(120)
    expect(beats.length).toBe(2)
    isStill = true
    judged = undefined // another node judges
    await pass(600)
    expect(beats.length).toBe(2)
  } finally {
    await receiver.close()
  }
})
