import { describe, expect, test } from 'bun:test'
import { EVENT_KINDS, type EventKind, KINDS } from '../../src/event/event.ts'
import { Faults } from '../../src/event/faults.ts'
import { parseEvent, toEvent } from '../../src/event/parse-event.ts'

const NOW_US = 1_795_211_562_171_920
const STAMP = { us: NOW_US, sub: 0 }
const TIMES = { wallUs: () => NOW_US, maxAgeUs: 1e12 }

const parse = (kind: EventKind, body: unknown) => parseEvent(kind, body, TIMES, new Faults())
const event = (kind: EventKind, body: unknown) => toEvent(parse(kind, body)!, 'acc', STAMP)
function faultsOf(kind: EventKind, body: unknown, isInBatch = false): [string, string][] {
  const faults = new Faults()
  expect(parseEvent(kind, body, TIMES, faults, isInBatch)).toBeUndefined()
  return faults.list.map(({ pointer, detail }) => [pointer, detail])
}

const LEAST: Record<EventKind, Record<string, unknown>> = {
  start: { process: 'p' },
  end: { process: 'p' },
  metrics: { process: 'p', items: { a: 1 } },
  exception: { process: 'p', exception: 'e' },
}

describe('a valid body', () => {
  test('sets failed only for a failed end', () => {
    expect(event('end', { process: 'p', failed: true })).toMatchObject({ kind: 'end', failed: true })
    expect(event('end', { process: 'p', failed: false })).not.toHaveProperty('failed')
  })

  test.each(['metrics', 'exception'] as const)('of %s has a uid or none, never an empty one', (kind) => {
    expect(event(kind, { ...LEAST[kind], uid: 'run-1' })).toMatchObject({ uid: 'run-1' })
    expect(event(kind, { ...LEAST[kind], uid: '' })).not.toHaveProperty('uid')
  })

  test.each([...EVENT_KINDS])('of kind %s may bring its own time', (kind) => {
    const at = new Date(Math.floor(NOW_US / 1000)).toISOString()
    expect(parse(kind, { ...LEAST[kind], at })).toMatchObject({ atUs: NOW_US - (NOW_US % 1000) })
    expect(parse(kind, LEAST[kind])).toMatchObject({ atUs: undefined })
  })
})

describe('faults', () => {
  test('are all reported in the order of the fields, unknown fields last', () => {
    const body = { extra: 1, at: 'x', failed: 1, uid: 'A', meta: 5, 'a/b~': 2 }
    expect(faultsOf('end', body)).toEqual([
      ['/process', 'is required'],
      ['/meta', 'must be a string'],
      ['/uid', 'may only hold a-z, 0-9, - and _'],
      ['/failed', 'must be true or false'],
      ['/at', 'must be an RFC 3339 time with at most nine digits of a second'],
      ['/extra', 'is not a field of this endpoint'],
      ['/a~1b~0', 'is not a field of this endpoint'],
    ])
  })

  test.each([[null], ['true'], [1], [0], [[]], [{}]])('%j as failed', (failed) => {
    expect(faultsOf('end', { process: 'p', failed })).toEqual([['/failed', 'must be true or false']])
  })

  test.each(['start', 'metrics', 'exception'] as const)('failed on %s is not a field', (kind) => {
    expect(faultsOf(kind, { ...LEAST[kind], failed: true })).toEqual([['/failed', 'is not a field of this endpoint']])
  })

  test.each([...EVENT_KINDS])('null in any field of %s', (kind) => {
    for (const field of KINDS[kind].fields) {
      const found = faultsOf(kind, { ...LEAST[kind], [field]: null })
      expect(found.map(([pointer]) => pointer)).toEqual([`/${field}`])
    }
  })

  test('kind is a field only in a batch', () => {
    expect(faultsOf('start', { kind: 'start', process: 'p' })).toEqual([['/kind', 'is not a field of this endpoint']])
    expect(parseEvent('start', { kind: 'start', process: 'p' }, TIMES, new Faults(), true)).toBeDefined()
  })

  test('beyond the first hundred are only counted', () => {
    const faults = new Faults()
    const body = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`, 1]))
    expect(parseEvent('start', body, TIMES, faults)).toBeUndefined()
    expect([faults.list.length, faults.count]).toEqual([100, 501])
  })
})
