// Pages that are open while something changes: live runs, triage, clicks, a server that is away, Back, polls; Health; and hostile
// texts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createCaller, type SignedUp } from '../support/caller.ts'
import { until } from '../support/until.ts'
import { type ConsoleStint, cannotRun, expectQuiet, LIGHT, QUICK, startConsole } from './console-visit.ts'
import { buryMetrics, someDay } from './some-day.ts'

const HOSTILE = {
  process: '<img src=x onerror=alert(1)>‮gnp.exe',
  meta: '</script><script>alert(1)</script>',
  exception: `<svg onload=alert(1)> ${'W\u0338'.repeat(300)} ${'x'.repeat(3_000)}\n    at <script>alert(1)</script> (javascript:alert(1):1:1)`,
}

describe.skipIf(cannotRun())('an open page', () => {
  let stint: ConsoleStint
  let ada: SignedUp
  let eve: SignedUp
  beforeAll(async () => {
    stint = await startConsole()
    ada = await stint.signUp('ada@example.com')
    eve = await stint.signUp('eve@example.com')
    await stint.stint.terminate()
    buryMetrics(stint.stint.dataDir, ada.account)
    await stint.stint.start()
    await stint.send(ada.secret, someDay(Date.now()))
    await stint.send(eve.secret, [
      { kind: 'start', process: HOSTILE.process, meta: HOSTILE.meta },
      { kind: 'metrics', process: HOSTILE.process, meta: HOSTILE.meta, items: { '<b>x</b>': 1 } },
      { kind: 'exception', process: HOSTILE.process, meta: HOSTILE.meta, exception: HOSTILE.exception },
    ])
  })
  afterAll(() => stint.close())

  test('health: a viewer sees dead letters, and no button that would be refused', async () => {
    const invited = await ada.bySession.post('/api/invitations', { email: 'looker@example.com', role: 'viewer' })
    const accepted = { token: invited.json.invitation.url.split('token=')[1], password: 'a lookers long password' }
    const joined = await createCaller(stint.stint.url).post('/api/invitations/accept', accepted)
    const cookie = /stint_session_\d+=(\w+)/.exec(joined.headers.get('set-cookie') ?? '')![1]
    const looker = await stint.visit(LIGHT, cookie)
    await looker.go('health')
    await looker.page.getByText('field type conflict').first().waitFor()
    expect(await looker.page.getByRole('button', { name: /^(Replay|Delete)/ }).count()).toBe(0)
    await looker.go('exceptions')
    await looker.page.getByText('7 exceptions in 2 groups').waitFor()
    expect(await looker.page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0)
    expectQuiet(looker)
    await looker.close()
  })

  test('health: replays one dead letter and drops another', async () => {
    const visit = await stint.visit(LIGHT, ada.cookie)
    const { page } = visit
    await visit.go('health')
    await page.getByText('2 events of all accounts').waitFor()
    await page.getByText('field type conflict').first().waitFor()
    await page.getByText('Event', { exact: true }).and(page.locator('summary')).first().click()
    await page.getByText('"rescued"').first().waitFor()
    await page.getByRole('button', { name: 'Replay metrics of buried' }).first().click()
    await page.getByRole('button', { name: 'Replay event' }).click()
    await page.getByText('1 event of all accounts').waitFor()
    await page.getByRole('button', { name: 'Delete metrics of buried' }).click()
    await page.getByRole('button', { name: 'Delete event' }).click()
    await page.getByText('No rejected events', { exact: true }).waitFor()
    const points = async () => (await ada.byKey.get('/api/metrics?process=buried')).json.points
    await until('the timeline shows it', async () => (await points()).length === 1)
    expectQuiet(visit)
    await visit.close()
  })

  test('health: lists the pings that a parameter made invalid', async () => {
    const visit = await stint.visit(LIGHT, ada.cookie)
    const rows = visit.page.getByRole('region', { name: 'Refused pings' }).getByRole('row')
    await visit.go('health')
    await visit.page.getByText('No rejected events', { exact: true }).waitFor()
    expect(await rows.count()).toBe(0)
    const { json } = await ada.bySession.post('/api/keys', { name: 'ping', scopes: ['ping'] })
    expect((await fetch(`${stint.stint.url}/ping/${json.key.secret}/backup?sate=ok`)).status).toBe(422)
    await rows.filter({ hasText: 'backup' }).filter({ hasText: 'sate' }).waitFor()
    expectQuiet(visit)
    await visit.close()
  })

  test('runs: a run appears, grows and is completed live', async () => {
    const guest = await stint.signUp('live@example.com')
    const mine = await stint.visit(QUICK, guest.cookie)
    const row = mine.page.getByRole('region', { name: 'Runs', exact: true }).getByRole('row')
    await mine.go('runs?from=-15m&process=live')
    await mine.page.getByText('No runs here').waitFor()
    await guest.byKey.post('/v1/start', { process: 'live' })
    await row.filter({ hasText: 'Running' }).waitFor()
    await guest.byKey.post('/v1/end', { process: 'live' })
    await row.filter({ hasText: 'Completed' }).waitFor()
    expectQuiet(mine)
    await mine.close()
  })

  test('exceptions: a search over all texts, resolve, ignore and reopen, and an export', async () => {
    const guest = await stint.signUp('triage@example.com')
    await stint.send(guest.secret, someDay(Date.now()))
    const mine = await stint.visit(LIGHT, guest.cookie)
    const { page } = mine
    await mine.go('exceptions')
    await page.getByText('7 exceptions in 2 groups').waitFor()
    await page.getByLabel('Search').fill('RESET peer')
    await page.getByText('6 exceptions in 1 group').waitFor()
    await page.getByRole('button', { name: 'Export whole texts' }).click()
    const csv = await page.getByRole('link', { name: 'CSV' }).getAttribute('href')
    expect(
      (await (await page.request.get(`${stint.stint.url}/${csv}`)).text()).split('ConnectionResetError'),
    ).toHaveLength(7)
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'CSV' }).click()
    expect((await download).suggestedFilename()).toBe('exceptions.csv')
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('button', { name: /^More for ConnectionResetError/ }).click()
    await page.getByRole('button', { name: /^Ignore ConnectionResetError/ }).click()
    await page.setViewportSize(LIGHT.viewport)
    await page.getByText('1 ignored group is not shown.').waitFor()
    await page.getByLabel('Search').fill('')
    await page.getByText('1 exception in 1 group').waitFor()
    await page.getByRole('button', { name: /^More for / }).click()
    await page.getByRole('button', { name: /^Resolve / }).click()
    await page.getByText('1 resolved and 1 ignored groups are not shown.').waitFor()
    await page.getByRole('link', { name: 'Show all' }).click()
    await page.getByText('7 exceptions in 2 groups').waitFor()
    for (const status of ['resolved', 'ignored']) await page.locator('.badge', { hasText: status }).waitFor()
    await page.getByRole('link', { name: /^ConnectionResetError/ }).click()
    await page.getByRole('heading', { level: 1, name: /^ConnectionResetError/ }).waitFor()
    await page.getByRole('button', { name: /^Reopen / }).click()
    await page.getByRole('button', { name: /^Resolve / }).waitFor()
    await page.getByRole('link', { name: 'All groups' }).click()
    await page.getByRole('button', { name: /^More for TypeError/ }).click()
    await page.getByRole('button', { name: /^Reopen / }).click()
    await page.getByLabel('Status').selectOption('Unresolved')
    await page.getByText('7 exceptions in 2 groups').waitFor()
    expectQuiet(mine)
    await mine.close()
  })

  test('a click counts although its row changes between press and release', async () => {
    const guest = await stint.signUp('press@example.com')
    const thrown = { kind: 'exception', process: 'p', exception: 'Error: pressed' }
    await stint.send(guest.secret, [thrown])
    const { page, go } = await stint.visit(QUICK, guest.cookie)
    await go('exceptions')
    await page.getByRole('link', { name: 'Error: pressed' }).hover()
    await page.mouse.down()
    const refreshed = page.waitForResponse(
      async (it) => it.url().includes('/groups?') && it.status() === 200 && /"count":2/.test(await it.text()),
    )
    await stint.send(guest.secret, [thrown])
    await refreshed
    await page.mouse.up()
    await page.getByLabel('Normalised text').waitFor()
    await page.getByRole('link', { name: 'All groups' }).click()
    await page.getByText('2 exceptions in 1 group').waitFor()
    await page.context().close()
  })

  test('an export that cannot begin says why, and a click with Ctrl is the browser’s own', async () => {
    const { page, go } = await stint.visit(LIGHT, ada.cookie)
    await go('exceptions')
    const link = page.getByRole('link', { name: 'CSV' })
    const menu = page.getByRole('button', { name: 'Export whole texts' })
    await menu.click()
    await page.route('**/api/series', (route) => route.abort())
    await link.click()
    await page.getByRole('alert').getByText('Cannot reach Stint').waitFor()
    await menu.click()
    const opened = page.context().waitForEvent('page')
    await link.click({ modifiers: ['ControlOrMeta'] })
    await opened
    await page.context().close()
  })

  test('shows hostile texts as plain text', async () => {
    const other = await stint.visit(LIGHT, eve.cookie)
    const { page } = other
    await other.go('runs?from=-1h')
    await page.getByRole('link', { name: /^Run of <img src=x/ }).click()
    await page.getByRole('complementary').getByText(HOSTILE.meta, { exact: true }).waitFor()
    await page.getByRole('complementary').getByLabel('Exception').waitFor()
    expect(await page.getByRole('complementary').getByLabel('Exception').textContent()).toBe(HOSTILE.exception)
    await other.go('metrics')
    await page.getByRole('heading', { name: '<b>x</b>' }).waitFor()
    await other.go('home')
    await page
      .getByRole('table')
      .getByRole('link', { name: /^<img src=x/ })
      .waitFor()
    await other.go('exceptions')
    await page.getByRole('link', { name: /^<svg onload/ }).click()
    await page.getByLabel('Normalised text').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    expect(await page.locator('main img, main svg[onload], main script, main b').count()).toBe(0)
    expectQuiet(other)
    await other.close()
  })

  test('while Stint is unreachable the view stays, marked as out of date since one time, and is refreshed afterwards', async () => {
    const { page, go, close } = await stint.visit(QUICK, ada.cookie)
    const notice = page.getByText(/^Cannot reach Stint. Showing data from/)
    const row = page.getByRole('table').getByRole('link', { name: 'nightly import', exact: true })
    await go('home')
    await row.waitFor()
    await page.context().setOffline(true)
    await notice.waitFor()
    expect(await row.isVisible()).toBe(true)
    const said = await notice.textContent()
    for (let i = 0; i < 3; i++)
      await page.waitForEvent('requestfailed', (request) => request.url().includes('/api/overview'))
    expect(await notice.allTextContents()).toEqual([said!])
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await notice.waitFor({ state: 'detached' })
    await close()
  })

  test('Back closes an open dialog, but not one with a secret that is shown once', async () => {
    const mine = await stint.visit(LIGHT, (await stint.signUp('back@example.com')).cookie)
    const { page } = mine
    await mine.go('keys')
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
    await mine.go('watches')
    await page.getByRole('button', { name: 'Create watch' }).click()
    await page.getByRole('dialog').waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create key' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('kept')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'I’ve saved it' }).waitFor()
    await mine.go('home')
    await page.getByText('No processes yet').waitFor()
    await page.getByRole('button', { name: 'I’ve saved it' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await mine.close()
  })
  test('five polls keep the focus, the selection and what the pointer is over, while a row changes', async () => {
    const cy = await stint.signUp('cy@example.com')
    const run = (process: string) => [
      { kind: 'start', process },
      { kind: 'end', process },
    ]
    await stint.send(cy.secret, [...run('quiet'), ...run('busy')])
    const mine = await stint.visit(LIGHT, cy.cookie)
    const { page } = mine
    const link = (name: string) => page.getByRole('table').getByRole('link', { name, exact: true })
    await page.clock.install()
    await mine.go('home')
    await link('quiet').focus()
    await link('busy').hover()
    await page.evaluate(() => {
      const hovered = document.querySelector('tr:hover a')!
      getSelection()!.selectAllChildren(document.activeElement!)
      for (const element of [hovered, document.activeElement!]) Object.assign(element, { isKept: true })
    })
    let answers = 0
    page.on('response', (response) => response.url().includes('/api/overview') && answers++)
    await stint.send(cy.secret, run('busy'))
    const changed = page.getByRole('img', { name: 'Last 2 runs, 0 problems' })
    await until('five answers, and the news among them', async () => {
      await page.clock.fastForward(5_000)
      return answers >= 5 && (await changed.isVisible())
    })
    const kept = await page.evaluate(() => ({
      focused: [document.activeElement?.textContent, document.activeElement && 'isKept' in document.activeElement],
      hovered: [...document.querySelectorAll('tr:hover a')].map((it) => [it.textContent, 'isKept' in it]),
      selected: String(getSelection()),
    }))
    expect(kept).toEqual({ focused: ['quiet', true], hovered: [['busy', true]], selected: 'quiet' })
    expectQuiet(mine)
    await mine.close()
  })
})
