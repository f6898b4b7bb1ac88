// The lines of copied files: what is written is read again as it was, and everything else is refused with its reason.
import { expect, test } from 'bun:test'
import { fromLine, toLine } from '../../src/copy/event-file.ts'
import { someHistory } from './some-history.ts'

test('every event reads back as written', () => {
  for (const event of someHistory(2_000)) {
    expect(fromLine(toLine(event, true))).toEqual(event)
    expect(fromLine(toLine(event, false), 'acc_other')).toEqual({ ...event, account: 'acc_other' })
  }
})

test('keeps the content of a row', () => {
  const event = {
    kind: 'start',
    account: 'a',
    process: 'p',
    meta: '',
    uid: '',
    stamp: { us: 5000, sub: 3 },
    content: 2n ** 64n - 1n,
  } as const
  expect(fromLine(toLine(event, true))).toEqual(event)
})

const LINE = { kind: 'start', account: 'a', process: 'p', stamp: '1790000000000000000' }
test.each([
  ['[1]', 'not a JSON object'],
  [{ ...LINE, kind: 'begin' }, '`kind` must be one of start, end, metrics, exception'],
  [{ ...LINE, account: '' }, '`account` is missing'],
  [{ ...LINE, stamp: 1 }, '`stamp` must be nanoseconds since the epoch as text'],
  [{ ...LINE, stamp: '-1' }, '`stamp` must be nanoseconds since the epoch as text'],
  [{ ...LINE, content: 'x' }, '`content` must be a number as text'],
  [{ ...LINE, process: '' }, 'process must not be empty'],
  [{ ...LINE, uid: 'A' }, 'uid may only hold a-z, 0-9, - and _'],
  [{ ...LINE, kind: 'metrics', items: { a: '1' } }, 'items/a must be a finite number'],
  [{ ...LINE, items: {} }, 'items is not a field of this endpoint'],
])('refuses %j', (line, reason) => {
  expect(() => fromLine(typeof line === 'string' ? line : JSON.stringify(line))).toThrow(reason)
})
