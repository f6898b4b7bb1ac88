// A real process with more to do than it can: what it refuses it says, the quiet are served, its memory is bounded.
import { afterEach, expect, test } from 'bun:test'
import { createStintProcess, type StintProcess } from '../support/process.ts'
import { LEAST, overload, RATE_LIMIT } from './overload.ts'

const TIMEOUT_MS = 600_000
const MOST_GROWTH_BYTES = 256 * 2 ** 20
/** Stores that are away: the backlog is in the spool, not in the memory. */
const SETTINGS = {
  RATE_LIMIT: String(RATE_LIMIT),
  SIGNUP: 'open',
  SERIES_MAX: '0',
  INFLUX_URL: 'http://127.0.0.1:1',
  INFLUX_TOKEN: 'token',
  INFLUX_ORG: 'org',
  INFLUX_BUCKET: 'bucket',
  CLICKHOUSE_URL: 'http://127.0.0.1:1',
}

let stint: StintProcess | undefined
afterEach(() => stint?.close())

test(
  'with one greedy account on 200 connections and 1,500 idle or slow ones, refusals have retry-after and no other account fails',
  async () => {
    stint = createStintProcess(SETTINGS)
    await stint.start()
    const found = await overload(stint, { forMs: 4_000, greedy: 200, idle: 1_200, slow: 300 })

    expect([...found.statuses.keys()].sort()).toEqual([201, 429])
    expect(found.statuses.get(429)).toBeGreaterThan(LEAST.refused)
    expect(found.withoutRetryAfter).toBe(0)
    expect(found.connections).toBe(1_700)
    expect(found.quiet.sent).toBeGreaterThan(LEAST.quiet)
    expect(found.quiet.succeeded / found.quiet.sent).toBeGreaterThanOrEqual(0.999)
    expect(found.memory.peak - found.memory.before).toBeLessThan(MOST_GROWTH_BYTES)
    expect((await fetch(`${stint.url}/livez`)).status).toBe(200)
  },
  TIMEOUT_MS,
)
