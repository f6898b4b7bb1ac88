// Whether a group of exceptions is new or came back.
import { expect, test } from 'bun:test'
import type { Exception } from '../../src/event/event.ts'
import { fingerprint, formerFingerprint } from '../../src/event/fingerprint.ts'
import { createSeenBefore } from '../../src/query/seen-before.ts'
import { describeSeen } from '../../src/wire/words.ts'
import { createMemorySource } from '../support/memory-source.ts'

const DAY_US = 86_400e6
const NOW_US = 1_795_000_000_000_000
const TEXT = 'Error: disk full'
const asker = { account: 'acc_1' }
const ns = (daysAgo: number) => BigInt(NOW_US - daysAgo * DAY_US) * 1000n
const group = { fingerprint: fingerprint(TEXT), process: 'p', example: TEXT }

const seenAt = (daysAgo: readonly number[], over: Partial<Exception> = {}) => {
  const events = daysAgo.map(
    (days): Exception => ({
      ...{ kind: 'exception', account: 'acc_1', process: 'p', meta: '', exception: TEXT },
      ...{ stamp: { us: NOW_US - days * DAY_US, sub: 0 }, ...over },
    }),
  )
  return createSeenBefore(createMemorySource(events).exceptions)
}
const before = async (daysAgo: readonly number[], over: Partial<Exception> = {}) =>
  (await seenAt(daysAgo, over).before(asker, [group], ns(0)))[0]

test('the first and the newest before a moment; nothing older than 90 days is the newest', async () => {
  expect(await before([0])).toEqual({ firstNs: undefined, previousNs: undefined })
  expect(await before([0, 12, 80])).toEqual({ firstNs: ns(80), previousNs: ns(12) })
  expect(await before([0, 91])).toEqual({ firstNs: ns(91), previousNs: undefined })
  expect(await before([0, 90])).toEqual({ firstNs: ns(90), previousNs: ns(90) })
  expect(await before([12], { process: 'another' })).toEqual({ firstNs: undefined, previousNs: undefined })
  expect(await before([12], { account: 'acc_2' })).toEqual({ firstNs: undefined, previousNs: undefined })
  expect(await before([12], { exception: 'TypeError: other' })).toEqual({ firstNs: undefined, previousNs: undefined })
})

test('what 2.0 stored of the same exception counts', async () => {
  const own = fingerprint(TEXT)
  const former = formerFingerprint(TEXT)
  const asked: string[] = []
  const seen = createSeenBefore({
    async findGroupSpans({ only }) {
      asked.push(...only!.map((it) => it.fingerprint))
      return [{ fingerprint: former, process: 'p', firstNs: ns(30), lastNs: ns(20) }]
    },
  })
  expect(await seen.before(asker, [group], ns(0))).toEqual([{ firstNs: ns(30), previousNs: ns(20) }])
  expect(asked).toEqual([own, former])
})

test('a group is new for a week, and again when nothing was stored for 90 days before', async () => {
  const isNew = async (...daysAgo: number[]) => {
    const span = { firstNs: ns(Math.max(...daysAgo)), lastNs: ns(Math.min(...daysAgo)) }
    return (await seenAt(daysAgo).areNew(asker, [{ ...group, ...span }], ns(0)))[0]
  }
  expect(await isNew(6, 1)).toBe(true)
  expect(await isNew(8, 1)).toBe(false)
  expect(await isNew(8)).toBe(false)
  expect(await isNew(100, 1)).toBe(true)
  expect(await isNew(100, 96, 1)).toBe(false)
  expect(await isNew(100)).toBe(false)
})

test('in words', () => {
  const at = '2026-11-21T03:00:00.000000000Z'
  expect(describeSeen(at, null)).toBe('new')
  expect(describeSeen(at, '2026-11-20T03:00:00.000000000Z')).toBe('again after 1 day')
  expect(describeSeen(at, '2026-11-09T02:00:00.000000000Z')).toBe('again after 12 days')
  expect(describeSeen(at, '2026-11-20T04:00:00.000000000Z')).toBe('')
})
