import { expect, test } from 'bun:test'
import { createOutbox } from '../../src/client/outbox.ts'

test('after progress the next wait is a short one again', () => {
  const outbox = createOutbox(
    { flushMs: 1e6, maxBytes: 1e6 },
    () => new Promise(() => {}),
    undefined,
    () => {},
    () => {},
  )
  outbox.add('start', '{"process":"a"}')
  outbox.add('start', '{"process":"b"}')
  const busy = { status: 503, retryAfterMs: 0, text: '' }
  const half = { status: 207, retryAfterMs: 0, text: '{"items":[{"status":201},{"status":503}]}' }
  const answers = [busy, busy, busy, half, busy, { ...busy, status: 201 }]
  const waits: number[] = []
  outbox.leave(
    1e9,
    () => answers.shift()!,
    (ms) => void waits.push(ms),
  )
  const bounds = [500, 1000, 2000, 500, 1000]
  expect(answers).toEqual([])
  expect(waits.map((ms, i) => ms >= bounds[i]! / 2 && ms <= bounds[i]!)).toEqual(bounds.map(() => true))
})
