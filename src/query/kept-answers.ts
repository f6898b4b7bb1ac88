// Answers of the last moments: what is being answered is joined by all who ask the same of the account, and what was
// answered is kept as long as those who ask accept. Bounded by entries, bytes and age; what would be kept the shortest
// goes first. The other memories of what stores said are named in src/README.md.
import type { Reader } from './desk.ts'

/** Relative ranges have moved on by so much at most. */
const CURRENT_MAX_MS = 10_000
const ENTRIES_MAX = 1_000
const BYTES_MAX = 32 * 1024 ** 2

interface Sized {
  /** In bytes. */
  readonly size: number
}
type Make<T> = (reader: Reader) => Promise<T>

interface Held<T extends Sized> {
  readonly atMs: number
  readonly untilMs: number
  readonly answer: Promise<T>
  /** Once it is made. */
  made?: T
  /** Returns what to call when the request has its answer; the work ends when nobody waits for it any more. */
  join(left?: AbortSignal): () => void
}

interface Wanted<T> {
  readonly account: string
  /** Equal words are the same question. */
  readonly words: string
  /** An older answer is not accepted; 0: only one that is being made. */
  readonly maxAgeMs: number
  /** Then up to ten seconds, if any age is accepted. */
  isCurrent?(answer: T): boolean
  /** Aborts when nobody waits for it any more. */
  readonly left?: AbortSignal
}

export type KeptAnswers = ReturnType<typeof createKeptAnswers>

/** `nowMs`: a monotonic clock, or one that is set back would make old answers fresh. */
export function createKeptAnswers(nowMs: () => number) {
  const held = new Map<string, Held<Sized>>()

  function tidy(): void {
    const now = nowMs()
    // the desk bounds those that are being made
    const kept = [...held].flatMap(([key, { untilMs, made }]) => (made ? [{ key, untilMs, size: made.size }] : []))
    let bytes = kept.reduce((sum, { size }) => sum + size, 0)
    for (const { key, untilMs, size } of kept.toSorted((a, b) => a.untilMs - b.untilMs)) {
      if (now <= untilMs && held.size <= ENTRIES_MAX && bytes <= BYTES_MAX) return
      held.delete(key)
      bytes -= size
    }
  }

  /** The account's answers are no longer fresh. */
  const forget = (account: string): void => {
    for (const key of held.keys()) if (key.startsWith(`[${JSON.stringify(account)},`)) held.delete(key)
  }

  function hold<T extends Sized>(key: string, atMs: number, keptMs: number, make: Make<T>): Held<T> {
    const stop = new AbortController()
    const { promise: sent, resolve: noteSent } = Promise.withResolvers<void>()
    let readers = 0
    const drop = () => held.get(key) === made && held.delete(key)
    const answer = make({ left: stop.signal, sent })
    answer.then((found) => {
      made.made = found
      tidy()
    }, drop)
    const made: Held<T> = {
      atMs,
      untilMs: atMs + keptMs,
      answer,
      join(signal) {
        let isIn = true
        const leave = () => {
          if (!isIn) return
          isIn = false
          signal?.removeEventListener('abort', leave)
          if (--readers > 0) return
          if (made.made === undefined) drop()
          stop.abort()
          noteSent()
        }
        readers++
        signal?.addEventListener('abort', leave)
        if (signal?.aborted) leave()
        return leave
      },
    }
    return made
  }

  /** `make` is called when no answer is accepted; a failed one is not kept. Call `noteSent` once it was sent. */
  async function share<T extends Sized>(
    { account, words, maxAgeMs, isCurrent = () => false, left }: Wanted<T>,
    make: Make<T>,
  ) {
    const now = nowMs()
    const isFresh = ({ atMs, made }: Held<T>) =>
      made === undefined || now - atMs < maxAgeMs || (maxAgeMs > 0 && now - atMs < CURRENT_MAX_MS && isCurrent(made))
    const key = JSON.stringify([account, words])
    let found = held.get(key) as Held<T> | undefined
    if (found === undefined || !isFresh(found)) {
      found = hold(key, now, Math.max(CURRENT_MAX_MS, maxAgeMs), make)
      held.set(key, found)
      tidy()
    }
    const noteSent = found.join(left)
    try {
      return { answer: await found.answer, noteSent }
    } catch (error) {
      noteSent()
      throw error
    }
  }
  return { share, forget }
}
