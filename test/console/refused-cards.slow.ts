// A page of a process one of whose questions is refused, or has no store: the other cards are shown.
import { expect, test } from 'bun:test'
import { lacks } from '../support/fault-trial.ts'
import { influxSettings, startInfluxd } from '../support/influxd.ts'
import { cannotRun, LIGHT, QUICK, startConsole, type Visit } from './console-visit.ts'

const HOUR_MS = 3_600_000
const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString()

const runAt = (agoMs: number) => [
  { kind: 'start', process: 'job', at: at(agoMs) },
  { kind: 'end', process: 'job', at: at(agoMs - 60_000) },
]

const cardOf = (page: Visit['page']) => (name: string) =>
  page.locator('section.card').filter({ has: page.getByRole('heading', { name, exact: true }) })

test.skipIf(cannotRun())(
  'a range with too many marks is "not available" in its card, and the rest is shown',
  async () => {
    const console = await startConsole({ QUERY_MAX_MARKS: '30' })
    try {
      const { cookie, secret } = await console.signUp('ada@example.com')
      const old = Array.from({ length: 20 }, (_, i) => runAt((60 + i) * HOUR_MS)).flat()
      const fresh = Array.from({ length: 5 }, (_, i) => runAt((1 + i) * HOUR_MS)).flat()
      await console.send(secret, [...old, ...fresh, { kind: 'exception', process: 'job', exception: 'Error: full' }])
      const { page, go, close } = await console.visit(LIGHT, cookie)
      const card = cardOf(page)
      await go('process?process=job&from=-24h')
      await card('Exceptions').getByText('Error: full').waitFor()
      await card('Duration').getByRole('group', { name: 'Durations of the runs of job' }).waitFor()
      await card('90 days')
        .getByText(/^Not available\. /)
        .waitFor()
      await page.getByText('Failed, 7 days').locator('..').getByText('not available').waitFor()
      await page.getByRole('heading', { name: 'Last 25 runs' }).waitFor()
      await card('Notifications').getByText('No one is notified.').waitFor()
      await page.getByRole('button', { name: '7 days' }).click()
      await card('Duration')
        .getByText(/^Not available\. .*shorter range/)
        .waitFor()
      await card('Exceptions').getByText('Error: full').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      await close()
    } finally {
      await console.close()
    }
  },
)

test.skipIf(cannotRun() || lacks('influxd'))('with InfluxDB away the cards of the other store are shown', async () => {
  const influx = await startInfluxd('cards')
  const console = await startConsole(influxSettings(await influx.freshBucket()))
  try {
    const { cookie, secret, byKey } = await console.signUp('ada@example.com')
    await console.send(secret, [...runAt(3_600_000), { kind: 'exception', process: 'job', exception: 'Error: full' }])
    const { page, go, close } = await console.visit(QUICK, cookie)
    const card = cardOf(page)
    await go('process?process=job&from=-24h')
    await card('Runs').getByRole('row').nth(1).waitFor()
    await influx.server.kill()
    expect((await byKey.post('/v1/start', { process: 'job' })).status).toBe(201) // what was asked before is not asked again
    for (const name of ['Runs', 'Duration', '90 days'])
      await card(name)
        .getByText(/^Not available\. The store does not answer/)
        .waitFor()
    await card('Exceptions').getByText('Error: full').waitFor()
    await page.getByRole('heading', { name: 'Last 2 runs' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await close()
  } finally {
    await Promise.all([console.close(), influx.server.kill()])
  }
})
