// Home's sentence: a table of facts and what is said about them.
import { expect, test } from 'bun:test'
import { describeOverall, type HomeFacts } from '../../src/console/home/overall.ts'
import { compareWeek } from '../../src/console/home/week-feed.ts'

const CALM = { firing: 0, acknowledged: 0, unjudged: 0, failingChannels: 0 }

test.each<[Partial<HomeFacts>, string, 'bad' | 'warn' | 'good']>([
  [{ verdicts: { fine: 1 } }, 'The only process is fine.', 'good'],
  [{ verdicts: { fine: 202 } }, 'All 202 processes fine.', 'good'],
  [{ verdicts: { exceptions: 1 } }, '1 process has exceptions.', 'bad'],
  [{ verdicts: { exceptions: 20 } }, '20 processes have exceptions.', 'bad'],
  [{ verdicts: { failed: 2 } }, '2 processes failed.', 'bad'],
  [{ verdicts: { quiet: 3 } }, '3 processes have no runs.', 'good'],
  [{ verdicts: { running: 1, fine: 2 } }, '1 running, 2 fine.', 'good'],
  [{ verdicts: { overdue: 1, fine: 2 } }, '1 overdue, 2 fine.', 'warn'],
  [
    { verdicts: { failed: 2, unfinished: 1, exceptions: 1, overdue: 1, running: 4, fine: 190, quiet: 3 } },
    '2 failed, 1 never finished, 1 with exceptions, 1 overdue, 4 running, 190 fine, 3 without runs.',
    'bad',
  ],
  [{ verdicts: { firing: 4, fine: 198 }, firing: 4 }, '4 alerts firing; 4 with an alert, 198 fine.', 'bad'],
  [{ verdicts: { fine: 1 }, firing: 1 }, '1 alert firing; 1 fine.', 'bad'],
  [
    { verdicts: { failed: 3, fine: 7 }, firing: 2, acknowledged: 1 },
    '2 alerts firing, 1 acknowledged; 3 failed, 7 fine.',
    'bad',
  ],
  [{ verdicts: { fine: 7 }, acknowledged: 1 }, '1 alert acknowledged; 7 fine.', 'warn'],
  [{ verdicts: { fine: 7 }, failingChannels: 2 }, '2 channels failing; 7 fine.', 'bad'],
  [{ verdicts: { fine: 7 }, unjudged: 1 }, '1 check could not be judged; 7 fine.', 'warn'],
  [{ verdicts: { fine: 7 }, isPartial: true }, 'Not everything could be loaded; 7 fine.', 'warn'],
  [{ verdicts: {}, firing: 1 }, '1 alert firing.', 'bad'],
  [{ verdicts: {} }, '', 'good'],
])('%j: %s', (facts, sentence, tone) => {
  expect(describeOverall({ verdicts: {}, ...CALM, ...facts })).toEqual({ sentence, tone })
})

test.each([
  [{ count: 1, p50_ms: 2500 }, { count: 50, p50_ms: 1000 }, 2.5],
  [{ count: 9, p50_ms: 3 }, { count: 50, p50_ms: 1 }, 1], // a few milliseconds are noise
  [{ count: 9, p50_ms: 900 }, { count: 2, p50_ms: 100 }, undefined],
  [{ count: 0, p50_ms: null }, { count: 9, p50_ms: 100 }, undefined],
])('the last day %j against the week before %j is a ratio of %p', (now, before, ratio) => {
  const row = (figures: object) => ({
    ...{ process: 'p', mean_ms: null, p95_ms: null, p99_ms: null, max_ms: null },
    ...{ count: 0, p50_ms: null, failed: 0, failure_rate: null, running: 0, abandoned: 0, orphan: 0 },
    ...figures,
  })
  expect(compareWeek(row(now), row(before))?.ratio).toBe(ratio)
  expect(compareWeek(row(now), undefined)).toBeUndefined()
})
