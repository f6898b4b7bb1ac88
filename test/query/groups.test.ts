// Groups of exceptions over time, and what one of them is made of.
import { expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { Problem } from '../../src/problem.ts'
import { createQuestions } from '../../src/query/questions.ts'
import { createMemorySource } from '../support/memory-source.ts'

const S = 1_000_000_000n
const NOW = 1_763_673_600n * S

const exception = (agoS: number, text: string): Event => ({
  kind: 'exception',
  account: 'a',
  process: 'p',
  meta: '',
  stamp: parseStampNs(NOW - BigInt(agoS) * S),
  exception: text,
})
const questions = createQuestions({
  ...createMemorySource([
    exception(70, 'no room after 5 ms'),
    exception(65, 'no room after 8 ms'),
    exception(10, 'no room after 13 ms'),
    exception(5, 'TypeError: x is not a function'),
  ]),
  nowNs: () => NOW,
  maxRunNs: 86_400n * S,
  maxMarks: 1000,
  series: () => ({ used: 0, max: 0 }),
  firing: async () => [],
})
const ask = async (query: string) => (await questions.groups('a', new URLSearchParams(query))).groups

test('`every` adds counts, oldest bucket first, without empty ones', async () => {
  expect((await ask('every=1m')).map(({ count, counts }) => [count, counts])).toEqual([
    [1, [{ at: '2025-11-20T21:19:00.000000000Z', count: 1 }]],
    [
      3,
      [
        { at: '2025-11-20T21:18:00.000000000Z', count: 2 },
        { at: '2025-11-20T21:19:00.000000000Z', count: 1 },
      ],
    ],
  ])
  expect(Object.keys((await ask(''))[0]!)).not.toContain('counts')
})

test('a fingerprint selects its group, with its normalised text', async () => {
  const [, group] = await ask('')
  const found: object[] = await ask(`fingerprint=${group!.fingerprint}`)
  expect(found).toEqual([{ ...group!, normalized: 'no room after <number>' }])
  expect(await ask('fingerprint=v1:0000000000000000')).toEqual([])
})

test('a group of an older version is returned, with its text normalised by the current rules', async () => {
  const points = createMemorySource([]).points
  const common = { fingerprint: 'v1:0000000000000000', count: 1, firstNs: NOW, lastNs: NOW }
  const place = { ns: NOW, tie: '' }
  const group = (process: string, example: string) => ({ ...common, process, example, place })
  const source = {
    ...createMemorySource([]).exceptions,
    groupExceptions: async () => [group('p', 'a 1'), group('q', 'b 2')],
  }
  const { groups } = await createQuestions({
    points,
    exceptions: source,
    nowNs: () => NOW,
    maxRunNs: S,
    maxMarks: 1,
    series: () => ({ used: 0, max: 0 }),
    firing: async () => [],
  }).groups('a', new URLSearchParams('fingerprint=v1:0000000000000000'))
  expect(groups.map((found) => (found as { normalized?: string }).normalized)).toEqual(['a <number>', 'a <number>'])
})

test('refuses a series of more than 200 buckets, since each group has one', async () => {
  const refused = await ask('from=-1d&every=5m').catch((error) => error)
  expect(refused).toBeInstanceOf(Problem)
  expect((refused as Problem).code).toBe('question_too_large')
  expect(await ask('from=-10h&every=5m')).toHaveLength(2)
})
