// What live does within one turn of the event loop is little, however much waits for it.
import { expect, test } from 'bun:test'
import { HOUR, openCast, runAt, startAt, T0 } from './live-cast.ts'

test('of events that wait in the log few are folded within one turn', async () => {
  const cast = await openCast()
  cast.events.push(...runAt(T0 - HOUR, 1_000))
  const { account } = await cast.live.look('ada', false)
  const first = account.version
  let [most, before, isDone] = [0, first, false]
  const sample = () => {
    most = Math.max(most, account.version - before)
    before = account.version
    if (!isDone) setImmediate(sample)
  }
  setImmediate(sample)
  const many = Array.from({ length: 1_000 }, (_, i) => startAt(T0 - 5_000 + i, { process: `job ${i}` }))
  await Promise.all(many.map((event) => cast.send(event))) // the log has them in few groups
  await cast.live.look('ada', false)
  isDone = true
  sample()
  expect(account.version - first).toBe(1_000) // one for each process
  expect(most).toBeLessThanOrEqual(40)
})
