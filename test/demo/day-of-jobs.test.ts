// What the demo plays looks like a real week.
import { expect, test } from 'bun:test'
import { playDays } from '../../src/demo/day-of-jobs.ts'

const DAY_MS = 86_400_000
const END_MS = Date.UTC(2026, 10, 20, 14, 30)
const starts = playDays(END_MS)
  .filter(({ kind }) => kind === 'start')
  .map(({ process, at }) => ({ process, ms: Date.parse(at) }))

test('every job runs as often on each day of the demo', () => {
  for (const [process, runs] of Map.groupBy(starts, (run) => run.process)) {
    if (process === 'rotate logs') continue // it falls silent
    const days = Object.values(Object.groupBy(runs, ({ ms }) => Math.ceil((END_MS - ms) / DAY_MS)))
    const counts = days.map((day) => day?.length ?? 0)
    expect([process, days.length]).toEqual([process, 8])
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(Math.max(2, 0.05 * Math.max(...counts)))
  }
})

test('the nightly import runs at night, once for each region', () => {
  const nightly = starts.filter(({ process }) => process === 'nightly import')
  expect(nightly).toHaveLength(8 * 3)
  for (const { ms } of nightly) expect(new Date(ms).getHours()).toBeWithin(1, 5)
})

test('the jobs go on after the demo began, but one falls silent before', () => {
  const events = playDays(END_MS, DAY_MS)
  const lastOf = Map.groupBy(
    events.filter(({ kind }) => kind === 'start'),
    ({ process }) => process,
  )
  for (const [process, runs] of lastOf) {
    const lastMs = Date.parse(runs.at(-1)!.at)
    if (process === 'rotate logs') expect(lastMs).toBeLessThan(END_MS - 5 * 3_600_000)
    else expect(lastMs).toBeGreaterThan(END_MS)
  }
})
