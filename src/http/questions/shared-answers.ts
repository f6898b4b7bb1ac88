// Shares answers between the people of an account: a question that is being answered is joined by others of the same
// words. A request with `cache-control: max-age=…` also accepts an answer up to that many seconds old, at most two, or up
// to ten while nothing was stored since; others are then answered afresh. Bounded by entries, bytes and age, oldest first.
import type { Reader } from '../../query/limit-questions.ts'

const MAX_AGE_S = 2
/** Relative ranges have moved on by so much at most. */
const CURRENT_MAX_MS = 10_000
const ENTRIES_MAX = 1_000
const BYTES_MAX = 32 * 1024 ** 2

interface Sized {
  readonly bytes: { readonly length: number }
}
type Make<T> = (reader: Reader) => Promise<T>

interface Held<T> {
  readonly atMs: number
  /** 0 until it is made. */
  size: number
  readonly answer: Promise<T>
  /** Once it is made. */
  made?: T
  /** Returns what to call when the request has its answer; the work ends when nobody waits for it any more. */
  join(request: Request): () => void
}

/** The newest answer that the request accepts, in seconds; 0: only a new one. */
const maxAgeOf = (request: Request): number => {
  const [, given] = /\bmax-age=(\d{1,4})\b/.exec(request.headers.get('cache-control') ?? '') ?? []
  return Math.min(MAX_AGE_S, Number(given ?? 0))
}
export interface SharedAnswers {
  /**
   * `make` is called when no answer is fresh enough or `isCurrent`; a failed one is not kept. Call `noteSent` once it
   * was sent.
   */
  <T extends Sized>(
    request: Request,
    account: string,
    make: Make<T>,
    isCurrent?: (answer: T) => boolean,
  ): Promise<{ readonly answer: T; noteSent(): void }>
  /** The account's answers are no longer fresh. */
  forget(account: string): void
}

/** `nowMs`: a monotonic clock, or one that is set back would make old answers fresh. */
export function createSharedAnswers(nowMs: () => number): SharedAnswers {
  const held = new Map<string, Held<unknown>>()

  /** Drops what is too old, and the oldest beyond the bounds: `held` is in the order of their times. */
  function tidy(): void {
    const now = nowMs()
    let bytes = held.values().reduce((sum, { size }) => sum + size, 0)
    for (const [key, { atMs, size, made }] of held) {
      if (made === undefined) continue // the limit of questions bounds them
      if (now - atMs <= CURRENT_MAX_MS && held.size <= ENTRIES_MAX && bytes <= BYTES_MAX) continue
      held.delete(key)
      bytes -= size
    }
  }

  const forget = (account: string) => {
    for (const key of held.keys()) if (key.startsWith(`[${JSON.stringify(account)},`)) held.delete(key)
  }

  function hold<T extends Sized>(key: string, atMs: number, make: Make<T>): Held<T> {
    const stop = new AbortController()
    const { promise: sent, resolve: noteSent } = Promise.withResolvers<void>()
    let isMade = false
    let readers = 0
    const drop = () => held.get(key) === made && held.delete(key)
    const answer = make({ left: stop.signal, sent })
    answer.then((found) => {
      isMade = true
      made.made = found
      made.size = found.bytes.length
      tidy()
    }, drop)
    const made: Held<T> = {
      atMs,
      size: 0,
      answer,
      join({ signal }) {
        let isIn = true
        const leave = () => {
          if (!isIn) return
          isIn = false
          signal.removeEventListener('abort', leave)
          if (--readers > 0) return
          if (!isMade) drop()
          stop.abort()
          noteSent()
        }
        readers++
        signal.addEventListener('abort', leave)
        if (signal.aborted) leave()
        return leave
      },
    }
    return made
  }

  async function share<T extends Sized>(
    request: Request,
    account: string,
    make: Make<T>,
    isCurrent: (answer: T) => boolean = () => false,
  ) {
    const maxAgeS = maxAgeOf(request)
    const now = nowMs()
    const isFresh = ({ atMs, made }: Held<T>) =>
      made === undefined ||
      now - atMs < maxAgeS * 1000 ||
      (maxAgeS > 0 && now - atMs < CURRENT_MAX_MS && isCurrent(made))
    const key = JSON.stringify([account, request.url, request.headers.get('accept-encoding')])
    let found = held.get(key) as Held<T> | undefined
    if (found === undefined || !isFresh(found)) {
      found = hold(key, now, make)
      held.delete(key)
      held.set(key, found)
      tidy()
    }
    const noteSent = found.join(request)
    try {
      return { answer: await found.answer, noteSent }
    } catch (error) {
      noteSent()
      throw error
    }
  }
  return Object.assign(share, { forget })
}
