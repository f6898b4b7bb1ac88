// The real process whose log cannot be written: the lines are lost and nothing else.
import { afterEach, expect, test } from 'bun:test'
import { createStintProcess, type StintProcess } from '../support/process.ts'

let stint: StintProcess | undefined
afterEach(() => stint?.close())

test.skipIf(process.platform !== 'linux')(
  'a log on a full disk loses its lines, and Stint lives, accepts and stops',
  async () => {
    stint = createStintProcess(
      {
        INFLUX_URL: 'http://127.0.0.1:1',
        INFLUX_TOKEN: 'token',
        INFLUX_ORG: 'org',
        INFLUX_BUCKET: 'bucket',
        CLICKHOUSE_URL: 'http://127.0.0.1:1',
        LOG_LEVEL: 'trace',
      },
      { stdout: '/dev/full' },
    )
    await stint.start() // which logs, as do the stores that are away
    const caller = await stint.signUp('ada@example.com')
    for (let i = 0; i < 50; i++) expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(201)
    expect((await fetch(`${stint.url}/livez`)).status).toBe(200)
    expect(await stint.terminate()).toBe(0)
    expect(stint.log()).not.toContain('ENOSPC')
  },
  60_000,
)
