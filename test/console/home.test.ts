// What Home shows first, and what screen readers hear of a change.
import { describe, expect, test } from 'bun:test'
import { describeStreak } from '../../src/console/home/row-state.tsx'
import { partRows, readHomeView } from '../../src/console/home/select-rows.ts'
import { describeChanges } from '../../src/console/kit/use-announced.ts'
import type { OverviewProcess, OverviewRunState } from '../../src/wire/overview.ts'
import type { ProcessState } from '../../src/wire/process-state.ts'

const row = (process: string, state: ProcessState, more: object = {}) =>
  ({ process, state, change: null, meta: null, runs: [], ...more }) as unknown as OverviewProcess
const slower = { change: { at: '', before_ms: 10, after_ms: 30 } }
const namesOf = (rows: readonly OverviewProcess[]) => rows.map(({ process }) => process)

describe('what needs somebody now', () => {
  test('begins with the job that hangs, then has trouble in the order of the server, then what became slower', () => {
    const failed = Array.from({ length: 20 }, (_, i) => row(`failed ${i}`, 'failed'))
    const quiet = [row('fine', 'completed'), row('faster', 'completed', { change: { before_ms: 3, after_ms: 1 } })]
    const { needs, others } = partRows([
      ...failed,
      row('raises', 'exceptions', slower),
      row('slower', 'completed', slower),
      row('hangs', 'overdue'),
      ...quiet,
    ])
    expect(namesOf(needs)).toEqual(['hangs', ...namesOf(failed), 'raises', 'slower'])
    expect(namesOf(others)).toEqual(['fine', 'faster'])
  })

  test('is a part of its own unless the address searches, sorts or filters', () => {
    const isWhole = (search: string) => readHomeView(new URLSearchParams(search)).isWhole
    expect(['', 'all=1', 'q=%20'].map(isWhole)).toEqual([true, true, true])
    expect(['q=job', 'sort=name', 'state=failed'].map(isWhole)).toEqual([false, false, false])
  })
})

describe('how often in a row', () => {
  type Runs = readonly (readonly [OverviewRunState, string])[]
  const runs = (states: Runs) =>
    states.map(([state, meta], i) => [new Date(1e12 - i * 3_600_000).toISOString(), state, 1, meta, null])
  const say = (state: ProcessState, of: Runs) =>
    describeStreak(row('job', state, { meta: 'eu', runs: runs(of) }), (ms) => `hour ${(ms - 1e12) / 3_600_000}`)

  test.each<[string | undefined, ProcessState, Runs]>([
    [
      undefined,
      'failed',
      [
        ['failed', 'eu'],
        ['completed', 'eu'],
      ],
    ],
    [
      '2 times in a row since hour -2',
      'failed',
      [
        ['failed', 'eu'],
        ['completed', 'us'],
        ['exceptions', 'eu'],
        ['completed', 'eu'],
      ],
    ],
    [
      '2 times in a row since hour -2',
      'failed',
      [
        ['running', 'eu'],
        ['failed', 'eu'],
        ['abandoned', 'eu'],
        ['completed', 'eu'],
      ],
    ],
    [
      'At least 2 times in a row since hour -1',
      'failed',
      [
        ['failed', 'eu'],
        ['failed', 'eu'],
      ],
    ],
    [
      undefined,
      'silent',
      [
        ['failed', 'eu'],
        ['failed', 'eu'],
      ],
    ],
    [
      undefined,
      'running',
      [
        ['failed', 'eu'],
        ['failed', 'eu'],
      ],
    ],
  ])('%p, of one that is %p', (text, state, of) => {
    expect(say(state, of)).toBe(text!)
  })
})

describe('screen readers hear', () => {
  const before = new Map<string, ProcessState>([
    ['a', 'completed'],
    ['b', 'failed'],
    ['c', 'running'],
  ])
  const hear = (...rows: readonly OverviewProcess[]) => describeChanges(before, rows)
  test('that a process came into trouble, into another trouble, or out of it', () => {
    expect(hear(row('a', 'failed'))).toBe('a failed.')
    expect(hear(row('b', 'silent'), row('c', 'overdue'))).toBe('b is silent. c is running long.')
    expect(hear(row('b', 'completed'))).toBe('b is fine.')
    expect(hear(row('new', 'failed'))).toBe('new failed.')
  })
  test('no start or end of a process that is fine, unless the page is about it', () => {
    expect(hear(row('a', 'running'), row('c', 'completed'), row('new', 'completed'))).toBe('')
    expect(describeChanges(before, [row('a', 'running')], true)).toBe('a is running.')
    expect(describeChanges(before, [row('a', 'completed')], true)).toBe('')
  })
  test('the number of many', () => {
    expect(hear(...['p', 'q', 'r', 's', 't'].map((name) => row(name, 'failed')))).toBe(
      'p failed. q failed. r failed. 2 more changed.',
    )
  })
})
