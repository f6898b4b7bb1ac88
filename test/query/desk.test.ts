import { expect, test } from 'bun:test'
import { Problem, type ProblemCode } from '../../src/problem.ts'
import { createDesk, DESK_LIMITS } from '../../src/query/desk.ts'
import type { Asker } from '../../src/store/source.ts'
import { deskOf, memoryQuestions } from '../support/memory-questions.ts'
import { createMemorySource } from '../support/memory-source.ts'

const MINUTE_MS = 60_000

/** Work that ends when it is aborted, like a running statement of the engine. */
function endless() {
  const { promise, resolve } = Promise.withResolvers<string>()
  const signals: AbortSignal[] = []
  return {
    end: () => resolve('answer'),
    signals,
    work: (signal: AbortSignal) => {
      signals.push(signal)
      return promise
    },
  }
}

const refusalOf = (answer: Promise<unknown>) =>
  answer.then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(Problem)
      return error as Problem
    },
  )
const codeOf = async (answer: Promise<unknown>): Promise<ProblemCode> => (await refusalOf(answer)).code

test('a question without an answer in time asks for a shorter range, and its work is aborted', async () => {
  const limit = deskOf({ deadlineMs: 20, maxAtOnce: 1, maxRunning: 1 })
  const { work, signals } = endless()
  const refusal = await refusalOf(limit('ada', {}, work))
  expect(refusal).toMatchObject({ code: 'question_too_large', status: 422 })
  expect(refusal.detail).toContain('Ask for a shorter range')
  expect(signals[0]!.aborted).toBe(true)
})

test('limits concurrent questions per account without affecting other accounts', async () => {
  const limit = deskOf({ deadlineMs: MINUTE_MS, maxAtOnce: 2, maxRunning: 2 })
  const { work, end } = endless()
  const running = [limit('ada', {}, work), limit('ada', {}, work)]
  expect(await refusalOf(limit('ada', {}, work))).toMatchObject({
    code: 'rate_limited',
    status: 429,
    retryAfterS: 1,
  })
  running.push(limit('eve', {}, work))
  end()
  expect(await Promise.all(running)).toEqual(['answer', 'answer', 'answer'])
  expect(await limit('ada', {}, work)).toBe('answer')
})

test('refuses none of twenty people with three questions each', async () => {
  const limit = createDesk()
  const { work, end } = endless()
  const asked = Array.from({ length: 60 }, () => limit('ada', {}, work))
  end()
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['answer']))
})

test('work counts until it ends, also after its client disconnected', async () => {
  const limit = deskOf({ deadlineMs: MINUTE_MS, maxAtOnce: 1, maxRunning: 1 })
  const { work, end, signals } = endless()
  const client = new AbortController()
  const left = limit('ada', { left: client.signal }, work)
  client.abort()
  expect(await codeOf(left)).toBe('store_unavailable')
  expect(signals[0]!.aborted).toBe(true)
  expect(await codeOf(limit('ada', {}, work))).toBe('rate_limited')
  end()
  await Bun.sleep(0)
  expect(await limit('ada', {}, work)).toBe('answer')
})

test('a failed question no longer counts', async () => {
  const limit = deskOf({ deadlineMs: MINUTE_MS, maxAtOnce: 1, maxRunning: 1 })
  for (let i = 0; i < 3; i++)
    await expect(limit('ada', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('a question whose answer has not been sent counts as running, and the next one waits', async () => {
  const limit = deskOf({ deadlineMs: MINUTE_MS, maxAtOnce: 3, maxRunning: 1 })
  const { promise: sent, resolve: noteSent } = Promise.withResolvers<void>()
  const begun: string[] = []
  const ask = (name: string, account = 'ada') =>
    limit(account, name === 'first' ? { sent } : {}, async () => {
      begun.push(name)
      return name
    })
  expect(await ask('first')).toBe('first')
  const waiting = [ask('second'), ask('third')]
  expect(await codeOf(ask('fourth'))).toBe('rate_limited')
  expect(await ask('of another', 'eve')).toBe('of another')
  expect(begun).toEqual(['first', 'of another'])
  noteSent()
  expect(await Promise.all(waiting)).toEqual(['second', 'third'])
  expect(begun).toEqual(['first', 'of another', 'second', 'third'])
})

test('a question that waited too long behind unread answers is rate_limited and never runs', async () => {
  const limit = deskOf({ deadlineMs: 20, maxAtOnce: 2, maxRunning: 1 })
  const { promise: sent, resolve: noteSent } = Promise.withResolvers<void>()
  let begun = 0
  const work = async () => ++begun
  await limit('ada', { sent }, work)
  expect(await refusalOf(limit('ada', {}, work))).toMatchObject({ code: 'rate_limited', retryAfterS: 5 })
  noteSent()
  expect(await limit('ada', {}, work)).toBe(2)
})

test('a question whose turn came shortly before its deadline is to be asked again', async () => {
  const limit = deskOf({ deadlineMs: 400, maxAtOnce: 2, maxRunning: 1 })
  const { work, end } = endless()
  const before = limit('ada', {}, () => Bun.sleep(300))
  const late = refusalOf(limit('ada', {}, work))
  await before
  expect(await late).toMatchObject({ code: 'rate_limited', retryAfterS: 5 })
  end()
})

test('a short question does not wait behind long ones, and neither kind starves the other', async () => {
  const limit = deskOf({ deadlineMs: MINUTE_MS, maxAtOnce: 20, maxRunning: 3 })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const ask = (name: string, isShort: boolean) =>
    limit('ada', { isShort }, () => {
      begun.push(name)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const asked = ['l1', 'l2', 'l3', 's1', 's2'].map((name) => ask(name, name.startsWith('s')))
  expect(begun).toEqual(['l1', 'l2', 's1'])
  const end = async (place: number) => {
    ends[place]!()
    await Bun.sleep(0)
  }
  await end(2)
  expect(begun.slice(3)).toEqual(['s2'])
  asked.push(ask('s3', true))
  await end(0)
  expect(begun.slice(4)).toEqual(['l3'])
  for (const place of [1, 3, 4]) await end(place)
  await end(5)
  await Promise.all(asked)
})

test('work that fails before it awaits anything frees its turn', async () => {
  const limit = deskOf({ deadlineMs: MINUTE_MS, maxAtOnce: 1, maxRunning: 1 })
  const failing = limit('ada', {}, () => {
    throw new Error('at once')
  })
  expect(await failing.catch(String)).toBe('Error: at once')
  expect(await limit('ada', {}, async () => 'answer')).toBe('answer')
})

test('the time of a part begins with its work', async () => {
  const limit = deskOf({ deadlineMs: 20, maxAtOnce: 2, maxRunning: 1 })
  const { work, end } = endless()
  const late = codeOf(limit('ada', {}, work))
  const part = limit('ada', { isPart: true }, async () => 'page')
  const hanging = codeOf(limit('ada', { isPart: true }, () => new Promise(() => {})))
  expect(await late).toBe('question_too_large') // its work still runs
  await Bun.sleep(40) // longer than the deadline: the part still waits
  end()
  expect([await part, await hanging]).toEqual(['page', 'question_too_large'])
})

test('a range is short if all that a question reads is', async () => {
  const asked: unknown[] = []
  const { points } = createMemorySource([])
  const find = async ({ isShort }: Asker) => {
    asked.push(isShort)
    return []
  }
  const questions = memoryQuestions([], { points: { ...points, summarizeTimings: find, findNewestMetrics: find } })
  for (const query of ['from=-1h', 'from=-1h&compare_from=-2h', 'from=-1h&compare_from=-90d', 'from=-2h'])
    await questions.summary('ada', new URLSearchParams(query))
  expect(asked).toEqual([true, true, true, false, false, false])
  asked.length = 0
  await questions.prometheus('ada', new URLSearchParams())
  expect(new Set(asked)).toEqual(new Set([false]))
})

test('a part of an export waits where a question would be refused', async () => {
  const limit = deskOf({ deadlineMs: MINUTE_MS, maxAtOnce: 1, maxRunning: 1 })
  const { work, end } = endless()
  const first = limit('ada', {}, work)
  const part = limit('ada', { isPart: true }, async () => 'page')
  expect(await codeOf(limit('ada', {}, work))).toBe('rate_limited')
  end()
  expect(await Promise.all([first, part])).toEqual(['answer', 'page'])
})

test('every question is under the limits, and its selection carries the signal to the store', async () => {
  const never = new Promise<never>(() => {})
  const signals: (AbortSignal | undefined)[] = []
  const { points, exceptions } = createMemorySource([])
  const hang = ({ signal }: { readonly signal?: AbortSignal | undefined }) => {
    signals.push(signal)
    return never
  }
  const questions = memoryQuestions([], {
    points: { ...points, countMarks: hang, findMetrics: hang, findPointProcesses: hang },
    exceptions: { ...exceptions, findExceptions: hang, groupExceptions: hang },
    desk: deskOf({ deadlineMs: 20, maxAtOnce: 6, maxRunning: 6 }),
  })
  const kinds = ['timings', 'summary', 'metrics', 'exceptions', 'groups', 'processes'] as const
  const asked = kinds.map((kind) => codeOf(questions[kind]('ada', new URLSearchParams())))
  expect(await codeOf(questions.series('ada', new URLSearchParams()))).toBe('rate_limited')
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['question_too_large']))
  expect(signals.map((signal) => signal?.aborted)).toEqual(kinds.map(() => true))
})

test('a node runs so many of all, the accounts take turns, and the last place is for one that has none', async () => {
  const desk = deskOf({ deadlineMs: MINUTE_MS, maxAtOnce: 12, maxRunning: 12 }, 4)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const ask = (account: string, n: number) =>
    desk(account, { isShort: true }, () => {
      begun.push(`${account}${n}`)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const asked = Array.from({ length: 12 }, (_, i) => ask('ada', i))
  expect(begun).toEqual(['ada0', 'ada1', 'ada2'])
  asked.push(ask('eve', 0), ask('eve', 1), ask('zoe', 0))
  expect(begun.slice(3)).toEqual(['eve0'])
  for (let i = 0; i < asked.length; i++) {
    ends[i]!()
    await Bun.sleep(0)
  }
  await Promise.all(asked)
  // zoe and eve each wait for one of ada's twelve
  expect(begun.indexOf('zoe0')).toBeLessThanOrEqual(5)
  expect(begun.indexOf('eve1')).toBeLessThanOrEqual(7)
})

test('an answer that nobody reads holds a place of its account, and none of the node', async () => {
  const desk = deskOf({ deadlineMs: MINUTE_MS, maxAtOnce: 4, maxRunning: 2 }, 2)
  const sent = new Promise<void>(() => {})
  for (const account of ['ada', 'eve'])
    for (let i = 0; i < 2; i++) await desk(account, { sent, isShort: true }, async () => i)
  expect(await desk('zoe', {}, async () => 'answer')).toBe('answer')
})

test('a store that does not answer holds no place of questions to the other alone, if the stores are two', async () => {
  for (const isOneStore of [true, false]) {
    const desk = createDesk(DESK_LIMITS, isOneStore)
    const { work, end } = endless()
    const hung: Promise<string>[] = []
    for (const account of ['ada', 'bob', 'cy', 'dan', 'eve', 'fay'])
      for (const asks of ['exceptions', 'both'] as const)
        for (const isShort of [false, true]) hung.push(desk(account, { asks, isShort }, work))
    const begun: boolean[] = []
    const other = desk('zoe', { asks: 'points' }, async () => void begun.push(isOneStore))
    await Bun.sleep(0)
    expect(begun).toEqual(isOneStore ? [] : [false])
    end()
    await Promise.all([...hung, other])
  }
})

test.each([
  ['points', ['exceptions', 'outputs', 'groups']],
  ['exceptions', ['summary', 'metrics']],
] as const)('while the store of %s does not answer, these do: %p', async (store, kinds) => {
  const { promise, resolve } = Promise.withResolvers<never[]>()
  const away = new Proxy({}, { get: () => () => promise })
  const questions = memoryQuestions([], { [store]: away })
  const week = new URLSearchParams({ from: '-7d' })
  const waiting = ['ada', 'bob', 'cy', 'dan', 'eve', 'fay'].flatMap((account) =>
    Array.from({ length: 3 }, () => questions.processes(account, week)),
  )
  for (const kind of kinds) expect(await questions[kind]('zoe', week)).toBeObject()
  resolve([])
  await Promise.all(waiting)
})

test('the number of all marks, which every account waits for, is asked for in the turn of none', async () => {
  const { points } = createMemorySource([])
  const never = new Promise<never>(() => {})
  const boundMarks = ({ account }: { account: string }) => (account === 'ada' ? never : Promise.resolve(1))
  const questions = memoryQuestions([], { points: { ...points, boundMarks } })
  const asked = ['ada', 'eve'].map((account) => questions.summary(account, new URLSearchParams()))
  for (const answer of await Promise.all(asked)) expect(answer).toEqual({ rows: [] })
})
