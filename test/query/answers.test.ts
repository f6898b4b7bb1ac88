import { describe, expect, test } from 'bun:test'
import { answerMetricRows, answerSummary, toMs } from '../../src/query/answers.ts'

// What the answers hold: test/http/questions/question-routes.test.ts and any-question.slow.ts.
describe('a duration in ms', () => {
  test.each([
    [0n, 0],
    [1n, 0.000001],
    [3000n, 0.003],
    [1_500_000n, 1.5],
    [86_400_000_000_001n, 86_400_000.000001],
    // Number(ns) / 1e6 is 9007199254.740992.
    [9_007_199_254_740_993n, 9_007_199_254.740993],
    [123_456_789_012_345_678n, Number('123456789012.345678')],
  ])('of %p ns is the nearest number', (ns, ms) => expect(toMs(ns)).toBe(ms))
})

const T = 1_763_673_600_000_000_000n

test('a summary is ordered by time, process and meta; its failure rate is that of the runs that ended', async () => {
  const figures = { count: 1, meanMs: 1, p50Ms: 1, p95Ms: 1, p99Ms: 1, maxMs: 1 }
  const row = (atNs: bigint, process: string, meta: string) => ({
    ...{ ...figures, atNs, process, meta },
    ...{ failed: 4, running: 1, abandoned: 2, orphan: 3 },
  })
  const rows = await answerSummary([row(T, 'b', ''), row(T + 1n, 'a', ''), row(T, 'a', 'x'), row(T, 'a', '')])
  expect(rows.map(({ process, meta }) => [process, meta])).toEqual([
    ['a', null],
    ['a', 'x'],
    ['b', null],
    ['a', null],
  ])
  expect(rows.map((found) => found.failure_rate)).toEqual([0.8, 0.8, 0.8, 0.8])
})

test('rows of metrics are ordered by time, process, meta and name', async () => {
  const row = { atNs: T, process: 'p', name: 'b', count: 2, mean: 1, min: 0, max: 2, sum: 2, last: 2 }
  const rows = await answerMetricRows([row, { ...row, name: 'a' }, { ...row, atNs: T - 1n }])
  expect(rows.map(({ at, name }) => `${at.slice(17, 20)}${name}`)).toEqual(['59.b', '00.a', '00.b'])
})
