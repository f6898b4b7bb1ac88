// A part of what is known about an account: its value, when it was read, and whether the last try failed.
import { Problem } from '../../problem.ts'

/** Reading a part takes at most this share of a slow store's time. */
const SHARE = 1 / 20

export interface Part<T> {
  value(): T
  /** When the reading of the value began; 0 before the first. */
  atMs(): number
  /** Why the last try failed. */
  error: Problem | undefined
  /** What the value was read for. */
  mark: string | undefined
  /** Whether it is so old; after a failure at once. */
  isDue(everyMs: number): boolean
  /** Keeps the value if the store does not answer. Rejects with other errors. */
  read(ask: () => Promise<T>): Promise<void>
}

export function createPart<T>(nowMs: () => number, empty: T): Part<T> {
  let value = empty
  let [atMs, tookMs] = [0, 0]
  let reading: Promise<void> | undefined
  const part: Part<T> = {
    value: () => value,
    atMs: () => atMs,
    error: undefined,
    mark: undefined,
    isDue: (everyMs) =>
      reading === undefined && (part.error !== undefined || nowMs() - atMs >= Math.max(everyMs, tookMs / SHARE)),
    read(ask) {
      reading ??= read(ask).finally(() => {
        reading = undefined
      })
      return reading
    },
  }
  async function read(ask: () => Promise<T>): Promise<void> {
    const startedMs = nowMs()
    try {
      value = await ask()
      atMs = startedMs
      tookMs = nowMs() - startedMs
      part.error = undefined
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      part.error = error
    }
  }
  return part
}
