// What Home and the page of a process say of the next start, and of what happens if it does not come.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ConsoleStint, cannotRun, closingVisits, expectQuiet, QUICK, startConsole } from './console-visit.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe.skipIf(cannotRun())('the next start of a job that starts every hour', () => {
  let stint: ConsoleStint
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') })
  beforeAll(async () => {
    stint = await startConsole({ NOTIFY_PRIVATE: 'true' })
  })
  afterAll(async () => {
    await stint.close()
    await receiver.stop(true)
  })
  const visit = closingVisits(() => stint)
  const iso = (ms: number) => new Date(ms).toISOString()

  test('is that of its rhythm, although a watch allows a day; if it is late a maintenance holds the notification back', async () => {
    const { cookie, secret, bySession, byKey } = await stint.signUp('ada@example.com')
    const lastMs = Date.now() - HOUR_MS / 4
    const starts = Array.from({ length: 12 }, (_, i) => lastMs - i * HOUR_MS)
    await stint.send(
      secret,
      starts.flatMap((ms) => [
        { kind: 'start', process: 'hourly', at: iso(ms) },
        { kind: 'end', process: 'hourly', at: iso(ms + 60_000) },
      ]),
    )
    const url = `http://127.0.0.1:${receiver.port}/`
    const { channel } = (await bySession.post('/api/channels', { name: 'on call', kind: 'webhook', url })).json
    const late = { every: '1d', grace: '1h' }
    const watch = { name: 'hourly runs', process: 'hourly', late, channels: [channel.id] }
    expect((await bySession.post('/api/watches', watch)).status).toBe(201)
    const row = async () => (await byKey.get('/api/overview?process=hourly')).json.processes[0]
    const [nextAt, lateAt] = [iso(lastMs + HOUR_MS), iso(lastMs + DAY_MS + HOUR_MS)]
    expect(await row()).toMatchObject({ next_start_at: nextAt, late_at: lateAt, every_s: 3600 })
    expect((await row()).if_late).toEqual({ channels: ['on call'], held: false, held_until: null })

    const mine = await visit(QUICK, cookie)
    const { page, go } = mine
    const clock = (at: string) => at.slice(11, 16)
    await go('home')
    await page
      .getByRole('row', { name: 'hourly' })
      .getByText(new RegExp(`^next about .*${clock(nextAt)}$`))
      .waitFor()
    await go('process?process=hourly')
    const fact = (name: string) => page.locator('.process-fact').filter({ hasText: name })
    await fact('Next start')
      .getByText(new RegExp(`^about .*${clock(nextAt)}$`))
      .waitFor()
    await fact('Next start')
      .getByText(new RegExp(`^every .*; late from .*${clock(lateAt)}$`))
      .waitFor()
    await fact('If it is late').getByText('notifies', { exact: true }).waitFor()

    const until = iso(lastMs + DAY_MS + 3 * HOUR_MS)
    const planned = { process: 'hour*', from: iso(lastMs + DAY_MS), to: until }
    expect((await bySession.post('/api/maintenance', planned)).status).toBe(201)
    await fact('If it is late').getByText('held back', { exact: true }).waitFor() // with the next poll
    await fact('If it is late')
      .getByText(new RegExp(`^until .*${clock(until)}, then notifies on call$`))
      .waitFor()
    expectQuiet(mine)

    expect((await bySession.call('PATCH', `/api/channels/${channel.id}`, { enabled: false })).status).toBe(200)
    expect((await row()).notified).toEqual({ late: false, failed: false, channels: [] })
    await page.getByText('No one is notified if it is late.').waitFor()
    expect(await fact('If it is late').count()).toBe(0)
  })
})
