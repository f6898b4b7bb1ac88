// The page of watches in a real browser: from nothing to a channel, a watch, and an alert that fires.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HIDDEN } from '../../src/wire/channel-kinds.ts'
import { signUpByMail } from '../support/caller.ts'
import { startMailServer } from '../support/mail-server.ts'
import { createQuickProcess } from '../support/quick-clock.ts'
import { until } from '../support/until.ts'
import { type ConsoleStint, cannotRun, closingVisits, QUICK, startConsole } from './console-visit.ts'

describe.skipIf(cannotRun())('the watches page', () => {
  let console: ConsoleStint
  let smtp: Awaited<ReturnType<typeof startMailServer>>
  const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email))
  beforeAll(async () => {
    smtp = await startMailServer()
    const mail = { SMTP_URL: smtp.url, MAIL_FROM: 'Stint <stint@example.com>' }
    console = await startConsole({ NOTIFY_PRIVATE: 'true', ...mail }, (settings) => createQuickProcess(settings))
  })
  afterAll(async () => {
    await console.close()
    smtp.close()
  })
  async function signUp(email: string) {
    const signedUp = await signUpByMail(console.stint.url, email, async () => {
      const find = () => /#\/sign-up\?token=(\w{43})/.exec(mailsTo(email).at(-1)?.text ?? '')?.[1]
      await until(`the link to ${email}`, () => find() !== undefined)
      return find()!
    })
    return { ...signedUp, cookie: signedUp.cookie.replace(/^.*=/, '') }
  }
  const visit = closingVisits(() => console)

  test('creates a channel and a watch, an alert is acknowledged by name, undone and resolved, everything is deleted', async () => {
    const { cookie } = await signUp('watch@example.com')
    const { page, go } = await visit(QUICK, cookie)
    const more = async (name: string, action: string) => {
      await page.getByRole('button', { name: `More for ${name}` }).click()
      await page.getByRole('button', { name: `${action} ${name}` }).click()
    }
    await go('watches')
    await page.getByText('Nothing is watched').waitFor()

    await page.getByRole('button', { name: 'Create channel' }).click()
    await page.getByRole('radio', { name: 'Webhook' }).check()
    await page.getByLabel('Name').fill('hook')
    await page.getByLabel('Address').fill('http://127.0.0.1:1/')
    await page.getByRole('dialog').getByRole('button', { name: 'Create and send test' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create without a test' }).click()
    await page.getByText('whsec_').waitFor()
    await page.getByRole('button', { name: 'I’ve saved it' }).click()

    await page.getByRole('button', { name: 'Create watch' }).click()
    await page.getByRole('combobox', { name: 'Process' }).fill('silent job')
    await page.getByLabel('Interval').fill('1s')
    await page.getByLabel('Grace').fill('1s')
    expect(await page.getByRole('checkbox', { name: 'does not start' }).isChecked()).toBe(true)
    await page.getByRole('checkbox', { name: 'hook' }).uncheck() // it would be tested
    await page.getByRole('dialog').getByRole('button', { name: 'Create watch' }).click()
    await page.getByRole('cell', { name: 'is late (every 1 s), fails, or raises an exception', exact: true }).waitFor()
    await page.getByText('silent job is late').waitFor()

    await go('home')
    await page.getByRole('button', { name: 'Acknowledge: silent job' }).click()
    await page.getByText('watch@example.com has acknowledged it').waitFor()
    await go('watches')
    await page.getByText('watch@example.com has acknowledged it').waitFor()
    await page.getByRole('button', { name: 'Undo acknowledgement of silent job' }).click()
    await page.getByText('firing', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Resolve silent job' }).click()
    await page.getByText('resolved', { exact: true }).waitFor()
    await more('silent job', 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete watch' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await more('hook', 'Edit')
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Address').inputValue()).toBe('http://127.0.0.1:1/')
    await dialog.getByText('Which alerts').click()
    await dialog.getByLabel('metric').uncheck()
    await dialog.getByLabel('Only after').fill('15m')
    await dialog.getByLabel('Header').fill('Authorization: Bearer 1')
    await dialog.getByRole('button', { name: 'Save channel' }).click()
    await page.getByText('after 15 min · only late, long, failed, slow').waitFor()
    await more('hook', 'Edit')
    await dialog.getByLabel('Address').fill('http://127.0.0.1:2/')
    await dialog.getByRole('button', { name: 'Save channel' }).click()
    await dialog.locator('.field', { hasText: 'Header' }).getByText('Must be given again').waitFor()
    await dialog.getByLabel('Header').fill('Authorization: Bearer 2\nX-Team: jobs: eu\n')
    await dialog.getByRole('button', { name: 'Save channel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.reload() // a poll that was under way may still show the channel as it was
    await more('hook', 'Edit')
    expect(await dialog.getByLabel('Header').inputValue()).toBe(`Authorization: ${HIDDEN}\nX-Team: ${HIDDEN}`)
    await dialog.getByLabel('Header').fill(`Authorization: ${HIDDEN}\nno colon`)
    await dialog.getByRole('button', { name: 'Save channel' }).click()
    await dialog.locator('.field', { hasText: 'Header' }).locator('.field-fault', { hasText: /./ }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await more('hook', 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete channel' }).click()
    // its alerts stay in the list
    await page.getByRole('button', { name: 'More for hook' }).waitFor({ state: 'detached' })
    expect(await page.getByText('silent job is late').count()).toBeGreaterThan(0)
    expect(await page.getByRole('button', { name: 'More for silent job' }).count()).toBe(0)
  })

  test('a maintenance is planned, shown where alerts are, ended early, repeated and deleted, by keyboard', async () => {
    const { cookie, bySession, secret } = await signUp('plan@example.com')
    await console.send(secret, [{ kind: 'start', process: 'nightly job' }])
    const { page, go, complaints } = await visit({ ...QUICK, viewport: { width: 390, height: 844 } }, cookie)
    const dialog = page.getByRole('dialog')
    const planned = async () => (await bySession.get('/api/maintenance')).json.maintenance
    const press = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).last().press('Enter')
    }
    await go('watches')
    await page.getByRole('link', { name: 'Maintenance' }).click()
    await page.getByText('No maintenance').waitFor()
    await press('Plan maintenance')
    await dialog.getByLabel('Process').fill('nightly *')
    await press('Plan maintenance')
    await page.getByText('active', { exact: true }).waitFor()
    expect(await planned()).toMatchObject([{ process: 'nightly *', repeat: null, active: true }])
    for (const view of ['home', 'watches', 'process?process=nightly+job']) {
      await go(view)
      await page.getByText('notifications are held back for nightly * until').waitFor()
    }
    await go('maintenance')
    await press('End now nightly *')
    await press('End now')
    await page.getByText('over', { exact: true }).waitFor()
    await dialog.waitFor({ state: 'detached' }) // a poll may be first
    await press('Delete nightly *')
    await press('Delete maintenance')
    await page.getByText('No maintenance').waitFor()
    await dialog.waitFor({ state: 'detached' })

    await press('Plan maintenance')
    await dialog.getByLabel('Process').fill('*')
    await dialog.getByLabel('Happens').selectOption('repeatedly')
    await dialog.getByLabel('Begins at').fill('* * * * *')
    await dialog.getByLabel('Time zone').fill('Mars/Base')
    await dialog.getByLabel('Lasts').fill('30 minutes')
    await press('Plan maintenance')
    await dialog.getByText('Must be a time span').waitFor()
    await dialog.getByLabel('Lasts').fill('10s')
    await press('Plan maintenance')
    await dialog.getByText('Must be a time zone').waitFor()
    await dialog.getByLabel('Time zone').fill('Europe/Berlin')
    await press('Plan maintenance')
    await page.getByText('Europe/Berlin, for 10s').waitFor()
    await dialog.waitFor({ state: 'detached' })
    expect(await planned()).toMatchObject([
      { process: '*', from: null, to: null, repeat: { cron: '* * * * *', tz: 'Europe/Berlin', length: '10s' } },
    ])
    await press('Edit *')
    expect(await dialog.getByLabel('Begins at').inputValue()).toBe('* * * * *')
    const hourly = `${new Date().getUTCMinutes()} * * * *`
    await dialog.getByLabel('Begins at').fill(hourly)
    await dialog.getByLabel('Lasts').fill('50m') // the clock is quick
    await press('Save maintenance')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('active', { exact: true }).waitFor()
    await press('End now *') // this time only; the next one begins at its time
    await press('End now')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('active', { exact: true }).waitFor({ state: 'detached' })
    expect(await planned()).toMatchObject([{ active: false, repeat: { cron: hourly } }])
    const [{ from }] = await planned()
    await press('Edit *') // its limits stay
    await dialog.getByLabel('Lasts').fill('51m')
    await press('Save maintenance')
    await dialog.waitFor({ state: 'detached' })
    expect(await planned()).toMatchObject([{ active: false, from, repeat: { length: '51m' } }])
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([])
  })

  test('a lost link is sent again, and a disabled channel is enabled', async () => {
    const { cookie, bySession } = await signUp('again@example.com')
    const { page, go } = await visit(QUICK, cookie)
    const send = async (method: string, path: string, body: object): Promise<string> =>
      (await bySession.call(method, `/api/${path}`, body)).json.channel.id
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    const mail = await send('POST', 'channels', { name: 'mail', kind: 'email', to: 'ops@example.com' })
    const hook = await send('POST', 'channels', { name: 'hook', kind: 'webhook', url: 'http://127.0.0.1:1/' })
    await send('PATCH', `channels/${hook}`, { enabled: false })
    await until('the link arrives', () => mailsTo('ops@example.com').length === 1)
    await go('watches')
    await page.getByRole('button', { name: 'More for mail' }).click()
    await page.getByRole('button', { name: 'Send the link again mail' }).click()
    await until('the link arrives again', () => mailsTo('ops@example.com').length === 2)
    await page.getByText('Confirmation link sent.').waitFor({ state: 'attached' })
    await row('mail').getByText('pending', { exact: true }).waitFor()
    await send('PATCH', `channels/${mail}`, { enabled: false })
    await row('mail').getByText('disabled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'More for mail' }).click()
    await page.getByRole('button', { name: 'Enable mail' }).click()
    await until('the link arrives once more', () => mailsTo('ops@example.com').length === 3)
    await page.getByRole('button', { name: 'More for hook' }).click()
    await page.getByRole('button', { name: 'Enable hook' }).click()
    await row('hook').getByText('untested', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /^Enable/ }).count()).toBe(0)
  })

  test('a new watch notifies every channel, reports no failure a second time, and has the grace of the API', async () => {
    const { cookie, bySession } = await signUp('twice@example.com')
    const { page, go } = await visit(QUICK, cookie)
    const [open, fails] = [
      page.getByRole('button', { name: 'Create watch' }).first(),
      page.getByRole('checkbox', { name: 'fails' }),
    ]
    for (const name of ['one', 'two'])
      await bySession.post('/api/channels', { name, kind: 'webhook', url: 'http://127.0.0.1:1/' })
    await go('watches')
    await page.getByText('one', { exact: true }).waitFor()
    await open.click()
    for (const name of ['fails or raises an exception', 'one', 'two'])
      expect([name, await page.getByRole('checkbox', { name, exact: true }).isChecked()]).toEqual([name, true])
    await page.getByRole('button', { name: 'Cancel' }).click()
    await bySession.post('/api/watches', { name: 'Third failure', process: '*', failed: { after: 3 }, channels: [] })
    await page.reload()
    await page.getByText('Third failure').waitFor()
    await open.click()
    expect(await fails.isChecked()).toBe(true)
    expect(await page.getByLabel('Grace').inputValue()).toBe('5m')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await bySession.post('/api/watches', { name: 'Every failure', process: '*', failed: {}, channels: [] })
    await page.reload()
    await page.getByText('Every failure').waitFor()
    await open.click()
    expect(await fails.isChecked()).toBe(false)
    await page.getByText('(Every failure reports that)').waitFor()
  })

  test('a watch suggested by the rhythm would not have fired, and its new channel is tested in place', async () => {
    const received: string[] = []
    const receiver = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        received.push(await request.text())
        return new Response(null, { status: received.length === 1 ? 404 : 204 })
      },
    })
    const { cookie, secret, bySession } = await signUp('rhythm@example.com')
    const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString()
    const runs = Array.from({ length: 40 }, (_, i) => [
      { kind: 'start', process: 'hourly', at: at((i + 0.5) * 3_600_000 + (i % 3) * 60_000) },
      { kind: 'end', process: 'hourly', at: at((i + 0.5) * 3_600_000 + (i % 3) * 60_000 - 30_000) },
    ])
    await console.send(secret, runs.flat())
    const { page, go, view, complaints } = await visit({ ...QUICK, viewport: { width: 390, height: 844 } }, cookie)
    await go('process?process=hourly')
    await page.getByText('No one is notified.').waitFor()
    await page.getByRole('link', { name: 'Watch this process' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Interval').inputValue()).toBe('1h')
    await dialog.getByText('Would have fired 0 times in the last 30 days.').waitFor()
    await dialog.getByLabel('URL or e-mail address').fill(`http://127.0.0.1:${receiver.port}/`)
    const create = dialog.getByRole('button', { name: 'Create and send test' })
    await create.click()
    await dialog.getByText(/The receiver answered 404/).waitFor()
    expect((await bySession.get('/api/watches')).json.watches).toEqual([])
    await create.click()
    await dialog.getByText(/^Test: 204/).waitFor()
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click()
    await page.getByText('when it is late (every 1 h), fails, or raises an exception').waitFor()
    expect(view()).toBe('#/process?process=hourly')
    expect(received).toHaveLength(2)
    expect(complaints.filter((text) => !text.includes('502'))).toEqual([])
    await receiver.stop(true)
  })

  test('a watch of a process that sends exceptions alone is tested on them, and says so where nothing is looked at', async () => {
    const { cookie, secret } = await signUp('loud@example.com')
    const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString()
    await console.send(secret, [
      ...[3, 2, 1].map((h) => ({ kind: 'exception', process: 'loud', exception: 'E: no', at: at(h * 3_600_000) })),
      { kind: 'metrics', process: 'gauge', items: { rows: 1 }, at: at(3_600_000) },
    ])
    const { page, go } = await visit(QUICK, cookie)
    const dialog = page.getByRole('dialog')
    await go('process?process=loud')
    await page.getByRole('link', { name: 'Watch this process' }).click()
    await dialog.getByText('Would have fired 1 time in the last 30 days:').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await go('process?process=gauge')
    await page.getByRole('link', { name: 'Watch this process' }).click()
    await dialog.getByText('Nothing that these conditions look at was sent in the last 30 days.').waitFor()
  })

  test('the link of a notification shows its watch', async () => {
    const { cookie, bySession } = await signUp('link@example.com')
    const { page, go } = await visit({ ...QUICK, viewport: { width: 1280, height: 500 } }, cookie)
    const ids: string[] = []
    for (let i = 0; i < 30; i++) {
      const body = { name: `watch ${i}`, process: 'job', failed: {}, channels: [] }
      ids.push((await bySession.post('/api/watches', body)).json.watch.id)
    }
    await go(`watches?watch=${ids[17]}`)
    await page.locator('tr.chosen').waitFor()
    expect(await page.locator('tr.chosen strong').allTextContents()).toEqual(['watch 17'])
    await page.waitForFunction(() => {
      const { top, bottom } = document.querySelector('tr.chosen')!.getBoundingClientRect()
      return top > 0 && bottom < innerHeight
    })
    await go('watches?watch=wat_gone')
    await page.getByText('The watch of this link was deleted.').waitFor({ state: 'attached' })
  })

  test('lists all alerts that fire, also older ones than the newest 50', async () => {
    const { cookie, secret, bySession } = await signUp('many@example.com')
    await bySession.post('/api/watches', { name: 'all', process: '*', failed: {}, channels: [] })
    const failing = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => ({ process: `job ${from + i}` })).flatMap((job) => [
        { kind: 'start', ...job },
        { kind: 'end', ...job, failed: true },
      ])
    const firing = async () => (await bySession.get('/api/alerts?state=firing&limit=100')).json.alerts.length
    await console.send(secret, failing(0, 55))
    await until('all fire', async () => (await firing()) === 55)
    const { page, go } = await visit(QUICK, cookie)
    await go('watches')
    const rows = page.getByRole('region', { name: 'Alerts' }).locator('tbody tr')
    await rows.nth(54).waitFor()
    expect(await rows.count()).toBe(55)
    await page.getByText('Shows all firing alerts').waitFor()
  })

  test('every condition can be set and changed, by keyboard on a phone, and faults are shown at their fields', async () => {
    const { cookie, secret, bySession } = await signUp('edit@example.com')
    await console.send(secret, [{ kind: 'start', process: 'queue', meta: 'eu' }])
    const { page, go } = await visit({ ...QUICK, viewport: { width: 390, height: 844 } }, cookie)
    const watch = async () => (await bySession.get('/api/watches')).json.watches[0]
    await go('watches')
    const dialog = page.getByRole('dialog')
    const press = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).last().press('Enter')
    }
    await press('Create watch')
    await dialog.locator(':focus').waitFor()
    await page.keyboard.type('queue')
    await dialog.locator('summary').press('Enter')
    const grace = dialog.getByLabel('Grace')
    await until('what is known of the process suggests a grace', async () => (await grace.inputValue()) === '1h')
    await dialog.getByLabel('Meta').selectOption('eu')
    for (const name of ['does not start', 'takes longer than', /^takes$/, 'has a metric'])
      await dialog.getByRole('checkbox', { name }).press('Space')
    await dialog.getByLabel('Expected').selectOption('on schedule')
    await dialog.getByLabel('Cron expression').fill('0 3 31 2 *')
    await dialog.getByLabel('Time zone').fill('Mars/Base')
    await dialog.getByLabel('Longest').fill('30 minutes')
    await dialog.getByLabel('Consecutive failures').fill('2')
    await dialog.getByLabel('Times the usual').fill('0.5')
    await dialog.getByLabel('Statistic').selectOption('mean')
    await dialog.getByLabel('Side').selectOption('below')
    await dialog.getByLabel('For at least').fill('5m')
    await dialog.getByLabel('Name', { exact: true }).fill('all of it')
    await dialog.getByRole('checkbox', { name: 'a new channel' }).uncheck()
    await press('Create watch')
    const invalid = (label: string) =>
      dialog.getByLabel(label, { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor()
    await invalid('Metric')
    await dialog.getByText('Must be from 1 to 1000.').waitFor()
    await dialog.getByLabel('Times the usual').fill('2.5')
    await dialog.getByLabel('Metric', { exact: true }).fill(' rows ')
    await dialog.getByLabel('Threshold', { exact: true }).fill('5')
    await press('Create watch')
    await dialog.getByText('Must be a time span').waitFor()
    await invalid('Longest')
    await dialog.getByLabel('Longest').fill('30m')
    await press('Create watch')
    await dialog.getByText('Must be a time zone').waitFor()
    await dialog.getByLabel('Time zone').fill('Europe/Berlin')
    await press('Create watch')
    await dialog.getByText('This is never due').waitFor()
    await dialog.getByLabel('Cron expression').fill('0 3 * * *')
    await press('Create watch')
    await dialog.waitFor({ state: 'detached' })
    expect(await watch()).toMatchObject({
      name: 'all of it',
      process: 'queue',
      meta: 'eu',
      late: { cron: '0 3 * * *', tz: 'Europe/Berlin', grace: '1h' },
      long: '30m',
      failed: { after: 2, exceptions: true },
      slow: 2.5,
      metric: { name: ' rows ', window: '10m', of: 'mean', below: 5, for: '5m' },
    })

    await press('Edit all of it')
    expect(await dialog.getByLabel('Cron expression').inputValue()).toBe('0 3 * * *')
    await dialog.getByRole('checkbox', { name: 'does not start' }).uncheck()
    await dialog.getByLabel('Side').selectOption('above')
    await dialog.getByLabel('Remind every').fill('6h')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await press('Save watch')
    await dialog.waitFor({ state: 'detached' })
    const changed = await watch()
    expect(changed).toMatchObject({
      late: null,
      long: '30m',
      meta: 'eu',
      remind: '6h',
      metric: { name: ' rows ', above: 5, for: '5m' },
    })
    expect(changed.metric.below).toBeUndefined()

    await press('More for all of it')
    await press('Pause all of it')
    await press('Pause watch')
    await page.getByText('paused', { exact: true }).waitFor()
    expect(Date.parse((await watch()).paused_until) - Date.now()).toBeGreaterThan(23 * 3_600_000)
    await press('More for all of it')
    await press('Resume all of it')
    await page.getByText('ok', { exact: true }).waitFor()
    expect((await watch()).paused_until).toBeNull()
  })

  test('a process is watched from its page, and Home shows the alert until it is resolved', async () => {
    const { cookie, secret, bySession } = await signUp('links@example.com')
    const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString()
    await console.send(secret, [
      { kind: 'start', process: 'a/b & c', at: at(600_000) },
      { kind: 'end', process: 'a/b & c', at: at(480_000) },
    ])
    const { page, go, complaints } = await visit(QUICK, cookie)
    const needs = page
      .getByRole('region', { name: 'Processes' })
      .locator('tbody:has-text("Needs you now")')
      .getByRole('row')
      .filter({ hasText: 'a/b & c' })
    const watchLink = page.getByRole('link', { name: 'Watch this process' })
    await go('home')
    await page.getByRole('heading', { level: 1, name: '1 process is fine.' }).waitFor()
    expect(await needs.count()).toBe(0)
    await go('runs')
    await page.getByRole('link', { name: 'Run of a/b & c' }).waitFor()
    expect(await watchLink.count()).toBe(0)

    await go('home')
    await page.getByRole('link', { name: 'a/b & c', exact: true }).click()
    await watchLink.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Would have fired 0 times in the last 30 days.').waitFor()
    const starts = dialog.getByRole('checkbox', { name: 'does not start' })
    expect(await starts.isChecked()).toBe(false) // one run is no rhythm
    await dialog.getByLabel('Interval').fill('1s')
    await dialog.getByLabel('Grace').fill('1s')
    expect(await starts.isChecked()).toBe(true)
    await dialog.getByText('Would have fired 1 time in the last 30 days:').waitFor()
    await dialog.getByText(/^a\/b & c is late/).waitFor()
    await dialog.getByRole('checkbox', { name: 'a new channel' }).uncheck()
    await dialog.getByText('No channel: the alert is only shown in this console.').waitFor()
    await dialog.getByRole('button', { name: 'Create watch' }).click()
    await dialog.waitFor({ state: 'detached' })

    const late = { every: '1s', grace: '1s' }
    const second = await bySession.post('/api/watches', { name: 'the second', process: 'a/b & c', channels: [], late })
    await go('home')
    await page.getByRole('heading', { level: 1, name: '1 process is silent.' }).waitFor()
    await needs.getByText(/^Silent: no start for/).waitFor()
    expect(await needs.count()).toBe(1)
    await needs.getByRole('button', { name: 'Acknowledge: a/b & c' }).click()
    await needs.getByText('links@example.com has acknowledged it').waitFor()
    await bySession.delete(`/api/watches/${second.json.watch.id}`)
    await needs.getByRole('link', { name: 'a/b & c', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'a/b & c' }).waitFor()
    await page.getByText('It notifies no one.').waitFor()
    await go('watches')
    await page.getByRole('button', { name: 'More for a/b & c' }).click()
    await page.getByRole('button', { name: 'Delete a/b & c' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete watch' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await go('home')
    await page.getByRole('heading', { level: 1, name: '1 process is fine.' }).waitFor()
    // with a quick clock a question waits (429) or takes (422) too long on a slow machine
    expect(complaints.filter((text) => !/429|422/.test(text))).toEqual([])
  })
})
