// Schedules work on a few connections, each of which runs one statement at a time. An account uses one for its long
// questions and one for its short ones, but never the last connection for both. When all are taken, the waiting
// accounts take turns, so an account with many questions does not block others. Invariant: each account in `waiting`
// has at least one job.
import type { Asker } from '../source.ts'
import { ClickHouseFault } from './judge-failure.ts'

interface Job {
  readonly isShort: boolean
  run(connection: number): Promise<void>
}

/** The key for work that no account asked for. */
const NOBODY = ''

const notAwaited = () => new ClickHouseFault('nobody waits for the answer any more', undefined)

export const assertAwaited = (asker: Asker | undefined): void => {
  if (asker?.signal?.aborted) throw notAwaited()
}

/** `clear` is run on a connection after work that failed there, before the next turn. */
export function createFairTurns(connections: number, clear: (connection: number) => Promise<unknown>) {
  const waiting = new Map<string, Job[]>()
  const running = new Map<string, Job[]>()
  const free = Array.from({ length: connections }, (_, connection) => connection)

  function next(): { account: string; job: Job } | undefined {
    for (const [account, jobs] of waiting) {
      const others = running.get(account) ?? []
      if (others.length > 0 && free.length === 1) continue
      const job = jobs.find(({ isShort }) => others.every((other) => other.isShort !== isShort))
      if (job === undefined) continue
      leave(account, job)
      return { account, job }
    }
    return undefined
  }

  /** Gives each free connection its next job. */
  function work(): void {
    while (free.length > 0) {
      const turn = next()
      if (turn === undefined) return
      void run(turn.account, turn.job, free.shift()!)
    }
  }

  async function run(account: string, job: Job, connection: number): Promise<void> {
    running.set(account, [...(running.get(account) ?? []), job])
    await job.run(connection)
    const others = running.get(account)!.filter((other) => other !== job)
    if (others.length > 0) running.set(account, others)
    else running.delete(account)
    const jobs = waiting.get(account)
    if (jobs !== undefined) {
      waiting.delete(account) // and to the end of the line, behind those that came meanwhile
      waiting.set(account, jobs)
    }
    free.push(connection)
    work()
  }

  function leave(account: string, job: Job): void {
    const others = waiting.get(account)?.filter((other) => other !== job) ?? []
    if (others.length > 0) waiting.set(account, others)
    else waiting.delete(account)
  }

  return {
    /** Rejects as `work` does, and at once with ClickHouseFault when the asker's signal aborts before its turn. */
    async take<T>(asker: Asker | undefined, run: (connection: number) => Promise<T>): Promise<T> {
      assertAwaited(asker)
      const account = asker?.account ?? NOBODY
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const giveUp = () => {
        leave(account, job)
        reject(notAwaited())
      }
      const job: Job = {
        isShort: asker?.isShort === true,
        async run(connection) {
          asker?.signal?.removeEventListener('abort', giveUp)
          try {
            resolve(await run(connection))
          } catch (error) {
            await clear(connection)
            reject(error as Error)
          }
        },
      }
      asker?.signal?.addEventListener('abort', giveUp, { once: true })
      waiting.set(account, [...(waiting.get(account) ?? []), job])
      work()
      return promise
    },
  }
}
