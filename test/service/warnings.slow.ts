// Each warning of /api/health about the clock, the disk, downtimes and PostgreSQL, from the real process, and that it goes.
import { expect, test } from 'bun:test'
import { signUpAt } from '../support/caller.ts'
import { injectFault, lacks, segmentsOf } from '../support/fault-trial.ts'
import { missing } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { createStintProcess, STORES_AWAY } from '../support/process.ts'
import { createClockedProcess, createQuickProcess } from '../support/quick-clock.ts'
import { until } from '../support/until.ts'

const WITHIN_MS = 60_000
const TIMEOUT_MS = 180_000

/** By a key of the operator's account, which is known without PostgreSQL. */
async function openWarnings(url: string) {
  const { byKey, bySession } = await signUpAt(url)
  const warnings = async (): Promise<readonly { code: string; detail: string }[]> =>
    (await byKey.get('/api/health')).json.warnings
  const find = async (code: string) => (await warnings()).find((it) => it.code === code)?.detail
  return {
    ...{ byKey, bySession, warnings },
    says: async (code: string, text: RegExp) => {
      await until(`${code} is a warning`, async () => (await find(code)) !== undefined, WITHIN_MS)
      expect(await find(code)).toMatch(text)
    },
    isOver: (code: string) => until(`${code} is over`, async () => (await find(code)) === undefined, WITHIN_MS),
  }
}

test(
  'clock_ahead says by how much the stamps lead, and when the lead is gone',
  async () => {
    const clock = { stepUs: 0, passUs: 0 }
    await using stint = createClockedProcess(clock, STORES_AWAY)
    await stint.start()
    const { byKey, warnings, says } = await openWarnings(stint.url)
    expect(await warnings()).toEqual([])
    stint.setClock({ ...clock, stepUs: 600e6 })
    expect((await byKey.post('/v1/start', { process: 'p' })).status).toBe(201)
    stint.setClock(clock)
    await says('clock_ahead', /times of new events are (599|600) s ahead of it\. .* is gone at \d{4}-.*Z\./)
    stint.setClock({ ...clock, stepUs: 2 * 3600e6 })
    expect((await byKey.post('/v1/start', { process: 'p' })).status).toBe(201)
    stint.setClock(clock)
    await until('the longer lead', async () =>
      (await warnings()).some(({ detail }) => / (7199|7200) s ahead/.test(detail)),
    )
    await says('clock_ahead', /To end it at once, stop Stint, delete DATA_DIR\/node-id/)
  },
  TIMEOUT_MS,
)

test(
  'downtimes says how often Stint stood still, and which limits that defeats',
  async () => {
    await using stint = createQuickProcess(STORES_AWAY)
    await stint.start()
    const { warnings, says } = await openWarnings(stint.url)
    const counted = async () => (await warnings()).map(({ detail }) => Number.parseInt(detail, 10))
    for (let i = 0; i < 5; i++) {
      // on a busy machine its quick clock also stands still by itself
      for (const count of await counted()) expect(count).toBeGreaterThanOrEqual(5)
      process.kill(stint.pid(), 'SIGSTOP')
      await Bun.sleep(2_000) // sixteen seconds of its clock
      process.kill(stint.pid(), 'SIGCONT')
      const from = stint.nowMs()
      await until('it runs again for a minute', async () => stint.nowMs() - from > 60_000)
    }
    await says('downtimes', /^\d+ downtimes in the last hour: .* limits and intervals of up to \d\d s can miss/)
    for (const count of await counted()) expect(count).toBeGreaterThanOrEqual(5)
  },
  TIMEOUT_MS,
)

test.skipIf(missing('ptrace') !== undefined)(
  'disk_stuck says which spool waits for a write, as /readyz does',
  async () => {
    await using stint = createQuickProcess(STORES_AWAY)
    await stint.start()
    const { byKey, says, isOver } = await openWarnings(stint.url)
    expect((await byKey.post('/v1/start', { process: 'p' })).status).toBe(201)
    const fault = await injectFault(stint.pid(), [`pwrite64:delay_enter=${20e6}`], segmentsOf(stint))
    const sent = byKey.post('/v1/start', { process: 'p' })
    await says('disk_stuck', /^The disk has not finished a write of points for a minute\. Watches are not judged/)
    const ready = () => fetch(`${stint.url}/readyz`).then((answer) => answer.text())
    expect(await ready()).toContain('points are refused: disk_failed')
    await fault.stop()
    await isOver('disk_stuck')
    expect((await sent).status).toBe(201)
    await until('all events are taken', async () => (await ready()).trim() === 'ready')
  },
  TIMEOUT_MS,
)

test.skipIf(lacks('postgresql'))(
  'database_away says that PostgreSQL does not answer, and not that a node that runs may hold events',
  async () => {
    const postgres = await startPostgres()
    const settings = { ...STORES_AWAY, DATABASE_URL: await postgres.createDatabase() }
    await using stint = createStintProcess({ ...settings, NODE_ID: '1' })
    await using other = createStintProcess({ ...settings, NODE_ID: '2' })
    try {
      await stint.start()
      await other.start()
      const { warnings, says, isOver, bySession } = await openWarnings(stint.url)
      expect(await warnings()).toEqual([])
      await postgres.stop()
      await says('database_away', /^PostgreSQL does not answer: events are accepted, and nothing is judged/)
      expect((await warnings()).map(({ code }) => code)).toEqual(['database_away'])
      // a session is known to PostgreSQL alone: its 503 says the same
      const home = await bySession.get('/api/overview')
      expect([home.status, home.json.detail]).toEqual([
        503,
        'PostgreSQL does not answer: events are accepted, and nothing is judged or notified meanwhile. Try again later.',
      ])
      await postgres.start()
      await isOver('database_away')
      expect(await warnings()).toEqual([])
    } finally {
      await postgres.close()
    }
  },
  TIMEOUT_MS,
)
