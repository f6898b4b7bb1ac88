import { describe, expect, test } from 'bun:test'
import type { MarkName } from '../../src/event/event.ts'
import type { StoredMark } from '../../src/store/pair-marks.ts'
import { quantile, type SummaryQuestion, summarizeTimings } from '../support/summarize-timings.ts'

const MS = 1_000_000n
const mark = (mark: MarkName, ms: number, uid: string, process = 'p', meta = ''): StoredMark => ({
  process,
  meta,
  uid,
  mark,
  ns: BigInt(ms) * MS,
  stamp: BigInt(ms) * MS,
})
const run = (uid: string, from: number, to: number, process?: string, meta?: string) => [
  mark('start', from, uid, process, meta),
  mark('end', to, uid, process, meta),
]
const question: SummaryQuestion = {
  fromNs: 0n,
  toNs: 10_000n * MS,
  maxRunNs: 1000n * MS,
  nowNs: 9000n * MS,
  byMeta: false,
}
const nothing = { count: 0, meanMs: null, p50Ms: null, p95Ms: null, p99Ms: null, maxMs: null }

describe('a summary', () => {
  test('has figures of completed runs and counts of the others', () => {
    const marks = [
      ...run('a', 100, 110),
      ...run('b', 100, 120),
      ...run('c', 100, 130),
      ...run('d', 100, 140),
      mark('start', 200, 'e'),
      mark('end', 300, 'f'),
      mark('start', 8500, 'g'),
    ]
    const [row, ...others] = summarizeTimings(marks, question)
    expect(others).toEqual([])
    expect(row).toMatchObject({ process: 'p', count: 4, meanMs: 25, p50Ms: 25, maxMs: 40 })
    expect(row).toMatchObject({ running: 1, abandoned: 1, orphan: 1 })
    expect(row!.p95Ms).toBeCloseTo(38.5, 12)
    expect(row!.p99Ms).toBeCloseTo(39.7, 12)
    expect(row).not.toHaveProperty('meta')
    expect(row).not.toHaveProperty('atNs')
  })

  test('has no figures without completed runs', () => {
    expect(summarizeTimings([mark('start', 8500, 'a')], question)).toEqual([
      { process: 'p', ...nothing, failed: 0, running: 1, abandoned: 0, orphan: 0 },
    ])
  })

  test('splits by meta when asked to, ordered by process and meta', () => {
    const marks = [...run('a', 1, 2, 'q', 'x'), ...run('b', 1, 3, 'p', 'y'), ...run('c', 1, 4, 'q')]
    expect(summarizeTimings(marks, { ...question, byMeta: true }).map((r) => [r.process, r.meta, r.maxMs])).toEqual([
      ['p', 'y', 2],
      ['q', '', 3],
      ['q', 'x', 1],
    ])
    expect(summarizeTimings(marks, question).map((r) => [r.process, r.count])).toEqual([
      ['p', 1],
      ['q', 2],
    ])
  })
})

describe('a series', () => {
  const everyNs = 100n * MS
  const series = (marks: StoredMark[], fromMs = 0, toMs = 10_000) =>
    summarizeTimings(marks, { ...question, everyNs, fromNs: BigInt(fromMs) * MS, toNs: BigInt(toMs) * MS }).map((r) => [
      Number(r.atNs! / MS),
      r.count,
      r.running + r.abandoned + r.orphan,
    ])

  test('counts completed runs where they ended, others at their mark, oldest bucket first', () => {
    const marks = [...run('a', 150, 250), mark('end', 399, 'b'), mark('start', 400, 'c'), mark('start', 8999, 'd')]
    expect(series(marks)).toEqual([
      [200, 1, 0],
      [300, 0, 1],
      [400, 0, 1],
      [8900, 0, 1],
    ])
  })

  test('has only what was settled within the range', () => {
    const marks = [...run('a', 150, 250), mark('start', 8500, 'b')]
    expect(series(marks, 0, 240)).toEqual([])
    expect(series(marks, 240, 260)).toEqual([[200, 1, 0]])
    expect(series(marks, 8600, 9000)).toEqual([])
  })
})

test('a quantile lies linearly between its neighbours', () => {
  expect(quantile([7], 0.95)).toBe(7)
  expect(quantile([10, 20], 0.5)).toBe(15)
  expect(quantile([0, 100], 0.99)).toBeCloseTo(99, 12)
  expect(quantile([1, 2, 3, 4, 5], 1)).toBe(5)
})
