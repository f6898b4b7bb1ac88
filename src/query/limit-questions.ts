// Limits of a question: a time, including its wait, and a number per account. A question runs until its answer has been
// sent: an account that does not read its answers holds the memory of a few, and no turn of others. The time is below
// the socket's timeout (http/listen.ts), so that a slow question gets an answer that says so.
// Invariant: of each account in `loads` something runs or waits, and nothing waits that may begin.
import { Problem } from '../problem.ts'
import { StoreError } from '../store/source.ts'
import { tooSlow } from './limits.ts'

export interface QuestionLimits {
  readonly deadlineMs: number
  /** Per account, running or waiting. */
  readonly maxAtOnce: number
  /** Per account; the others wait. One of several is kept for short questions. */
  readonly maxRunning: number
}

export interface Reader {
  /** Aborts when the client is gone. */
  readonly left?: AbortSignal
  /** Resolves when the answer has been sent, or when nobody will read it. Absent: the answer is read at once. */
  readonly sent?: Promise<void>
  /** Its range is short: it does not wait behind long ones. */
  readonly isShort?: boolean
  /** A part of something that is limited itself: it waits as long as it must, and has the whole time when it begins. */
  readonly isPart?: boolean
}

/** A few at once keep the store fully busy; twenty people with three questions each wait for them. */
export const QUESTION_LIMITS: QuestionLimits = { deadlineMs: 45_000, maxAtOnce: 68, maxRunning: 4 }
const RETRY_AFTER_S = 5

interface Turn {
  readonly isLong: boolean
  begin(): void
}

interface Load {
  running: number
  /** Of these, long ones. */
  long: number
  readonly waiting: Turn[]
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
export function createQuestionLimit({ deadlineMs, maxAtOnce, maxRunning }: QuestionLimits) {
  const loads = new Map<string, Load>()
  const maxLong = Math.max(1, maxRunning - 1)
  const mayBegin = (load: Load, turn: Turn) => load.running < maxRunning && !(turn.isLong && load.long >= maxLong)

  function tidy(account: string, { running, waiting }: Load): void {
    if (running === 0 && waiting.length === 0) loads.delete(account)
  }

  return async <T>(account: string, reader: Reader, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const { left, sent, isShort = false, isPart = false } = reader
    const load = loads.get(account) ?? { running: 0, long: 0, waiting: [] }
    if (load.running + load.waiting.length >= maxAtOnce && !isPart)
      throw new Problem('rate_limited', `An account may ask ${maxAtOnce} questions at once.`, { retryAfterS: 1 })
    loads.set(account, load)

    const stop = new AbortController()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let isLate = false
    let timer: Timer | undefined
    const startTimer = () => {
      timer = setTimeout(() => giveUp(isLate && !isPart ? turnTooLate(maxRunning) : tooSlow()), deadlineMs)
    }
    const count = (by: 1 | -1) => {
      load.running += by
      if (!isShort) load.long += by
    }
    const turn: Turn = {
      isLong: !isShort,
      begin() {
        count(1)
        if (isPart) startTimer()
        const answer = Promise.try(work, stop.signal)
        answer.then(resolve, reject)
        void answer.then(() => sent, noop).then(end)
      },
    }
    const end = () => {
      count(-1)
      const next = load.waiting.findIndex((waiting) => mayBegin(load, waiting))
      if (next >= 0) load.waiting.splice(next, 1)[0]!.begin()
      tidy(account, load)
    }
    const giveUp = (problem: Problem) => {
      stop.abort()
      const place = load.waiting.indexOf(turn)
      if (place >= 0) {
        load.waiting.splice(place, 1)
        tidy(account, load)
      }
      reject(problem)
    }
    const leave = () => giveUp(storeUnavailable(new StoreError('the client is gone')))
    const half = setTimeout(() => (isLate = load.waiting.includes(turn)), deadlineMs / 2)
    if (!isPart) startTimer()
    if (mayBegin(load, turn)) turn.begin()
    else load.waiting.push(turn)
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
