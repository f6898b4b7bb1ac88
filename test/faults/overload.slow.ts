// A real process with more to do than it can: what it refuses it says, the quiet are served, its memory is bounded.
import { afterEach, expect, test } from 'bun:test'
import { requestOf, startCrowd, startFlood } from '../support/fault-crowd.ts'
import { createStintProcess, STORES_AWAY, type StintProcess } from '../support/process.ts'
import { memoryOf } from '../support/process-figures.ts'

const RATE_LIMIT = 100
const QUIET_KEYS = 19
const QUIET_PAUSE_MS = 40
/** A busy machine takes longer for the least that says something. */
const LEAST = { quiet: 100, refused: 4 * RATE_LIMIT }
const LONGER_MS = 90_000
const MOST_GROWTH_BYTES = 256 * 2 ** 20
/** Stores that are away: the backlog is in the spool, not in the memory. */
const SETTINGS = {
  RATE_LIMIT: String(RATE_LIMIT),
  SIGNUP: 'open',
  SERIES_MAX: '0',
  ...STORES_AWAY,
}

let stint: StintProcess | undefined
afterEach(() => stint?.close())

test('with one greedy account on 200 connections and 1,500 idle or slow ones, refusals have retry-after and no other account fails', async () => {
  stint = createStintProcess(SETTINGS)
  await stint.start()
  const found = await overload(stint)

  expect([...found.statuses.keys()].sort()).toEqual([201, 429])
  expect(found.statuses.get(429)).toBeGreaterThan(LEAST.refused)
  expect(found.withoutRetryAfter).toBe(0)
  expect(found.connections).toBe(1_700)
  expect(found.quiet.sent).toBeGreaterThan(LEAST.quiet)
  expect(found.quiet.succeeded / found.quiet.sent).toBeGreaterThanOrEqual(0.999)
  expect(found.memory.peak - found.memory.before).toBeLessThan(MOST_GROWTH_BYTES)
  expect((await fetch(`${stint.url}/livez`)).status).toBe(200)
})

async function overload(stint: StintProcess) {
  const { url } = stint
  const keys = await makeKeys(stint)
  const before = memoryOf(stint.pid()).now
  const greedyRequest = requestOf(url, '/v1/metrics', keys[0]!, { process: 'greedy', items: { a: 1 } })
  const idle = await startCrowd(url, 1_200)
  const slow = await startCrowd(url, 300, greedyRequest)
  const flood = await startFlood(url, 200, greedyRequest)
  const connections = idle.size() + slow.size() + 200

  const endsAt = performance.now() + 4_000
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
  }
}

/** One account each, as the limit is of an account; the first is the greedy one. */
async function makeKeys(stint: StintProcess): Promise<string[]> {
  const keys: string[] = []
  for (let i = 0; i <= QUIET_KEYS; i++) keys.push((await stint.signUp(`account-${i}@example.com`)).secret)
  return keys
}
