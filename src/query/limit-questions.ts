// Limits of a question: a time, including its wait, and a number per account. A question runs until its answer has been
// sent: an account that does not read its answers holds the memory of a few, and no turn of others. The time is below
// the socket's timeout (http/listen.ts), so that a slow question gets an answer that says so.
// Invariant: of each account in `loads` something runs or waits, and nothing waits while fewer than `maxRunning` run.
import { Problem } from '../problem.ts'
import { StoreError } from '../store/source.ts'
import { tooSlow } from './limits.ts'

export interface QuestionLimits {
  readonly deadlineMs: number
  /** Per account, running or waiting. */
  readonly maxAtOnce: number
  /** Per account; the others wait. */
  readonly maxRunning: number
}

export interface Reader {
  /** Aborts when the client is gone. */
  readonly left?: AbortSignal
  /** Resolves when the answer has been sent, or when nobody will read it. Absent: the answer is read at once. */
  readonly sent?: Promise<void>
}

/** A console page may ask while the previous page's questions still run; a few at once keep the store fully busy. */
const LIMITS: QuestionLimits = { deadlineMs: 45_000, maxAtOnce: 16, maxRunning: 4 }
const RETRY_AFTER_S = 5

interface Load {
  running: number
  readonly waiting: (() => void)[]
}

const storeUnavailable = (cause: StoreError) =>
  new Problem('store_unavailable', 'The store did not answer the question. What was sent is safe: try again.', {
    retryAfterS: RETRY_AFTER_S,
    cause,
  })

/** The store's answer; a StoreError becomes a Problem. */
export async function ask<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    throw cause.isTooSlow ? tooSlow(cause) : storeUnavailable(cause)
  }
}

const turnTooLate = (maxRunning: number) =>
  new Problem(
    'rate_limited',
    `The question waited too long for the ${maxRunning} of the account that ran before it, or for their answers ` +
      'to be read.',
    { retryAfterS: RETRY_AFTER_S },
  )

/**
 * Does the work with a signal that aborts when its answer is not awaited any more: after the deadline, or when the
 * reader has left. The work counts until it ended and its answer was sent. Rejects with Problem `question_too_large`
 * after the deadline, `rate_limited` when it waited for half of it, and `store_unavailable` when the reader has left.
 */
export function createQuestionLimit({ deadlineMs, maxAtOnce, maxRunning }: QuestionLimits = LIMITS) {
  const loads = new Map<string, Load>()

  function tidy(account: string, { running, waiting }: Load): void {
    if (running === 0 && waiting.length === 0) loads.delete(account)
  }

  return async <T>(account: string, { left, sent }: Reader, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const load = loads.get(account) ?? { running: 0, waiting: [] }
    if (load.running + load.waiting.length >= maxAtOnce)
      throw new Problem('rate_limited', `An account may ask ${maxAtOnce} questions at once.`, { retryAfterS: 1 })
    loads.set(account, load)

    const stop = new AbortController()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let isLate = false
    const begin = () => {
      load.running++
      const answer = work(stop.signal)
      answer.then(resolve, reject)
      void answer.then(() => sent, noop).then(end)
    }
    const end = () => {
      load.running--
      load.waiting.shift()?.()
      tidy(account, load)
    }
    const giveUp = (problem: Problem) => {
      stop.abort()
      const place = load.waiting.indexOf(begin)
      if (place >= 0) {
        load.waiting.splice(place, 1)
        tidy(account, load)
      }
      reject(problem)
    }
    const leave = () => giveUp(storeUnavailable(new StoreError('the client is gone')))
    const half = setTimeout(() => (isLate = load.waiting.includes(begin)), deadlineMs / 2)
    const timer = setTimeout(() => giveUp(isLate ? turnTooLate(maxRunning) : tooSlow()), deadlineMs)
    if (load.running < maxRunning) begin()
    else load.waiting.push(begin)
    if (left?.aborted) leave()
    left?.addEventListener('abort', leave)
    try {
      return await promise
    } finally {
      clearTimeout(half)
      clearTimeout(timer)
      left?.removeEventListener('abort', leave)
    }
  }
}

const noop = () => {}
