// Work on one connection, one thing after the other. Whoever waits gets a turn after each of the others had one: an account that asks much
// delays another by one question at most. Invariant: each account in `waiting` has at least one job.
import type { Asker } from '../source.ts'
import { ClickHouseFault } from './fault.ts'

export interface FairTurns {
  /** Rejects with what `work` rejects with, and at once with ClickHouseFault when the asker's signal aborts before its turn has come. */
  take<T>(asker: Asker | undefined, work: () => Promise<T>): Promise<T>
}

type Job = () => Promise<void>

/** What nobody asked for has turns of its own. */
const NOBODY = ''

const notAwaited = () => new ClickHouseFault('nobody waits for the answer any more', undefined)

export const assertAwaited = (asker: Asker | undefined): void => {
  if (asker?.signal?.aborted) throw notAwaited()
}

/** `clear` is run after work that failed, before anybody's next turn. */
export function createFairTurns(clear: () => Promise<unknown>): FairTurns {
  const waiting = new Map<string, Job[]>()
  let isBusy = false

  function next(): Job | undefined {
    const [entry] = waiting
    if (entry === undefined) return undefined
    const [account, [job, ...others]] = entry
    waiting.delete(account) // and to the end of the line
    if (others.length > 0) waiting.set(account, others)
    return job
  }

  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let job = next(); job !== undefined; job = next()) await job()
    isBusy = false
  }

  function leave(account: string, job: Job): void {
    const others = waiting.get(account)?.filter((other) => other !== job) ?? []
    if (others.length > 0) waiting.set(account, others)
    else waiting.delete(account)
  }

  return {
    async take<T>(asker: Asker | undefined, run: () => Promise<T>): Promise<T> {
      assertAwaited(asker)
      const account = asker?.account ?? NOBODY
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const giveUp = () => {
        leave(account, job)
        reject(notAwaited())
      }
      const job: Job = async () => {
        asker?.signal?.removeEventListener('abort', giveUp)
        try {
          resolve(await run())
        } catch (error) {
          await clear()
          reject(error as Error)
        }
      }
      asker?.signal?.addEventListener('abort', giveUp, { once: true })
      waiting.set(account, [...(waiting.get(account) ?? []), job])
      void work()
      return promise
    },
  }
}
