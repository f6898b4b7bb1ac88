// Groups of exceptions over time, and what one of them is made of.
import { expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { fingerprint } from '../../src/event/fingerprint.ts'
import { formatNs, parseStampNs } from '../../src/event/stamp.ts'
import { Problem } from '../../src/problem.ts'
import { createChangeGroup } from '../../src/query/exception-groups.ts'
import type { GroupState } from '../../src/query/group-states.ts'
import { memoryQuestions, NOW_NS as NOW } from '../support/memory-questions.ts'
import { createMemorySource } from '../support/memory-source.ts'

const S = 1_000_000_000n

const at = (agoS: number) => formatNs(NOW - BigInt(agoS) * S)
const mark = (agoS: number, kind: 'start' | 'end'): Event => ({
  ...{ kind, account: 'a', process: 'p', meta: '', uid: '' },
  stamp: parseStampNs(NOW - BigInt(agoS) * S),
})
const exception = (agoS: number, text: string, process = 'p'): Event => ({
  kind: 'exception',
  account: 'a',
  process,
  meta: '',
  stamp: parseStampNs(NOW - BigInt(agoS) * S),
  exception: text,
})
const questions = memoryQuestions([
  exception(70, 'no room after 5 ms'),
  exception(65, 'no room after 8 ms'),
  exception(10, 'no room after 13 ms'),
  exception(5, 'TypeError: x is not a function'),
])
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

test('`sort=count` lists the groups with most exceptions first, page by page', async () => {
  const page = async (query: string) => questions.groups('a', new URLSearchParams(`sort=count&limit=1${query}`))
  expect((await ask('')).map(({ count }) => count)).toEqual([1, 3])
  const first = await page('')
  expect(first.groups.map(({ count }) => count)).toEqual([3])
  const second = await page(`&cursor=${first.next}`)
  expect([second.groups.map(({ count }) => count), second.next]).toEqual([[1], null])
})

test.each([
  ['groups', 'duration', 'must be count'],
  ['timings', 'count', 'must be duration'],
] as const)('%s cannot be sorted by %s', async (kind, sort, detail) => {
  const asked = questions[kind]('a', new URLSearchParams({ sort }))
  await expect(asked).rejects.toMatchObject({ code: 'question_invalid', errors: [{ pointer: '/sort', detail }] })
})

test('a fingerprint selects its group, with its normalised text', async () => {
  const [, group] = await ask('')
  const found: object[] = await ask(`fingerprint=${group!.fingerprint}`)
  expect(found).toEqual([{ ...group!, normalized: 'no room after <number>' }])
  expect(await ask('fingerprint=v1:0000000000000000')).toEqual([])
})

test('a group of an older version is returned, with its text normalised by the current rules', async () => {
  const common = { fingerprint: 'v1:0000000000000000', meta: '', count: 1, runs: 0, firstNs: NOW, lastNs: NOW }
  const place = { ns: NOW, tie: '' }
  const group = (process: string, example: string) => ({ ...common, process, example, place })
  const exceptions = {
    ...createMemorySource([]).exceptions,
    groupExceptions: async () => [group('p', 'a 1'), group('q', 'b 2')],
  }
  const search = new URLSearchParams('fingerprint=v1:0000000000000000')
  const { groups } = await memoryQuestions([], { exceptions }).groups('a', search)
  expect(groups.map((found) => (found as { normalized?: string }).normalized)).toEqual(['a <number>', 'a <number>'])
})

// What people decided. p and q have the same fault; `now` is the moment of the question.
const FAULT = 'no room after 5 ms'
const KEY = { fingerprint: fingerprint(FAULT), process: 'p' }
const OTHER = { fingerprint: fingerprint('TypeError: x'), process: 'p' }
const ADA = 'ada@example.com'

function decide(events: readonly Event[], states: GroupState[] = []) {
  const list = async () => states
  const held = {
    list,
    put: async (_: string, added: readonly GroupState[]) => void states.push(...added),
    remove: async (_: string, keys: readonly { fingerprint: string }[]) =>
      void states.splice(
        0,
        states.length,
        ...states.filter((it) => keys.every((key) => key.fingerprint !== it.fingerprint)),
      ),
  }
  const { exceptions } = createMemorySource(events)
  const found = memoryQuestions(events, { groupStates: held })
  const nowUs = () => Number(NOW / 1000n)
  return {
    change: createChangeGroup({ exceptions, states: held, nowUs, changed: () => {} }),
    timings: async (query = '') => (await found.timings('a', new URLSearchParams(query))).timings,
    async groups(query = '') {
      const { groups, hidden } = await found.groups('a', new URLSearchParams(query))
      return { listed: groups.map(({ process, status }) => `${process} ${status}`), hidden, groups }
    },
  }
}
const state = (status: GroupState['status'], agoS: number, key = KEY): GroupState => ({
  ...{ ...key, status, by: ADA, atUs: Number(NOW / 1000n) - agoS * 1e6 },
})

test('ignored and resolved groups are left out and counted; a filter shows them', async () => {
  const events = [exception(9, FAULT), exception(8, FAULT, 'q'), exception(7, 'TypeError: x')]
  const { groups } = decide(events, [state('ignored', 5), state('resolved', 5, OTHER)])
  expect(await groups()).toMatchObject({ listed: ['q unresolved'], hidden: { resolved: 1, ignored: 1 } })
  const all = ['p resolved', 'q unresolved', 'p ignored']
  const rows: [query: string, listed: string[]][] = [
    ['status=all', all],
    ['status=ignored', ['p ignored']],
    ['status=resolved', ['p resolved']],
    ['status=regressed', []],
    [`fingerprint=${KEY.fingerprint}`, ['q unresolved', 'p ignored']],
    [`fingerprint=${KEY.fingerprint}&status=unresolved`, ['q unresolved']],
    ['status=all&limit=1', ['p resolved']],
  ]
  for (const [query, listed] of rows) expect([query, (await groups(query)).listed]).toEqual([query, listed])
  expect((await groups('process=p')).hidden).toEqual({ resolved: 1, ignored: 1 })
  expect((await groups('process=p&text=room')).hidden).toEqual({ resolved: 0, ignored: 1 })
  expect((await groups('from=-6s')).hidden).toEqual({ resolved: 0, ignored: 0 })
})

test('a resolved group that occurs again is regressed, whatever range is asked for, and says who resolved it', async () => {
  const events = [exception(600, FAULT), exception(100, FAULT)]
  const after = decide(events, [state('resolved', 101)])
  const { groups, listed, hidden } = await after.groups('to=-200s')
  expect({ listed, hidden }).toEqual({ listed: ['p regressed'], hidden: { resolved: 0, ignored: 0 } })
  expect(groups[0]).toMatchObject({ status_by: ADA, status_at: '2025-11-20T21:18:19.000Z', count: 1 })
  expect((await decide(events, [state('resolved', 100)]).groups()).listed).toEqual([]) // the last one was before
  expect((await decide(events, [state('ignored', 101)]).groups()).listed).toEqual([])
})

test('a group has the first and the last time of all that is stored', async () => {
  const { groups } = decide([
    exception(9_000, FAULT),
    exception(3_500, FAULT),
    exception(60, FAULT),
    exception(5, FAULT, 'q'),
  ])
  const [group] = (await groups('to=-100s')).groups
  expect(group).toMatchObject({ process: 'p', count: 1, first_at: at(9_000), last_at: at(60) })
})

test('a state whose exceptions are gone, or of an older fingerprint, can be taken back', async () => {
  const old = { fingerprint: 'v1:0123456789abcdef', process: 'p' }
  const { change } = decide([], [state('ignored', 5, old)])
  expect(await change('a', ADA, old, 'unresolved')).toMatchObject([{ ...old, status: 'unresolved', status_by: null }])
  expect(((await change('a', ADA, old, 'unresolved').catch((error) => error)) as Problem).code).toBe('not_found')
})

test('exceptions of ignored and resolved groups are no trouble of a run', async () => {
  const run = [mark(20, 'start'), mark(10, 'end')]
  const events = [...run, exception(15, FAULT), exception(14, 'TypeError: x')]
  const count = async (states: GroupState[]) => {
    const { timings } = decide(events, states)
    return [(await timings())[0]!.exceptions, (await timings('state=trouble')).length]
  }
  expect(await count([])).toEqual([2, 1])
  expect(await count([state('ignored', 5)])).toEqual([1, 1])
  expect(await count([state('ignored', 5), state('resolved', 5, OTHER)])).toEqual([0, 0])
  expect(await count([state('ignored', 5), state('resolved', 14.5, OTHER)])).toEqual([1, 1]) // regressed
})

test('refuses a series of more than 200 buckets, since each group has one', async () => {
  const refused = await ask('from=-1d&every=5m').catch((error) => error)
  expect(refused).toBeInstanceOf(Problem)
  expect((refused as Problem).code).toBe('question_too_large')
  expect(await ask('from=-10h&every=5m')).toHaveLength(2)
})
