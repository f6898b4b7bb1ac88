import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Event } from '../../src/event/event.ts'
import { fromRecord, toRecord } from '../../src/event/record.ts'

const text = fc.string({ unit: 'grapheme' })
const common = {
  account: fc.string({ minLength: 1 }),
  process: text,
  meta: text,
  stamp: fc.record({ us: fc.maxSafeNat(), sub: fc.nat(999) }),
}
const value = fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n))
const EVENT: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constantFrom('start' as const, 'end' as const), ...common, uid: fc.string() }),
  fc.record({
    kind: fc.constant('metrics' as const),
    ...common,
    items: fc.array(fc.tuple(text, value), { minLength: 1, maxLength: 50 }),
  }),
  fc.record({ kind: fc.constant('exception' as const), ...common, exception: fc.string({ unit: 'binary' }) }),
  fc.record({ kind: fc.constant('output' as const), ...common, output: fc.string({ unit: 'binary' }) }),
)

test('an event reads back from its record with every digit and character', () => {
  fc.assert(
    fc.property(EVENT, (event) => {
      expect(fromRecord(toRecord(event))).toEqual(event)
    }),
  )
})

test('a record is one line', () => {
  fc.assert(fc.property(EVENT, (event) => expect(toRecord(event)).not.toMatch(/[\n\r]/)))
})

test('records written by Stint 1.0 stay readable', () => {
  const common = { account: 'acc_1', process: 'p', stamp: { us: 1_795_211_562_171_920, sub: 42 } }
  const old: [string, Event][] = [
    ['["s",1795211562171920,42,"acc_1","p","m","u1"]', { kind: 'start', ...common, meta: 'm', uid: 'u1' }],
    ['["e",1795211562171920,42,"acc_1","p","",""]', { kind: 'end', ...common, meta: '', uid: '' }],
    [
      '["m",1795211562171920,42,"acc_1","p","",[["a",1.5]]]',
      { kind: 'metrics', ...common, meta: '', items: [['a', 1.5]] },
    ],
    [
      '["x",1795211562171920,42,"acc_1","p","","Error\\nat"]',
      { kind: 'exception', ...common, meta: '', exception: 'Error\nat' },
    ],
  ]
  for (const [record, event] of old) {
    expect(fromRecord(record)).toEqual(event)
    expect(toRecord(event)).toBe(record)
  }
})

describe('rejects records that toRecord never wrote', () => {
  test.each([
    '',
    'null',
    '{}',
    '[]',
    '["q",1,0,"a","p","",""]',
    '["s","1",0,"a","p","",""]',
    '["s",1.5,0,"a","p","",""]',
    '["s",1,0,"a","p","",null]',
    '["s",1,0,"a","p"]',
    '["m",1,0,"a","p","",[["a","1"]]]',
    '["m",1,0,"a","p","",[["a"]]]',
    '["m",1,0,"a","p","","a"]',
    '["s",1,0,"a","p","","u"',
  ])('%s', (record) => {
    expect(() => fromRecord(record)).toThrow()
  })
})
