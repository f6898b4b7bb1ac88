import { expect, test } from 'bun:test'
import { openBacklog } from '../../src/client/backlog.ts'
import { keepEvents } from '../../src/client/kept-events.ts'
import { createOutbox } from '../../src/client/outbox.ts'
import { inMemoryDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

test('after progress the next wait is a short one again', () => {
  const outbox = createOutbox(
    { flushMs: 1e6, maxBytes: 1e6, keepsEach: false, keepAfterMs: 1e6 },
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
    { withinMs: 1e9, restartMs: 0 },
    () => answers.shift()!,
    (ms) => void waits.push(ms),
  )
  const bounds = [500, 1000, 2000, 500, 1000]
  expect(answers).toEqual([])
  expect(waits.map((ms, i) => ms >= bounds[i]! / 2 && ms <= bounds[i]!)).toEqual(bounds.map(() => true))
})

test('without Stint for long, what waits in memory is kept, and removed when it is stored', async () => {
  const backlog = openBacklog([{ path: inMemoryDir() }], 'http://stint', 'k')
  let status = 503
  const settings = { flushMs: 1, maxBytes: 1e6, keepsEach: false, keepAfterMs: 300 }
  const send = async () => ({ status, retryAfterMs: 0, text: '' })
  const none = () => {}
  const outbox = createOutbox(settings, send, keepEvents(backlog, none), none, none)
  outbox.add('start', '{"process":"a"}')
  await outbox.flush(100)
  expect(backlog.list()).toEqual([])
  await until('it is kept', () => backlog.list().length === 1)
  outbox.add('end', '{"process":"a"}')
  status = 201
  expect(await outbox.flush(20_000)).toBe(true)
  await until('it is removed', () => backlog.list().length === 0)
})
