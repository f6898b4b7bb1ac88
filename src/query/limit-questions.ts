// What one question may take: a time, waiting for its turn included, and so many of an account at once. The time is below that after which
// the socket is cut (http/listen.ts), so that a slow question has an answer that says so.
import { Problem } from '../problem.ts'
import { StoreError } from '../store/source.ts'

export interface QuestionLimits {
  readonly deadlineMs: number
  /** Of one account, running or waiting. */
  readonly maxAtOnce: number
}

/** More than a page of the console asks at once, also while those of the page before still run. */
const LIMITS: QuestionLimits = { deadlineMs: 45_000, maxAtOnce: 16 }
const RETRY_AFTER_S = 5

export const storeUnavailable = (cause: StoreError) =>
  new Problem('store_unavailable', 'The store did not answer the question. What was sent is safe: try again.', {
    retryAfterS: RETRY_AFTER_S,
    cause,
  })

/**
 * Does the work and hands it a signal that aborts when its answer is not waited for any more: after the deadline, or when `left` aborts.
 * The work counts until it has ended, not only until its asker was answered. Rejects with Problem `rate_limited` or `store_unavailable`.
 */
export function createQuestionLimit({ deadlineMs, maxAtOnce }: QuestionLimits = LIMITS) {
  const underWay = new Map<string, number>()

  function count(account: string, change: number): void {
    const now = (underWay.get(account) ?? 0) + change
    if (now === 0) underWay.delete(account)
    else underWay.set(account, now)
  }

  return async <T>(account: string, left: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>) => {
    if ((underWay.get(account) ?? 0) >= maxAtOnce)
      throw new Problem('rate_limited', `An account may ask ${maxAtOnce} questions at once.`, { retryAfterS: 1 })
    const waiting = new AbortController()
    const { promise: givenUp, reject } = Promise.withResolvers<never>()
    const giveUp = (reason: string) => {
      waiting.abort()
      reject(storeUnavailable(new StoreError(reason)))
    }
    const leave = () => giveUp('the client is gone')
    const timer = setTimeout(giveUp, deadlineMs, `no answer within ${deadlineMs} ms`)
    if (left?.aborted) leave()
    left?.addEventListener('abort', leave)
    count(account, 1)
    const answer = work(waiting.signal).finally(() => count(account, -1))
    try {
      return await Promise.race([answer, givenUp])
    } finally {
      clearTimeout(timer)
      left?.removeEventListener('abort', leave)
    }
  }
}
