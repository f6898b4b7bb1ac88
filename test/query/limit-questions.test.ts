import { expect, test } from 'bun:test'
import { Problem, type ProblemCode } from '../../src/problem.ts'
import { createQuestionLimit } from '../../src/query/limit-questions.ts'
import { createQuestions } from '../../src/query/questions.ts'
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

test('a question without an answer in time is store_unavailable, and its work is aborted', async () => {
  const limit = createQuestionLimit({ deadlineMs: 20, maxAtOnce: 1 })
  const { work, signals } = endless()
  const refusal = await refusalOf(limit('ada', undefined, work))
  expect(refusal).toMatchObject({ code: 'store_unavailable', status: 503, retryAfterS: 5 })
  expect(String(refusal.cause)).toContain('no answer within 20 ms')
  expect(signals[0]!.aborted).toBe(true)
})

test('of one account so many run at once; another account does not feel it', async () => {
  const limit = createQuestionLimit({ deadlineMs: MINUTE_MS, maxAtOnce: 2 })
  const { work, end } = endless()
  const running = [limit('ada', undefined, work), limit('ada', undefined, work)]
  expect(await refusalOf(limit('ada', undefined, work))).toMatchObject({
    code: 'rate_limited',
    status: 429,
    retryAfterS: 1,
  })
  running.push(limit('eve', undefined, work))
  end()
  expect(await Promise.all(running)).toEqual(['answer', 'answer', 'answer'])
  expect(await limit('ada', undefined, work)).toBe('answer')
})

test('work counts until it ends, also when its client is gone', async () => {
  const limit = createQuestionLimit({ deadlineMs: MINUTE_MS, maxAtOnce: 1 })
  const { work, end, signals } = endless()
  const client = new AbortController()
  const left = limit('ada', client.signal, work)
  client.abort()
  expect(await codeOf(left)).toBe('store_unavailable')
  expect(signals[0]!.aborted).toBe(true)
  expect(await codeOf(limit('ada', undefined, work))).toBe('rate_limited')
  end()
  await Bun.sleep(0)
  expect(await limit('ada', undefined, work)).toBe('answer')
})

test('a question that fails counts no more', async () => {
  const limit = createQuestionLimit({ deadlineMs: MINUTE_MS, maxAtOnce: 1 })
  for (let i = 0; i < 3; i++)
    await expect(limit('ada', undefined, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('every question is under the limits, and its selection carries the signal to the store', async () => {
  const never = new Promise<never>(() => {})
  const signals: (AbortSignal | undefined)[] = []
  const { points, exceptions } = createMemorySource([])
  const hang = ({ signal }: { readonly signal?: AbortSignal }) => {
    signals.push(signal)
    return never
  }
  const questions = createQuestions({
    points: { ...points, countMarks: hang, findMetrics: hang, findPointProcesses: hang },
    exceptions: { ...exceptions, findExceptions: hang, groupExceptions: hang },
    nowNs: () => 1_763_673_600_000_000_000n,
    maxRunNs: 86_400_000_000_000n,
    maxMarks: 10,
    series: () => ({ used: 0, max: 0 }),
    limits: { deadlineMs: 20, maxAtOnce: 6 },
  })
  const kinds = ['timings', 'summary', 'metrics', 'exceptions', 'groups', 'processes'] as const
  const asked = kinds.map((kind) => codeOf(questions[kind]('ada', new URLSearchParams())))
  expect(await codeOf(questions.series('ada', new URLSearchParams()))).toBe('rate_limited')
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['store_unavailable']))
  expect(signals.map((signal) => signal?.aborted)).toEqual(kinds.map(() => true))
})
