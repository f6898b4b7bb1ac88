// When the exception of a failure was raised before, for its notification.
import { expect, test } from 'bun:test'
import type { Exception } from '../../src/event/event.ts'
import { createDesk } from '../../src/query/desk.ts'
import { createFindPrevious } from '../../src/service/find-previous.ts'
import { StoreError } from '../../src/store/source.ts'
import { createMemorySource } from '../support/memory-source.ts'

const NOW_MS = 1_795_000_000_000
const DAY_MS = 86_400_000
const raised = (daysAgo: number, exception = 'Error: disk full\n  at x', over: Partial<Exception> = {}): Exception => ({
  ...{ kind: 'exception', account: 'acc_1', process: 'p', meta: '', exception },
  ...{ stamp: { us: (NOW_MS - daysAgo * DAY_MS) * 1000, sub: 0 }, ...over },
})
const told = {
  ...{ account: 'acc_1', process: 'p', meta: '', headline: 'Error: disk full' },
  ...{ from: new Date(NOW_MS - 60_000).toISOString(), at: new Date(NOW_MS).toISOString() },
}
const find = (...events: Exception[]) => createFindPrevious(createMemorySource(events).exceptions, createDesk())(told)

test('it is the newest one before the run; null of a new one', async () => {
  expect(await find(raised(0))).toBeNull()
  expect(await find(raised(0), raised(100))).toBeNull()
  const time = new Date(NOW_MS - 12 * DAY_MS).toISOString().replace('000Z', '000000000Z')
  expect(await find(raised(0), raised(12), raised(30))).toBe(time)
  const others = [raised(1, 'TypeError: other'), raised(2, undefined, { account: 'acc_2' })]
  expect(await find(raised(0), ...others, raised(12))).toBe(time)
})

test('nothing is said while the exception is not stored, or its store does not answer', async () => {
  expect(await find(raised(12))).toBeUndefined()
  expect(await find(raised(0, 'TypeError: other'), raised(12))).toBeUndefined()
  const findExceptions = () => Promise.reject(new StoreError('away'))
  const { exceptions } = createMemorySource([raised(0)])
  expect(await createFindPrevious({ ...exceptions, findExceptions }, createDesk())(told)).toBeUndefined()
})
