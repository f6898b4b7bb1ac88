// Sends what was kept earlier, or what was refused and is tried once more: the oldest files first, until Stint takes no
// more. Small files share a request.

import type { Backlog } from '../../client/backlog.ts'
import { BATCH_CHARACTERS, BATCH_EVENTS } from '../../client/batch.ts'
import type { BatchSender } from './send-batch.ts'

export interface Sent {
  readonly stored: number
  readonly refused: number
  /** Why events were refused for good, each once. */
  readonly reasons: readonly string[]
  /** Why the rest was not sent; undefined if all was. */
  readonly fault: string | undefined
}

const TIMEOUT_MS = 10_000

interface Kept {
  readonly path: string
  readonly events: readonly string[]
}

/** `list` is `backlog.listRefused` or a part of `backlog.list`. */
export async function sendKept(
  backlog: Backlog,
  sender: BatchSender,
  signal: AbortSignal,
  list: () => string[] = backlog.list,
): Promise<Sent> {
  const reasons = new Set<string>()
  let [stored, refused] = [0, 0]
  let fault: string | undefined

  async function sendGroup(group: readonly Kept[]): Promise<void> {
    const events = group.flatMap((file) => file.events)
    const outcomes = await sender.send(events, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]))
    let at = 0
    for (const { path, events } of group) {
      const left: string[] = []
      const bad: string[] = []
      for (const { event, verdict } of outcomes.slice(at, at + events.length)) {
        if (verdict.is === 'stored') stored++
        else if (verdict.is === 'refused') {
          bad.push(event)
          reasons.add(sender.describe(verdict))
        } else {
          left.push(event)
          fault ??= sender.describe(verdict)
        }
      }
      at += events.length
      refused += bad.length
      if (bad.length > 0) backlog.refuse(bad, path)
      if (left.length === 0) backlog.remove(path)
      else if (left.length < events.length) backlog.write(left, path)
    }
  }

  const paths = list()
  while (paths.length > 0 && fault === undefined && !signal.aborted) {
    const group: Kept[] = []
    for (let [count, characters] = [0, 0]; paths.length > 0; ) {
      const path = paths[0]!
      const events = backlog.read(path) ?? []
      count += events.length
      characters += events.reduce((sum, event) => sum + event.length, 0)
      if (group.length > 0 && (count > BATCH_EVENTS || characters > BATCH_CHARACTERS)) break
      paths.shift()
      if (events.length > 0) group.push({ path, events })
      else backlog.remove(path)
    }
    if (group.length > 0) await sendGroup(group)
  }
  return { stored, refused, reasons: [...reasons], fault }
}
