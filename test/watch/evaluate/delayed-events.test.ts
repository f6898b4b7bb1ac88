import { expect, test } from 'bun:test'
import { createDelayedEvents } from '../../../src/watch/evaluate/delayed-events.ts'

const S = 1e6

test('a late event is looked for once everything that was accepted before it is stored', () => {
  const late = createDelayedEvents()
  late.note('job', 10 * S, 100 * S)
  late.note('job', 7 * S, 101 * S)
  expect(late.stored(105 * S)).toBeUndefined()
  expect(late.stored(106 * S)).toEqual({ processes: ['job'], fromUs: 7 * S, toUs: 10 * S + 1 })
  expect(late.stored(107 * S)).toBeDefined() // the read failed: nothing was settled
  late.settle()
  expect(late.stored(999 * S)).toBeUndefined()
})

test('an event that comes while the others are read is looked for afterwards', () => {
  const late = createDelayedEvents()
  late.note('job', 10 * S, 100 * S)
  late.stored(200 * S)
  late.note('job', 5 * S, 201 * S)
  late.settle()
  expect(late.stored(300 * S)).toMatchObject({ fromUs: 5 * S })
})

test('a stream of late events that never ends is read now and then, and its newest events again', () => {
  const late = createDelayedEvents()
  for (let t = 100; t <= 200; t++) {
    late.note('job', (t - 90) * S, t * S)
    const range = late.stored((t - 1) * S)
    expect(range !== undefined).toBe(t === 161)
    if (range !== undefined) late.settle()
  }
  expect(late.stored(205 * S)).toEqual({ processes: ['job'], fromUs: 10 * S, toUs: 110 * S + 1 })
})

test('late events of any process are looked for in all, from then to now', () => {
  const late = createDelayedEvents()
  late.note('job', 50 * S, 100 * S)
  late.note(undefined, 70 * S, 100 * S)
  expect(late.stored(200 * S)).toEqual({ processes: undefined, fromUs: 50 * S, toUs: 100 * S })
})

test('late events of very many processes are looked for in all', () => {
  const late = createDelayedEvents()
  for (let i = 0; i < 1000; i++) late.note(`job ${i}`, (1000 - i) * S, 2000 * S)
  expect(late.stored(3000 * S)).toEqual({ processes: undefined, fromUs: 1 * S, toUs: 1000 * S + 1 })
})

test('more late events of a process are expected until 5 s after its newest', () => {
  const late = createDelayedEvents()
  late.note('job', 10 * S, 100 * S)
  expect(['job', 'other'].map((process) => late.isPending(process, 104 * S))).toEqual([true, false])
  expect(late.isPending('job', 105 * S)).toBe(false)
  late.note(undefined, 10 * S, 110 * S)
  expect(late.isPending('other', 111 * S)).toBe(true)
})
