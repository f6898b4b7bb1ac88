// Whether something of the account changed, learnt by one cheap request that all polls of a page share: sent only while
// a poll waits for a change. Where it fails, or other nodes store events too, polls ask as often as without it.
import type { ChangesAnswer } from '../../wire/changes.ts'
import type { Api } from './api.ts'
import { createPoll, type Poll } from './poll.ts'

const EVERY_MS = 1_500
/** Then polls ask themselves. */
const GIVE_UP_MS = 10_000

export interface Changes {
  /** Differs once something changed; undefined: unknown, so ask. */
  version(isWaiting?: boolean): string | undefined
  /** Differs once something older was stored, so that all runs must be loaded again; undefined: unknown. */
  late(): string | undefined
  close(): void
}

export function createChanges(api: Api, nowMs: () => number): Changes & Pick<Poll, 'now'> {
  let known: Pick<ChangesAnswer, 'version' | 'late'> | undefined
  let notedMs = Number.NEGATIVE_INFINITY
  let isAwaited = false
  api.onStored((version, late) => {
    known = { version, late }
    notedMs = nowMs()
  })
  const poll = createPoll<ChangesAnswer | undefined>({
    everyMs: () => EVERY_MS,
    async ask(signal) {
      if (!isAwaited || nowMs() - notedMs < EVERY_MS) return undefined
      isAwaited = false
      return api.get<ChangesAnswer>('api/changes', {}, AbortSignal.any([signal, AbortSignal.timeout(GIVE_UP_MS)]))
    },
    show(answer) {
      if (answer !== undefined) known = answer.whole ? answer : undefined
    },
    fail() {
      known = undefined
    },
  })
  return {
    version(isWaiting = false) {
      isAwaited ||= isWaiting
      return known?.version
    },
    late: () => known?.late,
    now: () => poll.now(),
    close: () => poll.stop(),
  }
}
