// Whether something of the account changed, learnt by one cheap request that all polls of a page share. Where that
// request fails, or other nodes store events too, polls ask as often as they would without it.
import type { ChangesAnswer } from '../../wire/changes.ts'
import type { Api } from './api.ts'
import { createPoll, type Poll } from './poll.ts'

const EVERY_MS = 1_500

export interface Changes {
  /** Differs once something changed; undefined: unknown, so ask. */
  version(): string | undefined
  /** Differs once something older was stored, so that all runs must be loaded again; undefined: unknown. */
  late(): string | undefined
  close(): void
}

export function createChanges(api: Api): Changes & Pick<Poll, 'now'> {
  let known: ChangesAnswer | undefined
  const poll = createPoll<ChangesAnswer>({
    everyMs: () => EVERY_MS,
    ask: (signal) => api.get<ChangesAnswer>('api/changes', {}, signal),
    show(answer) {
      known = answer.whole ? answer : undefined
    },
    fail() {
      known = undefined
    },
  })
  return {
    version: () => known?.version,
    late: () => known?.late,
    now: () => poll.now(),
    close: () => poll.stop(),
  }
}
