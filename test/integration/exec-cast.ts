// A real process and a user of `stint exec`, and what its store says of a process.
import { afterAll, beforeAll } from 'bun:test'
import type { Timing } from '../../src/wire/timings.ts'
import { createUser } from '../cli/exec/exec-cast.ts'
import { type Caller, createStintProcess, type StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

/** For all tests of the suite that calls it. */
export function useExec() {
  const cast = {} as { stint: StintProcess; caller: Caller; user: ReturnType<typeof createUser> }
  beforeAll(async () => {
    cast.stint = createStintProcess()
    await cast.stint.start()
    cast.caller = await cast.stint.signUp('ada@example.com')
    cast.user = createUser(cast.stint.url)
    cast.user.env.STINT_API_KEY = cast.caller.secret
  })
  afterAll(async () => {
    await cast.stint?.close()
    cast.user?.remove()
  })

  /** The rows of an answer; none while the store is not ready to answer. */
  const ask = async <T>(path: string, list: string): Promise<T[]> => {
    const response = await cast.caller.get(path)
    return response.ok ? ((await response.json()) as Record<string, T[]>)[list]! : []
  }
  const timings = (process: string) => ask<Timing>(`/api/timings?process=${process}`, 'timings')
  const exceptions = async (process: string) =>
    (await ask<{ exception: string }>(`/api/exceptions?process=${process}`, 'exceptions')).map(
      ({ exception }) => exception,
    )

  /** Waits for so many timings of these states in the store. */
  const untilStates = (process: string, expected: string) => {
    const states = async () => (await timings(process)).map(({ state }) => state).toSorted()
    return until(`${process}: ${expected}`, async () => (await states()).join() === expected, 60_000, 50)
  }
  const untilExceptions = (process: string, count: number) =>
    until(`${count} exceptions of ${process}`, async () => (await exceptions(process)).length === count, 60_000, 50)
  return { cast, ask, timings, exceptions, untilStates, untilExceptions }
}
