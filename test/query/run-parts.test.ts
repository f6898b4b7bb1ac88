// What the stores know of one run and the last good one before it.
import { describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { compareMetrics, createRunParts } from '../../src/query/run-parts.ts'
import { createMemorySource } from '../support/memory-source.ts'

const T0_US = 1_795_000_000_000_000
const DAY = 86_400
const us = (s: number) => T0_US + s * 1e6
const ns = (s: number) => BigInt(us(s)) * 1000n
const common = { account: 'acc_1', process: 'p', meta: '' }
const stamp = (s: number) => ({ us: us(s), sub: 0 })
const start = (s: number, uid = ''): Event => ({ ...common, kind: 'start', stamp: stamp(s), uid })
const end = (s: number, uid = '', failed?: true): Event => ({
  ...{ ...common, kind: 'end', ...(failed && { failed }), stamp: stamp(s), uid },
})
const raise = (s: number, exception: string, uid?: string): Event => ({
  ...{ ...common, kind: 'exception', exception, stamp: stamp(s) },
  ...(uid && { uid }),
})

function partsOf(events: readonly Event[], followedNs?: bigint) {
  const source = createMemorySource(events)
  const asker = { account: 'acc_1' }
  const moments = { nowNs: ns(1000), ...(followedNs !== undefined && { followedNs }) }
  return { ...createRunParts({ ...source, maxRunNs: BigInt(DAY) * 10n ** 9n }, asker, moments), source }
}
const NAME = { process: 'p', meta: '', uid: '' }
const goodOf = async (events: readonly Event[], beforeS: number) => {
  const { good, source } = partsOf(events)
  return (await good(NAME, ns(beforeS), source.exceptions))?.startedNs
}

describe('the last good run', () => {
  test('is the newest that completed before, however long ago, and none that overlaps', async () => {
    const events = [start(-80 * DAY), end(-80 * DAY + 5), start(-70 * DAY), end(-70 * DAY + 5, '', true)]
    expect(await goodOf(events, 0)).toBe(ns(-80 * DAY))
    const overlapping = [...events, start(-60, 'x'), end(60, 'x')]
    expect(await goodOf(overlapping, 0)).toBe(ns(-80 * DAY))
    expect(await goodOf(overlapping, 61)).toBe(ns(-60))
    expect(await goodOf([start(-91 * DAY), end(-91 * DAY + 5)], 0)).toBeUndefined()
  })

  test('has no exception, unless all have', async () => {
    const bad = [start(-100, 'b'), raise(-99, 'x', 'b'), end(-98, 'b')]
    expect(await goodOf([start(-200, 'a'), end(-199, 'a'), ...bad], 0)).toBe(ns(-200))
    expect(await goodOf(bad, 0)).toBe(ns(-100))
  })
})

test('a failed end without a start is found by its time, and a run by the time of its exception', async () => {
  const parts = partsOf([end(10, 'a', true), start(20, 'b'), raise(25, 'x', 'b'), end(30, 'b')])
  expect(await parts.byEnd({ process: 'p', meta: '' }, ns(10))).toMatchObject({ uid: 'a', state: 'failed' })
  expect(await parts.byEnd({ process: 'p', meta: '' }, ns(30))).toBeUndefined()
  expect(await parts.byException(NAME, 'b', ns(25))).toMatchObject({ uid: 'b' })
  expect(await parts.byException(NAME, null, ns(25))).toMatchObject({ uid: 'b' })
  expect(await parts.byException(NAME, 'c', ns(25))).toBeUndefined()
})

test('exceptions of a run are those with its uid up to a minute after it, and those without any while it is open', async () => {
  const events = [start(0, 'a'), end(10, 'a'), raise(5, 'own', 'a'), raise(40, 'late', 'a'), raise(71, 'later', 'a')]
  const others = [raise(6, 'anybody'), raise(11, 'after'), raise(7, 'of another', 'b')]
  const parts = partsOf([...events, ...others])
  const run = (await parts.byStart({ ...NAME, uid: 'a' }, ns(0)))!
  expect((await parts.exceptions(run)).map(({ exception }) => exception)).toEqual(['late', 'anybody', 'own'])
})

test('a run that never finished has nothing of the run after it', async () => {
  const events = [start(0), raise(5, 'own'), start(100), raise(105, 'of the next'), end(110)]
  const parts = partsOf(events, ns(100))
  const run = (await parts.byStart(NAME, ns(0)))!
  expect(run.state).toBe('abandoned')
  expect((await parts.exceptions(run)).map(({ exception }) => exception)).toEqual(['own'])
  const unknown = partsOf(events)
  expect(await unknown.exceptions(run)).toEqual([])
})

test('around a moment is what touches it; of more than are counted also those that did not end well', async () => {
  const ran = [...[start(-90, 'long'), end(200, 'long')], ...[start(-90, 'over'), end(-5, 'over')]]
  const bad = [start(1, 'bad'), end(2, 'bad', true)]
  const quick = Array.from({ length: 4 }, (_, i) => [start(10 + i, `q${i}`), end(11 + i, `q${i}`)]).flat()
  const { around } = partsOf([...ran, ...bad, ...quick, start(60, 'later')])
  const uidsOf = async (limit: number) => (await around(ns(0), ns(50), limit)).map(({ uid }) => uid)
  expect(await uidsOf(10)).toEqual(['q3', 'q2', 'q1', 'q0', 'bad', 'long'])
  expect(await uidsOf(2)).toEqual(['q3', 'q2', 'bad'])
})

test('starts are the newest before a moment, oldest first, from as far back as there are enough', async () => {
  const days = [1, 2, 3, 4, 20].flatMap((n) => [start(-n * DAY), end(-n * DAY + 1)])
  const parts = partsOf(days)
  expect(await parts.starts('p', undefined, ns(0), 3)).toEqual([ns(-3 * DAY), ns(-2 * DAY), ns(-DAY)])
  expect(await parts.starts('p', undefined, ns(0), 9)).toHaveLength(5)
  expect(await parts.starts('p', undefined, ns(-DAY), 1)).toEqual([ns(-2 * DAY)])
})

test('metrics that differ most come first, then equal ones, then what only one run sent', () => {
  const compared = compareMetrics({ a: 2, b: 100, c: 5, d: 1, zero: 0 }, { a: 1, b: 1, c: 5, e: 2, zero: 7 })
  expect(compared.map(({ name }) => name)).toEqual(['zero', 'b', 'a', 'c', 'd', 'e'])
  expect(compared.at(-1)).toEqual({ name: 'e', value: null, good_value: 2 })
})
