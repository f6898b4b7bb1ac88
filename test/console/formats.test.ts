// Numbers, times, ranges and addresses of views: what people read, and what the address gives back.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  formatBytes,
  formatCompact,
  formatFigure,
  formatTimes,
  formatValue,
  millions,
  plural,
  withPoint,
} from '../../src/console/kit/format-number.ts'
import { afterNs, formatAgo, formatMoment, readMoment, writeMoment } from '../../src/console/kit/format-time.ts'
import { toLine } from '../../src/console/kit/line-chart.tsx'
import { changeParams, formatRoute, parseRoute } from '../../src/console/kit/route.ts'
import {
  bucketsOf,
  chooseEvery,
  describeRange,
  everyMs,
  fixRange,
  readRange,
} from '../../src/console/kit/time-range.ts'
import { describeNext, inReadersZone, shortMoment } from '../../src/console/kit/words.ts'
import { describeAlert } from '../../src/console/watch/alert-table.tsx'
import { cutText } from '../../src/wire/headline.ts'
import { formatDuration } from '../../src/wire/span-text.ts'

test.each([
  [null, '–'],
  [0, '0 s'],
  [0.8124, '812 µs'],
  [0.9997, '1.00 ms'],
  [1, '1.00 ms'],
  [12.44, '12.4 ms'],
  [999.4, '999 ms'],
  [999.7, '1.00 s'],
  [3_204, '3.20 s'],
  [59_940, '59.9 s'],
  [59_960, '1 m 00 s'],
  [192_000, '3 m 12 s'],
  [3_599_600, '1 h 00 m'],
  [7_500_000, '2 h 05 m'],
  [273_600_000, '3 d 4 h'],
])('formats %p ms as %p', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test.each([
  [0, '0'],
  [1234.5678, '1,234.57'],
  [-0.000001, '-0.000001'],
  [999_999_999_999_999, '1,000,000,000,000,000'],
  [1e15, '1E15'],
  [-1.234_567_8e20, '-1.23457E20'],
  [1e308, '1E308'],
  [9.99e-7, '9.99E-7'],
  [5e-324, '5E-324'],
])('formats the value %p as %p', (value, text) => {
  expect(formatValue(value)).toBe(text)
})

test.each([
  [1_234_000, '1.23M'],
  [-9e14, '-900T'],
  [1e15, '1E15'],
  [-1.797e308, '-1.8E308'],
])('formats %p on an axis as %p', (value, text) => {
  expect(formatCompact(value)).toBe(text)
})

test('a million is never written like a minute', () => {
  const british = new Intl.NumberFormat('en-GB', { notation: 'compact' })
  expect([2e6, -1.2e6, 2_000, 3].map((n) => millions(british.format(n)))).toEqual(['2M', '-1.2M', '2k', '3'])
})

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [12_700, '12.4 KiB'],
  [12 * 2 ** 20, '12 MiB'],
])('formats %p bytes as %p', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test.each([
  [0, '0'],
  [0.123456, '0.123'],
  [434.6, '435'],
  [12_044, '12K'],
  [1_435_190, '1.44M'],
  [-1.797e308, '-1.8E308'],
])('formats the figure %p as %p', (value, text) => {
  expect(formatFigure(value)).toBe(text)
})

test('decimals are written as the reader writes them, and nothing else is', () => {
  expect(withPoint('-1.24 s', ',')).toBe('-1,24 s')
  expect(withPoint('3 m 02 s.', ',')).toBe('3 m 02 s.')
  expect([0.94, 2.5, 3, 9.96, 14.4].map(formatTimes)).toEqual(['0.9', '2.5', '3', '10', '14'])
})

test.each([
  [0, 'just now'],
  [42_000, '42 s ago'],
  [300_000, '5 min ago'],
  [3 * 3_600_000, '3 h ago'],
  [12 * 86_400_000, '12 days ago'],
  [-120_000, 'in 2 min'],
])('formats %p ms ago as %p', (ms, text) => {
  expect(formatAgo(1e12 - ms, 1e12)).toBe(text)
})

test.each([
  ['report', 10, 'report'],
  ['report', 3, 'rep'],
  ['😀😀', 4, '😀😀'],
  ['😀😀', 3, '😀'],
  ['😀😀', 1, ''],
])('truncates %p at %p to %p', (text, length, cut) => {
  expect(cutText(text, length)).toBe(cut)
})

test('uses singular for one and plural otherwise', () => {
  expect([plural(1, 'run'), plural(2, 'run'), plural(0, 'process', 'processes')]).toEqual([
    '1 run',
    '2 runs',
    '0 processes',
  ])
})

test.each([
  ['2026-11-20T21:52:42.171920042Z', '2026-11-20T21:52:42.171920043Z'],
  ['2026-11-20T21:52:42.999999999Z', '2026-11-20T21:52:43.000000000Z'],
  ['2026-12-31T23:59:59.999999999Z', '2027-01-01T00:00:00.000000000Z'],
  ['2026-11-20T21:52:42Z', '2026-11-20T21:52:42.000000001Z'],
])('a nanosecond after %p is %p', (at, next) => {
  expect(afterNs(at)).toBe(next)
})

test.each([
  ['2026-11-20T20:59:00Z', '20:59:00'],
  ['2026-11-19T20:59:00Z', '19 Nov 20:59:00'],
  ['2026-02-01T00:00:00Z', '1 Feb 00:00:00'],
  ['2025-11-20T20:59:00Z', '20 Nov 2025 20:59:00'],
])('on 20 Nov 2026 the moment %p is %p', (at, text) => {
  const parts = formatMoment(Date.parse(at), Date.parse('2026-11-20T22:00:00Z')).split(/[\s,]+/)
  expect(parts.toSorted()).toEqual(text.split(' ').toSorted()) // the order is the language's
})

test.each([
  ['2026-11-18T10:00:00Z', '2026-11-18T11:00:00Z', /18 Nov.* 10:00:00 – 11:00:00$|Nov 18.* 10:00:00 – 11:00:00$/],
  ['2026-11-18T10:00:00Z', '2026-11-20T11:00:00Z', /18.* – .*20.* 11:00:00$/],
  ['2026-11-20T10:00:00Z', '2026-11-20T11:00:00Z', /^10:00:00 – 11:00:00$/],
])('on 20 Nov 2026 the range from %s to %s', (from, to, text) => {
  const range = { fromMs: Date.parse(from), toMs: Date.parse(to), isLive: false } as never
  expect(describeRange(range, Date.parse('2026-11-20T22:00:00Z'))).toMatch(text)
})

describe('where the clocks change', () => {
  const zone = process.env.TZ
  beforeAll(() => {
    process.env.TZ = 'Europe/Berlin'
  })
  afterAll(() => {
    process.env.TZ = zone ?? 'UTC'
  })
  test.each([
    ['2026-03-29T00:30:00.000Z', '2026-03-29T01:30:00'],
    ['2026-03-29T01:30:00.000Z', '2026-03-29T03:30:00'],
    ['2026-10-24T23:30:00.000Z', '2026-10-25T01:30:00'],
    ['2026-10-25T01:30:00.000Z', '2026-10-25T02:30:00'],
    ['2026-10-25T02:30:00.000Z', '2026-10-25T03:30:00'],
  ])('%p is entered and shown as %p', (at, local) => {
    expect(writeMoment(Date.parse(at))).toBe(local)
    const read = new Date(readMoment(local)).toISOString()
    // in autumn one hour exists twice
    expect([at, new Date(Date.parse(at) - 3_600_000).toISOString()]).toContain(read)
    if (!local.includes('T02:30')) expect(read).toBe(at)
  })
})

describe('the address', () => {
  test('reads back any parameters', () => {
    const params = { process: 'a&b=c#d ?%2F', meta: '', from: '-6h', none: undefined }
    const { page, params: back } = parseRoute(formatRoute('runs', params))
    expect([page, Object.fromEntries(back)]).toEqual(['runs', { process: 'a&b=c#d ?%2F', meta: '', from: '-6h' }])
  })
  test.each([
    ['', ''],
    ['#', ''],
    ['#/', ''],
    ['#/runs', 'runs'],
    ['#/no such', ''],
  ])('%p is the page %p', (hash, page) => {
    expect(parseRoute(hash).page).toBe(page)
  })
  test('replaces changed parameters and keeps the rest', () => {
    expect(changeParams(new URLSearchParams('a=1&b=2'), { a: undefined, c: '3' }).toString()).toBe('b=2&c=3')
  })
})

describe('a range', () => {
  const now = Date.UTC(2026, 10, 20, 22)
  const read = (search: string) => readRange(new URLSearchParams(search), now)
  test('that moves with now is asked for as it is written', () => {
    expect(read('from=-6h')).toEqual({ fromMs: now - 6 * 3_600_000, toMs: now, isLive: true, query: { from: '-6h' } })
  })
  test('that was zoomed to stays', () => {
    const fixed = fixRange(now - 1000.4, now - 500.6)
    const range = read(String(new URLSearchParams(fixed)))
    expect([range.fromMs, range.toMs, range.isLive]).toEqual([now - 1001, now - 500, false])
  })
  test.each([
    [''],
    ['from=rubbish'],
    ['from=-0h'],
    ['from=2026-11-20T22:00:00Z&to=2026-11-20T21:00:00Z'],
    ['to=2026-11-20T21:00:00Z'],
  ])('%p is the last hour', (search) => {
    expect(read(search).query).toEqual({ from: '-1h' })
  })
  test('is never shorter than a millisecond', () => {
    const { from, to } = fixRange(now, now)
    expect(Date.parse(to) - Date.parse(from)).toBe(1)
  })
  test("has a limited number of buckets, aligned like the server's", () => {
    for (const from of ['-15m', '-1h', '-6h', '-24h', '-7d']) {
      const range = read(`from=${from}`)
      const every = chooseEvery(range, 60)
      expect((range.toMs - range.fromMs) / everyMs(every)).toBeLessThanOrEqual(60)
      expect(bucketsOf(range, every).every((ms) => ms % everyMs(every) === 0)).toBe(true)
    }
  })
  test('has gaps for empty buckets', () => {
    const rows = [{ at: '2026-11-20T21:10:00.000000000Z', n: 7 }]
    const atMs = bucketsOf(read('from=-1h'), '10m')
    expect(toLine('x', rows, atMs, ({ n }) => n).values).toEqual([null, 7, null, null, null, null])
  })
})

test('times of the server are shown in the zone of the reader', () => {
  const text = 'A downtime, 2026-07-21 23:59:58 UTC to 2026-07-22 00:10 UTC, when a start was due'
  const from = formatMoment(Date.parse('2026-07-21T23:59:58Z'), 0)
  const to = shortMoment(Date.parse('2026-07-22T00:10Z'), 0)
  expect(inReadersZone(text, 0)).toBe(`A downtime, ${from} to ${to}, when a start was due`)
})

describe('the next start', () => {
  const due = Date.parse('2026-11-28T03:00:00Z')
  const HOUR = 3_600_000
  const at = (ms: number) => shortMoment(ms, due)
  const iso = (ms: number) => new Date(ms).toISOString()
  const say = (minutes: number, over: Partial<Parameters<typeof describeNext>[0]> = {}) =>
    describeNext(
      { next_start_at: iso(due), late_at: iso(due + HOUR), every_s: 7200, state: 'completed', ...over },
      due + minutes * 60_000,
      'next ',
    )

  test('is due now for a tenth of the time until it is late', () => {
    expect(say(-1)).toEqual({ text: `next about ${at(due)}`, isLate: false })
    expect([0, 6].map((minutes) => say(minutes)?.text)).toEqual(['due now', 'due now'])
    expect(say(7)?.text).toBe(`late from ${at(due + HOUR)}`)
    expect(say(7, { late_at: null })?.text).toBe('due now')
    expect(say(61)).toEqual({ text: `missed; was due ${at(due)}`, isLate: true })
  })
  test('is not expected at the limit of a watch that allows much more than the usual gap', () => {
    const late_at = iso(due + 24 * HOUR)
    expect(say(-30, { late_at })?.text).toBe(`next about ${at(due)}`)
    expect([11, 13].map((minutes) => say(minutes, { late_at })?.text === 'due now')).toEqual([true, false])
    expect(say(180, { late_at })?.text).toBe(`late from ${shortMoment(due + 24 * HOUR, due)}`)
  })
  test('without a rhythm says when its watch calls it late, and since when', () => {
    const next_start_at = null
    expect(say(-90, { next_start_at })).toEqual({ text: `late from ${at(due + HOUR)}`, isLate: false })
    expect(say(61, { next_start_at })).toEqual({ text: `late since ${at(due + HOUR)}`, isLate: true })
    expect(say(0, { next_start_at, late_at: null })).toBeUndefined()
  })
  test('of a watch that is stricter than the rhythm was not due when the rhythm says', () => {
    const strict = { late_at: iso(due - HOUR), state: 'silent' } as const
    expect(say(-30, strict)).toEqual({ text: `late since ${at(due - HOUR)}`, isLate: true })
  })
  test('may wait for a run that still runs', () => {
    expect(say(-1, { state: 'running' })?.text).toBe(`next about ${at(due)}`)
    expect([say(1, { state: 'running' }), say(90, { state: 'overdue' })]).toEqual([undefined, undefined])
  })
})

test('a run that never finished has not failed', () => {
  const alert = { condition: 'failed', process: 'backup', meta: 'primary' } as const
  const say = (summary: string) => describeAlert({ ...alert, summary: `backup (primary) ${summary}` })
  expect(say('never finished: it started at 2026-11-28 17:48:05 UTC')).toBe('never finished')
  expect(say('failed at 2026-11-28 17:48:05 UTC: never finished')).toBe('failed')
  expect(say('completed at 2026-11-28 20:05:09 UTC, after 18 min of failure')).toBe('failed')
})

test('an alert of a metric has its values, without the name and the time that are beside it', () => {
  const summary = 'import (region eu): lag is above 5 (mean of 10m: 7.2); lag is back in range at 2026-11-20 21:52 UTC'
  const alert = { condition: 'metric', process: 'import', meta: 'region eu', summary } as const
  expect(describeAlert(alert)).toBe('lag is above 5 (mean of 10m: 7.2)')
  expect(describeAlert({ ...alert, condition: 'late' })).toBe('is late')
})
