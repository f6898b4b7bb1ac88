import { expect, test } from 'bun:test'
import { openBacklog } from '../../src/client/backlog.ts'
import { toEvent } from '../../src/client/batch.ts'
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

test('starts and ends do not wait behind what a spent quota refuses, which is sent when it has rested', async () => {
  const kindsOf = (body: Uint8Array): string[] =>
    JSON.parse(Buffer.from(Bun.gunzipSync(Buffer.from(body))).toString()).map(({ kind }: { kind: string }) => kind)
  const spent = { status: 429, code: 'quota_spent' }
  let isSpent = true
  const sent: string[][] = []
  const send = async (body: Uint8Array) => {
    const kinds = kindsOf(body)
    sent.push(kinds)
    const items = kinds.map((kind) => (isSpent && kind === 'metrics' ? spent : { at: '2026-11-28T10:00:00Z' }))
    if (!items.includes(spent)) return { status: 201, retryAfterMs: 0, text: '' }
    if (items.every((item) => item === spent)) return { ...spent, retryAfterMs: 300_000, text: JSON.stringify(spent) }
    return { status: 207, retryAfterMs: 300_000, text: JSON.stringify({ items }) }
  }
  const none = () => {}
  const outbox = createOutbox(
    { flushMs: 1, maxBytes: 1e6, keepsEach: false, keepAfterMs: 1e6 },
    send,
    undefined,
    none,
    none,
  )
  outbox.add('metrics', '{"process":"a"}')
  await until('the first is refused', () => sent.length === 1)
  outbox.add('start', '{"process":"a"}')
  await until('the start is sent', () => sent.length === 2)
  expect(sent).toEqual([['metrics'], ['start']])
  expect(await outbox.flush(50)).toBe(false)
  outbox.add('metrics', '{"process":"a"}')
  outbox.add('end', '{"process":"a"}')
  await until('the end is sent', () => sent.flat().includes('end'))
  expect(outbox.isEmpty()).toBe(false)
  isSpent = false
  expect(await outbox.flush(20_000)).toBe(true)
  expect(outbox.isEmpty()).toBe(true)
})

test('an event whose time was corrected leaves no more room than it took', async () => {
  const fault = { pointer: '/0/at', detail: 'is in the future' }
  const refused = { status: 422, retryAfterMs: 0, text: JSON.stringify({ errors: [fault] }), aheadMs: 3_600_000 }
  const answers = [refused, { status: 201, retryAfterMs: 0, text: '' }]
  const body = '{"process":"a","at":"2026-11-28T10:00:00Z"}'
  const maxBytes = toEvent('start', body).length
  const dropped: string[] = []
  const outbox = createOutbox(
    { flushMs: 1, maxBytes, keepsEach: false, keepAfterMs: 1e6 },
    async () => answers.shift()!,
    undefined,
    (line) => void dropped.push(line),
    () => {},
  )
  outbox.add('start', body)
  expect(await outbox.flush(20_000)).toBe(true)
  expect(answers).toEqual([])
  outbox.add('start', body.replace('"a"', '"ab"'))
  expect(dropped).toHaveLength(1)
})
