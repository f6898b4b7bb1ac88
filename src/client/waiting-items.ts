// Events that wait to be sent, the oldest first. Those that a quota refused rest meanwhile, and hold up no others.
import { BATCH_CHARACTERS, BATCH_EVENTS } from './batch.ts'
import { monotonicMs } from './event-times.ts'
import type { KeptFile } from './kept-events.ts'

export interface Item {
  /** The event as one line of a batch. */
  line: string
  /** The file in which it is kept. */
  file: KeptFile | undefined
  /** Its time is by the server's clock already. */
  isCorrected?: true
  /** The quota refused it: it is not sent before. */
  restsUntilMs?: number
}

const MARK = /^\{"kind":"(?:start|end)"/

export const isMark = ({ line }: Item): boolean => MARK.test(line)

export const hasRested = ({ restsUntilMs }: Item): boolean => restsUntilMs !== undefined

/** As many as fit one request, of those that do not rest. */
export function takeBatch(waiting: readonly Item[]): { readonly batch: Item[]; readonly left: Item[] } {
  const nowMs = monotonicMs()
  const [batch, left]: [Item[], Item[]] = [[], []]
  let characters = 0
  for (const item of waiting) {
    const isFull = batch.length === BATCH_EVENTS || characters >= BATCH_CHARACTERS
    if (isFull || (item.restsUntilMs ?? 0) > nowMs) left.push(item)
    else {
      batch.push(item)
      characters += item.line.length
    }
  }
  return { batch, left }
}

export function rest(items: readonly Item[], ms: number): void {
  const untilMs = monotonicMs() + ms
  for (const item of items) item.restsUntilMs = untilMs
}

/** Until the first of them may be sent. */
export function restMs(waiting: readonly Item[]): number {
  const nowMs = monotonicMs()
  return waiting.reduce((least, { restsUntilMs = 0 }) => Math.min(least, Math.max(0, restsUntilMs - nowMs)), 1e9)
}

export function endRests(waiting: readonly Item[]): void {
  for (const item of waiting) if (hasRested(item)) item.restsUntilMs = 0
}
