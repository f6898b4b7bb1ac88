import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bucketsOf, countBuckets, type Every, isTimeZone, parseEvery } from '../../src/query/buckets.ts'

const S = 1_000_000_000n
const DAY_MS = 86_400_000
const full = (time: string) => time + '0000-00-00T00:00:00Z'.slice(time.length)
const nsOf = (time: string) => BigInt(Date.parse(full(time))) * 1_000_000n
const timeOf = (ns: bigint) => new Date(Number(ns / 1_000_000n)).toISOString().replace('.000Z', 'Z')

test.each([
  ['10s', 10, 's'],
  ['5m', 5, 'm'],
  ['36500d', 36_500, 'd'],
  ['2w', 2, 'w'],
  ['1mo', 1, 'mo'],
] as const)('%s is a length of buckets', (text, count, unit) => expect(parseEvery(text)).toEqual({ count, unit }))

test.each(['', '0d', '1', 'mo', '1M', '1y', '1.5w', '36501d', '5215w', '1217mo', '1mo '])('%j is invalid', (text) =>
  expect(parseEvery(text)).toBeUndefined(),
)

test('time zones are those that the runtime knows', () => {
  for (const tz of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires']) expect(isTimeZone(tz)).toBe(true)
  for (const tz of ['', 'Mars/Olympus', 'Europe/Berlin ', '../etc', "'"]) expect(isTimeZone(tz)).toBe(false)
})

test.each(['10s', '1h', '5h', '13h', '23h', '24h', '90m'])(
  '%s in a time zone: the count for the limit is about that of the bounds',
  (text) => {
    const [fromNs, days] = [BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n, 3n]
    const toNs = fromNs + days * 86_400_000_000_000n
    const { bounds } = bucketsOf(parseEvery(text)!, 'Asia/Tokyo', fromNs, toNs)
    const counted = countBuckets(parseEvery(text)!, 'Asia/Tokyo', fromNs, toNs)
    expect(Math.abs(counted - bounds!.length)).toBeLessThanOrEqual(2)
  },
)

describe('buckets', () => {
  // length and time zone | from and to | bounds
  test.each([
    '1w - | 2026-11-20T12 2026-11-30T00:00:01 | 2026-11-16 2026-11-23 2026-11-30 2026-12-07',
    '1mo - | 2026-11-01 2027-01-01 | 2026-11-01 2026-12-01 2027-01-01',
    '3mo - | 2026-11-20 2027-01-01 | 2026-10-01 2027-01-01',
    // 23 and 25 hours
    '1d Europe/Berlin | 2026-03-28T23 2026-03-30 | 2026-03-28T23 2026-03-29T22 2026-03-30T22',
    '1d Europe/Berlin | 2026-10-24T21:59:59 2026-10-26 | 2026-10-23T22 2026-10-24T22 2026-10-25T23 2026-10-26T23',
    '1mo Europe/Berlin | 2026-03-15 2026-04-01 | 2026-02-28T23 2026-03-31T22 2026-04-30T22',
    '6h Europe/Berlin | 2026-10-25T15:30 2026-10-25T23 | 2026-10-25T10 2026-10-25T16 2026-10-25T22 2026-10-25T23',
    '1h Asia/Kolkata | 2026-01-01 2026-01-01T01 | 2025-12-31T23:30 2026-01-01T00:30 2026-01-01T01:30',
    // the clocks skip midnight, go back at midnight, go back a minute after it, and skip a whole day
    '1d Africa/Cairo | 2026-04-23T22 2026-04-24T21 | 2026-04-23T22 2026-04-24T21',
    '1d America/Asuncion | 2022-03-26T03 2022-03-27T04 | 2022-03-26T03 2022-03-27T04',
    '1d America/St_Johns | 2010-11-06T02:30 2010-11-08T03:30 | 2010-11-06T02:30 2010-11-07T02:30 2010-11-08T03:30',
    '1d Pacific/Apia | 2011-12-29T10 2011-12-31T10 | 2011-12-29T10 2011-12-30T10 2011-12-31T10',
    '1d Europe/Berlin | 1970-01-01 1970-01-02 | 1970-01-01 1970-01-01T23 1970-01-02T23',
  ])('of %s', (row) => {
    const [[every, tz], [from, to], expected] = row.split(' | ').map((part) => part.split(' ')) as [
      string[],
      string[],
      string[],
    ]
    const { bounds } = bucketsOf(parseEvery(every!)!, tz === '-' ? undefined : tz, nsOf(from!), nsOf(to!))
    expect(bounds?.map(timeOf)).toEqual(expected!.map(full))
  })

  test('of seconds to days are equally long without a time zone', () => {
    expect(bucketsOf(parseEvery('1d')!, undefined, 0n, S)).toEqual({ everyNs: 86_400n * S })
  })

  /** The day, the Monday of the week or the month of a moment, as a person with that clock would write it. */
  function label(ms: number, tz: string, { unit }: Every): string {
    const date = new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short' }).format(ms)
    if (unit === 'mo') return date.slice(0, 7)
    if (unit === 'd') return date
    const noon = new Date(`${date}T12:00:00Z`)
    return new Date(noon.getTime() - ((noon.getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10)
  }

  const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Africa/Cairo']
  const MORE = [
    'America/Santiago',
    'Pacific/Apia',
    'America/Havana',
    'Africa/Casablanca',
    'Asia/Beirut',
    'America/Asuncion',
  ]

  test('begin where the local day, week or month changes, and nowhere else', () => {
    const asked = fc.record({
      tz: fc.constantFrom(...ZONES, ...MORE),
      unit: fc.constantFrom('d', 'w', 'mo'),
      fromMs: fc.integer({ min: Date.UTC(1995, 0), max: Date.UTC(2035, 0) }),
      days: fc.integer({ min: 1, max: 70 }),
      places: fc.array(fc.double({ min: 0, max: 0.999999, noNaN: true }), { minLength: 3, maxLength: 3 }),
    })
    fc.assert(
      fc.property(asked, ({ tz, unit, fromMs, days, places }) => {
        const every = { count: 1, unit } as const
        const [fromNs, toNs] = [BigInt(fromMs) * 1_000_000n, BigInt(fromMs + days * DAY_MS) * 1_000_000n]
        const starts = bucketsOf(every, tz, fromNs, toNs).bounds!.map((ns) => Number(ns / 1_000_000n))
        expect(starts[0]!).toBeLessThanOrEqual(fromMs)
        expect(starts[1]!).toBeGreaterThan(fromMs)
        expect(starts.at(-1)!).toBeGreaterThanOrEqual(fromMs + days * DAY_MS)
        for (const [i, start] of starts.slice(0, -1).entries()) {
          const own = label(start, tz, every)
          expect(label(start - 1, tz, every)).not.toBe(own)
          const end = starts[i + 1]!
          for (const place of [...places, 0.9999999]) {
            const within = start + Math.floor((end - start) * place)
            expect([within, label(within, tz, every)]).toEqual([within, own])
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  test('of several days, weeks or months lie at every nth bound of single ones', () => {
    for (const unit of ['d', 'w', 'mo'] as const) {
      const [from, to] = [nsOf('2025-01-01'), nsOf('2027-01-01')]
      const single = bucketsOf({ count: 1, unit }, 'Europe/Berlin', from, to).bounds!
      const triple = bucketsOf({ count: 3, unit }, 'Europe/Berlin', from, to).bounds!
      const at = single.indexOf(triple[1]!)
      expect(at).toBeGreaterThanOrEqual(0)
      expect(triple.slice(1, -1)).toEqual(
        single
          .slice(at)
          .filter((_, i) => i % 3 === 0)
          .slice(0, triple.length - 2),
      )
    }
  })
})
