// Batches take turns: one per turn of the event loop, the accounts in rotation. However many batches an account sends,
// another account waits for one of its turns at a time, and a single event for a few: its write and sync end in turns
// of their own.
import { type Clock, systemClock } from '../../clock.ts'

export interface FairTurns {
  /** Resolves at this account's turn, which lasts until `isOver()` or the next `await` of something else. */
  take(account: string): Promise<void>
  /** The turn has had its time. Asked between two pieces of work, each far shorter than a turn. */
  isOver(): boolean
  /** Runs the works of an account one after the other, so that they do not all hold their half-made results at once. */
  alone<T>(account: string, work: () => Promise<T>): Promise<T>
}

const TURN_US = 500

export function createFairTurns(clock: Pick<Clock, 'monotonicUs'> = systemClock): FairTurns {
  const waiting = new Map<string, (() => void)[]>()
  const lastOf = new Map<string, Promise<void>>()
  let isRunning = false
  let endsUs = 0

  function run(): void {
    const [account, queue] = waiting.entries().next().value!
    waiting.delete(account)
    endsUs = clock.monotonicUs() + TURN_US
    queue.shift()!()
    if (queue.length > 0) waiting.set(account, queue) // behind the others
    isRunning = waiting.size > 0
    if (isRunning) setImmediate(run)
  }

  return {
    take: (account) =>
      new Promise((resolve) => {
        const queue = waiting.get(account)
        if (queue === undefined) waiting.set(account, [resolve])
        else queue.push(resolve)
        if (isRunning) return
        isRunning = true
        setImmediate(run)
      }),
    isOver: () => clock.monotonicUs() >= endsUs,
    alone: async (account, work) => {
      const { promise: ended, resolve } = Promise.withResolvers<void>()
      const before = lastOf.get(account)
      lastOf.set(account, ended)
      await before
      try {
        return await work()
      } finally {
        resolve()
        if (lastOf.get(account) === ended) lastOf.delete(account)
      }
    },
  }
}

/** Runs work that pauses by yielding, in the account's turns. */
export async function runInTurns<T>(work: Generator<void, T>, account: string, turns: FairTurns): Promise<T> {
  for (;;) {
    if (turns.isOver()) await turns.take(account)
    const { done, value } = work.next()
    if (done === true) return value
  }
}
