import { describe, expect, test } from 'bun:test'
import {
  answerException,
  answerGroup,
  answerMetric,
  answerMetricRows,
  answerProcess,
  answerSummary,
  answerTiming,
  mergeProcesses,
  toMs,
} from '../../src/query/answers.ts'
import type { TimingSummaryRow } from '../../src/store/source.ts'

const T = 1_763_673_600_000_000_000n

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

describe('a timing', () => {
  const common = { process: 'p', meta: 'm', uid: 'u' }
  test('that is completed has both ends and a duration', () => {
    expect(answerTiming({ ...common, state: 'completed', startedNs: T + 42n, endedNs: T + 1_500_042n })).toEqual({
      ...common,
      state: 'completed',
      started_at: '2025-11-20T21:20:00.000000042Z',
      ended_at: '2025-11-20T21:20:00.001500042Z',
      duration_ms: 1.5,
      exceptions: null,
    })
  })
  test('that is not completed has null for missing values', () => {
    expect(answerTiming({ process: 'p', meta: '', uid: '', state: 'running', startedNs: T })).toEqual({
      process: 'p',
      meta: null,
      uid: null,
      state: 'running',
      started_at: '2025-11-20T21:20:00.000000000Z',
      ended_at: null,
      duration_ms: null,
      exceptions: null,
    })
    expect(answerTiming({ ...common, state: 'orphan', endedNs: T })).toMatchObject({
      started_at: null,
      ended_at: '2025-11-20T21:20:00.000000000Z',
      duration_ms: null,
    })
  })
})

test('an exception names its run only where it was sent with a uid', () => {
  const row = { atNs: T, process: 'p', meta: '', exception: 'x', fingerprint: 'v1:0', place: { ns: T, tie: '' } }
  const plain = { at: '2025-11-20T21:20:00.000000000Z', process: 'p', meta: null, exception: 'x', fingerprint: 'v1:0' }
  expect(answerException({ ...row, uid: '' })).toEqual(plain)
  expect(answerException({ ...row, uid: 'u' })).toEqual({ ...plain, uid: 'u' })
})

describe('a summary', () => {
  const row: TimingSummaryRow = {
    process: 'p',
    count: 1,
    meanMs: 1.5,
    p50Ms: 1.5,
    p95Ms: 1.5,
    p99Ms: 1.5,
    maxMs: 1.5,
    failed: 4,
    running: 1,
    abandoned: 2,
    orphan: 3,
  }
  test('names meta and time only where it is split by them', () => {
    const plain = {
      process: 'p',
      count: 1,
      mean_ms: 1.5,
      p50_ms: 1.5,
      p95_ms: 1.5,
      p99_ms: 1.5,
      max_ms: 1.5,
      failed: 4,
      failure_rate: 0.8,
      running: 1,
      abandoned: 2,
      orphan: 3,
    }
    expect(answerSummary([row])).toEqual([plain])
    expect(answerSummary([{ ...row, meta: '', atNs: T }])).toEqual([
      { ...plain, meta: null, at: '2025-11-20T21:20:00.000000000Z' },
    ])
  })
  test('is ordered by time, process and meta', () => {
    const at = (atNs: bigint, process: string, meta: string) => ({ ...row, atNs, process, meta })
    const rows = [at(T, 'b', ''), at(T + 1n, 'a', ''), at(T, 'a', 'x'), at(T, 'a', '')]
    expect(answerSummary(rows).map(({ process, meta }) => [process, meta])).toEqual([
      ['a', null],
      ['a', 'x'],
      ['b', null],
      ['a', null],
    ])
  })
})

test('a metric, its rows and an exception', () => {
  const at = '2025-11-20T21:20:00.000000000Z'
  expect(answerMetric({ atNs: T, process: 'p', meta: '', uid: '', name: 'n', value: 1.5 })).toEqual({
    at,
    process: 'p',
    meta: null,
    uid: null,
    name: 'n',
    value: 1.5,
  })
  const row = { atNs: T, process: 'p', name: 'b', count: 2, mean: 1, min: 0, max: 2, sum: 2, last: 2 }
  const { atNs: _, ...figures } = row
  expect(answerMetricRows([row, { ...row, name: 'a' }, { ...row, atNs: T - 1n }])).toEqual([
    { at: '2025-11-20T21:19:59.999999999Z', ...figures },
    { at, ...figures, name: 'a' },
    { at, ...figures },
  ])
  expect(answerException({ atNs: T, process: 'p', meta: 'm', uid: '', exception: '', fingerprint: 'v0:1' })).toEqual({
    at,
    process: 'p',
    meta: 'm',
    exception: '',
    fingerprint: 'v0:1',
  })
})

test('groups come most recent first', () => {
  const group = { fingerprint: 'a', process: 'p', count: 2, firstNs: T, lastNs: T + 5n, example: 'x' }
  expect([{ ...group, fingerprint: 'b', lastNs: T + 9n }, group].map(answerGroup)).toEqual([
    {
      fingerprint: 'b',
      process: 'p',
      count: 2,
      first_at: '2025-11-20T21:20:00.000000000Z',
      last_at: '2025-11-20T21:20:00.000000009Z',
      example: 'x',
    },
    {
      fingerprint: 'a',
      process: 'p',
      count: 2,
      first_at: '2025-11-20T21:20:00.000000000Z',
      last_at: '2025-11-20T21:20:00.000000005Z',
      example: 'x',
    },
  ])
})

describe('a process', () => {
  const answerAll = (rows: Parameters<typeof mergeProcesses>[0]) => mergeProcesses(rows, false).map(answerProcess)

  test('known to both stores is listed once', () => {
    expect(
      answerAll([
        { process: 'p', metas: ['b'], lastNs: T, kinds: ['metric', 'mark'] },
        { process: 'q', metas: [''], lastNs: T + 2n, kinds: ['mark'] },
        { process: 'p', metas: ['', 'a', 'b'], lastNs: T + 1n, kinds: ['exception'] },
      ]),
    ).toEqual([
      { process: 'q', metas: [null], more_metas: false, last_at: '2025-11-20T21:20:00.000000002Z', kinds: ['mark'] },
      {
        process: 'p',
        metas: [null, 'a', 'b'],
        more_metas: false,
        last_at: '2025-11-20T21:20:00.000000001Z',
        kinds: ['mark', 'metric', 'exception'],
      },
    ])
  })
})
