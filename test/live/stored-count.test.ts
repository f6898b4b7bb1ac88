// How often this node has stored something of an account that is looked at on another node.
import { expect, test } from 'bun:test'
import { createStoredCount } from '../../src/live/stored-count.ts'
import { startAt, T0 } from './live-cast.ts'

test('the newest eight counts are repeated', () => {
  const count = createStoredCount(
    { points: 0, exceptions: 0 },
    () => true,
    () => T0,
  )
  for (let i = 1; i <= 20; i++) {
    count.take()
    count.note([{ event: startAt(T0), seqs: { points: i, exceptions: 0 } }])
  }
  expect(count.take().map(([n]) => n)).toEqual([14, 15, 16, 17, 18, 19, 20, 21])
})
