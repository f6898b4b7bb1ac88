// The sentence about all processes, and that about one: facts and what is said.

import { describe, expect, test } from 'bun:test'
import { describeProcess } from '../../src/wire/describe-process.ts'
import { type OverviewRow, OverviewRow as Row } from '../../src/wire/overview.ts'
import { describeOverall, type OverallFacts, PROCESS_STATES } from '../../src/wire/process-state.ts'
import { exampleOf } from '../../src/wire/route.ts'
import { formatSpan, formatTimes } from '../../src/wire/span-text.ts'

describe('one sentence about all', () => {
  const cases: readonly (readonly [OverallFacts, string, string])[] = [
    [{ counts: {} }, '', 'good'],
    [{ counts: { completed: 1 } }, '1 process is fine.', 'good'],
    [{ counts: { completed: 2 } }, 'All 2 processes fine.', 'good'],
    [{ counts: { completed: 4, silent: 2, failed: 1 } }, '1 failed, 2 silent, 4 fine.', 'bad'],
    [{ counts: { silent: 1 } }, '1 process is silent.', 'bad'],
    [{ counts: { silent: 2 } }, '2 processes are silent.', 'bad'],
    [{ counts: { overdue: 1, completed: 1200 } }, '1 running long, 1,200 fine.', 'warn'],
    [{ counts: { completed: 1 }, unjudged: 1 }, '1 watch could not be checked; 1 fine.', 'warn'],
    [{ counts: {}, failingChannels: 2 }, '2 channels failing.', 'bad'],
  ]
  for (const [facts, sentence, tone] of cases)
    test(sentence || 'nothing', () => expect<unknown>(describeOverall(facts)).toEqual({ sentence, tone }))
  test('every state has its words', () => {
    for (const state of PROCESS_STATES) expect(describeOverall({ counts: { [state]: 3 } }).sentence).toContain('3')
  })
})

describe('one sentence about a process', () => {
  const now = Date.parse('2026-11-20T22:28:02.421Z')
  const words = {
    duration: (ms: number) => `${Math.round(ms / 100) / 10} s`,
    moment: (ms: number) => new Date(ms).toISOString().slice(0, 16),
    times: formatTimes,
  }
  const example: OverviewRow = { ...exampleOf(Row), change: null, meta: null }
  const say = (row: Partial<OverviewRow>) => describeProcess({ ...example, ...row }, now, words)
  const silent = { state: 'silent', since: '2026-11-16T22:28:02.421Z', every_s: 86_400 } as const
  const alert = { ...exampleOf(Row).alerts[0]!, condition: 'slow', since: '2026-11-20T21:53:02.421Z' } as const

  const lag = { ...alert, condition: 'metric', summary: `${example.process}: lag is above 5 (last of 10s: 7)` } as const
  const raised = {
    ...alert,
    condition: 'failed',
    summary: `${example.process} raised an exception at 2026-11-20 21:53 UTC`,
  } as const
  const withException = ['2026-11-20T21:52:42.171920000Z', 'exceptions', 20249.2, null, null] as const
  const ofNoLength = ['2026-11-20T21:52:42.171920000Z', 'completed', 0, null, null] as const

  const cases: readonly (readonly [Partial<OverviewRow>, string])[] = [
    [{}, 'Failed 35 min ago.'],
    [{ meta: 'plan team' }, 'Failed 35 min ago (plan team).'],
    [{ meta: '🎈'.repeat(60) }, `Failed 35 min ago (${'🎈'.repeat(60)}).`],
    [{ state: 'never_finished' }, 'Never finished: the run of 2026-11-20T21:53.'],
    [silent, 'Silent: no start for 4 days, usually every 24 h.'],
    [{ ...silent, meta: 'eu', every_s: null }, 'Silent: no start of eu for 4 days.'],
    [{ state: 'silent', since: null }, 'Silent: it has not started.'],
    [
      { state: 'silent', since: null, every_s: 0.1, meta: 'm'.repeat(500) },
      `Silent: it has not started (${'m'.repeat(60)}…).`,
    ],
    [{ ...silent, every_s: 0.1 }, 'Silent: no start for 4 days, usually every second or less.'],
    [{ state: 'exceptions', run: withException }, 'Completed 35 min ago, with an exception.'],
    [{ state: 'exceptions' }, 'Exception 35 min ago.'],
    [{ state: 'exceptions', run: null }, 'Exception 35 min ago.'],
    [{ state: 'firing', alerts: [alert] }, 'Slower than usual for 35 min.'],
    [
      { state: 'firing', meta: 'eu', alerts: [lag, { ...alert, meta: 'eu', condition: 'long' }] },
      'Running long for 35 min (eu).',
    ],
    [{ state: 'firing', alerts: [raised] }, 'Raised an exception 35 min ago.'],
    [{ state: 'firing', alerts: [lag] }, 'Metric lag is above 5 (last of 10s: 7) for 35 min.'],
    [{ state: 'running' }, 'Running for 2100 s, usually 14.1 s.'],
    [{ state: 'overdue', usual_ms: null }, 'Running for 2100 s.'],
    [{ state: 'completed' }, 'Completed 35 min ago in 20.2 s.'],
    [{ state: 'completed', run: ofNoLength }, 'Completed 35 min ago.'],
    [{ state: 'no_runs', run: null, since: null }, 'No runs. It only sends metrics or exceptions.'],
  ]
  for (const [row, text] of cases) test(text, () => expect(say(row).text).toBe(text))

  test('the change', () => {
    const change = { at: '2026-11-19T23:00:00.000Z', before_ms: 14_100, after_ms: 35_500 }
    expect(say({ change }).change).toBe('2.5× slower since 2026-11-19T23:00: median 35.5 s, before 14.1 s.')
    expect(say({ change: { ...change, after_ms: 1_000 } }).change).toStartWith('14× faster since')
  })
  test('spans are short', () => {
    expect([5_000, 100_000, 7_200_000, 4 * 86_400_000].map(formatSpan)).toEqual(['5 s', '2 min', '2 h', '4 days'])
  })
})
