// What the page of a process says beside its median of 24 hours.
import { expect, test } from 'bun:test'
import { compareMedian } from '../../src/console/process/facts.tsx'

const NOW = Date.parse('2026-11-29T12:00:00.000Z')
const change = { at: new Date(NOW - 3_600_000).toISOString(), before_ms: 12_000, after_ms: 35_000 }
const medians = { median_24h_ms: 35_000, median_7d_ms: 34_000, usual_ms: 33_000, change: null }

test.each([
  ['nothing differs', {}, 'as usual'],
  ['it became slower more than 20 runs ago', { median_7d_ms: 14_000 }, '14.0 s in the week before'],
  ['it became faster', { median_7d_ms: 70_000, usual_ms: null }, '1 m 10 s in the week before'],
  ['there was no week before', { median_7d_ms: null }, 'as usual'],
  ['the newest runs differ from the day', { usual_ms: 90_000 }, 'usually 1 m 30 s'],
  ['no run completed', { median_24h_ms: null, change }, 'no completed run'],
])('%s', (_, differs, text) => {
  expect(compareMedian({ ...medians, ...differs }, NOW)).toBe(text)
})

test('a change is said before anything else', () => {
  expect(compareMedian({ ...medians, change, median_7d_ms: 14_000 }, NOW)).toStartWith('12.0 s before ')
})
