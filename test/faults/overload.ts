// More than it can take: one greedy account on hundreds of connections beside nineteen quiet ones, and thousands of connections that are idle or slow.
import { requestOf, startCrowd, startFlood } from '../support/fault-crowd.ts'
import type { StintProcess } from '../support/process.ts'
import { cpuMs, memoryOf } from '../support/process-figures.ts'

export const RATE_LIMIT = 100

export interface Overload {
  readonly statuses: ReadonlyMap<number, number>
  readonly withoutRetryAfter: number
  readonly quiet: { readonly sent: number; readonly succeeded: number; readonly slowestMs: number }
  readonly connections: number
  readonly memory: { readonly before: number; readonly peak: number }
  readonly cpuMs: number
}

export interface OverloadOptions {
  readonly forMs: number
  readonly greedy: number
  readonly idle: number
  readonly slow: number
}

const QUIET_KEYS = 19
const QUIET_PAUSE_MS = 40
/** A busy machine takes longer for the least that says something. */
export const LEAST = { quiet: 100, refused: 4 * RATE_LIMIT }
const LONGER_MS = 90_000

/** `stint` runs with RATE_LIMIT and SIGNUP open. */
export async function overload(stint: StintProcess, options: OverloadOptions): Promise<Overload> {
  const { url } = stint
  const keys = await makeKeys(stint)
  const before = memoryOf(stint.pid()).now
  const cpuBefore = cpuMs(stint.pid())
  const greedyRequest = requestOf(url, '/v1/metrics', keys[0]!, { process: 'greedy', items: { a: 1 } })
  const idle = await startCrowd(url, options.idle)
  const slow = await startCrowd(url, options.slow, greedyRequest)
  const flood = await startFlood(url, options.greedy, greedyRequest)
  const connections = idle.size() + slow.size() + options.greedy

  const endsAt = performance.now() + options.forMs
  const quiet = { sent: 0, succeeded: 0, slowestMs: 0 }
  const isEnough = () => quiet.sent > LEAST.quiet && (flood.statuses.get(429) ?? 0) > LEAST.refused
  const ask = async (key: string) => {
    while (performance.now() < (isEnough() ? endsAt : endsAt + LONGER_MS)) {
      const since = performance.now()
      const status = await fetch(`${url}/v1/metrics`, {
        method: 'POST',
        headers: { 'x-stint-api-key': key, 'content-type': 'application/json' },
        body: '{"process":"quiet","items":{"a":1}}',
      }).then(
        (response) => response.status,
        () => 0, // no answer is no success
      )
      quiet.sent++
      quiet.succeeded += Number(status === 201)
      quiet.slowestMs = Math.max(quiet.slowestMs, performance.now() - since)
      await Bun.sleep(QUIET_PAUSE_MS)
    }
  }
  await Promise.all(keys.slice(1).map(ask))
  flood.stop()
  idle.stop()
  slow.stop()
  return {
    statuses: flood.statuses,
    withoutRetryAfter: flood.withoutRetryAfter(),
    quiet,
    connections,
    memory: { before, peak: memoryOf(stint.pid()).peak },
    cpuMs: cpuMs(stint.pid()) - cpuBefore,
  }
}

/** One account each, as the limit is of an account; the first is the greedy one. */
async function makeKeys(stint: StintProcess): Promise<string[]> {
  const keys: string[] = []
  for (let i = 0; i <= QUIET_KEYS; i++) keys.push((await stint.signUp(`account-${i}@example.com`)).secret)
  return keys
}
