// Shares answers between open pages of an account: a request with `cache-control: max-age=…` accepts an answer up to
// that many seconds old, at most two. Others are answered afresh. Bounded by entries and by their age.
const MAX_AGE_S = 2
const ENTRIES_MAX = 1_000

interface Held<T> {
  readonly atMs: number
  readonly answer: Promise<T>
}

/** The newest answer that the request accepts, in seconds; 0: only a new one. */
const maxAgeOf = (request: Request): number => {
  const [, given] = /\bmax-age=(\d{1,4})\b/.exec(request.headers.get('cache-control') ?? '') ?? []
  return Math.min(MAX_AGE_S, Number(given ?? 0))
}
export const acceptsShared = (request: Request): boolean => maxAgeOf(request) > 0

export interface SharedAnswers {
  /** `make` is called when no answer is fresh enough; a failed one is not kept. */
  <T>(request: Request, account: string, make: () => Promise<T>): Promise<T>
  /** The account's answers are no longer fresh. */
  forget(account: string): void
}

export function createSharedAnswers(nowMs: () => number): SharedAnswers {
  const held = new Map<string, Held<unknown>>()

  function tidy(now: number): void {
    for (const [key, { atMs }] of held) if (now - atMs > MAX_AGE_S * 1000 || held.size > ENTRIES_MAX) held.delete(key)
  }

  const forget = (account: string) => {
    for (const key of held.keys()) if (key.startsWith(`[${JSON.stringify(account)},`)) held.delete(key)
  }
  const share = <T>(request: Request, account: string, make: () => Promise<T>): Promise<T> => {
    const maxAgeS = maxAgeOf(request)
    const now = nowMs()
    const key = JSON.stringify([account, request.url, request.headers.get('accept-encoding')])
    const found = held.get(key)
    if (found !== undefined && now - found.atMs < maxAgeS * 1000) return found.answer as Promise<T>
    tidy(now)
    const answer = make()
    held.set(key, { atMs: now, answer })
    answer.catch(() => held.delete(key))
    return answer
  }
  return Object.assign(share, { forget })
}
