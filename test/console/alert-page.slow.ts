// The page of an alert in a real browser: from the link of a notification to what failed, who knows and what to do.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PASSWORD, type SignedUp } from '../support/caller.ts'
import { until } from '../support/until.ts'
import {
  type ConsoleStint,
  cannotRun,
  closingVisits,
  expectQuiet,
  findBarriersInBothSchemes,
  findSmall,
  findWide,
  LIGHT,
  startConsole,
  USUAL_PHONE,
} from './console-visit.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

describe.skipIf(cannotRun())('the page of an alert', () => {
  let stint: ConsoleStint
  const received: { readonly type: string; readonly data: { readonly url: string; readonly process: string } }[] = []
  const receiver = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    async fetch(request) {
      received.push(await request.json())
      return new Response('thanks')
    },
  })
  beforeAll(async () => {
    stint = await startConsole({ NOTIFY_PRIVATE: 'true' })
  })
  afterAll(async () => {
    await stint.close()
    await receiver.stop(true)
  })
  const visit = closingVisits(() => stint)

  const agoIso = (ms: number) => new Date(Date.now() - ms).toISOString()
  interface Run {
    readonly agoMs: number
    readonly tookMs: number
    readonly uid: string
    readonly process?: string
    readonly items?: Readonly<Record<string, number>>
    readonly output?: string
    readonly exception?: string
  }
  function run({ agoMs, tookMs, uid, process = 'import', items, output, exception }: Run) {
    const mark = { process, meta: 'eu', uid }
    return [
      { kind: 'start', ...mark, at: agoIso(agoMs) },
      ...(items === undefined ? [] : [{ kind: 'metrics', ...mark, items, at: agoIso(agoMs - tookMs + 2) }]),
      ...(exception === undefined ? [] : [{ kind: 'exception', ...mark, exception, at: agoIso(agoMs - tookMs + 1) }]),
      {
        ...{ kind: 'end', ...mark, ...(agoMs > tookMs && { at: agoIso(agoMs - tookMs) }) }, // else when it arrives
        ...(output !== undefined && { output }),
        ...(exception !== undefined && { failed: true }),
      },
    ]
  }
  const said = (last: string) => [...Array.from({ length: 9 }, (_, i) => `part ${i} of t`), last].join('\n')

  /** It notifies the receiver. */
  async function watch({ bySession }: SignedUp, process: string, conditions: object): Promise<void> {
    const channel = { name: 'on call', kind: 'webhook', url: `http://127.0.0.1:${receiver.port}/` }
    const { id } = (await bySession.post('/api/channels', channel)).json.channel
    const body = { name: `watch of ${process}`, process, channels: [id], ...conditions }
    expect((await bySession.post('/api/watches', body)).status).toBe(201)
  }
  async function signUp(email: string, conditions: object, process = 'import'): Promise<SignedUp> {
    const person = await stint.signUp(email)
    await watch(person, process, conditions)
    return person
  }
  async function firing({ bySession }: SignedUp): Promise<{ readonly id: string; readonly path: string }> {
    const ask = async () => (await bySession.get('/api/alerts?state=firing')).json.alerts
    await until('an alert fires', async () => (await ask()).length > 0)
    return (await ask())[0]
  }
  const good = run({
    ...{ agoMs: DAY_MS + 50 * MINUTE_MS, tookMs: 25 * MINUTE_MS, uid: 'good' },
    ...{ items: { rows: 120_412, lag: 2 }, output: said('stored') },
  })
  /** It ends now: a watch does not fire for what was over before it was made. */
  const bad = () =>
    run({
      ...{
        agoMs: 8 * MINUTE_MS,
        tookMs: 8 * MINUTE_MS,
        uid: 'bad',
        items: { rows: 12, lag: 2 },
        output: said(HOSTILE),
      },
      exception: `import.sh: exited with code 3\nError: ${HOSTILE} no space left on device`,
    })

  test('the link of a notification shows why it failed, beside the last good run, and it is acknowledged and undone', async () => {
    const ada = await signUp('ada@example.com', { failed: {} })
    await stint.send(ada.secret, [
      ...good,
      ...run({ agoMs: 5 * MINUTE_MS, tookMs: MINUTE_MS, uid: 'x', process: 'other', exception: 'Error: too' }),
      ...bad(),
    ])
    const told = () => received.find(({ type, data }) => type === 'alert.firing' && data.process === 'import')
    await until('the notification arrives', () => told() !== undefined)
    const mine = await visit(USUAL_PHONE, ada.cookie)
    const { page } = mine
    await page.goto(told()!.data.url)
    await page.getByRole('heading', { level: 1, name: /^import \(eu\) failed at .*, (just now|\d+ s ago)$/ }).waitFor()
    expect(await page.title()).toBe('import failed · Stint')
    expect(mine.view()).toMatch(/^#\/alert\?id=ale_\w+$/)
    await page.locator('.process-why code').getByText(`${HOSTILE} no space left`).waitFor()
    await page.getByText('new', { exact: true }).waitFor()
    const table = page.getByRole('region', { name: 'This run beside the last good run' })
    // on a slow machine the store has them at a later poll
    for (const text of ['25 m 00 s', '120,412']) await table.getByText(text).waitFor()
    const rows = await Promise.all(
      (await table.getByRole('row').all()).map(async (row) =>
        (await row.locator('th, td').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim()).join(' | '),
      ),
    )
    expect(rows.slice(3)).toEqual([
      'Took | 8 m 00 s 3.1× faster | 25 m 00 s',
      'rows | 12 0.0001× | 120,412',
      'lag | 2 the same | 2',
      `Exceptions | Error: ${HOSTILE} no space left on device | none`,
      'Exit | code 3 | –',
    ])
    const output = await page.getByLabel('Output of this run and of the last good run').textContent()
    expect(output?.trimEnd().split('\n').slice(-2)).toEqual(['− stored', `+ ${HOSTILE}`])
    await page.getByRole('link', { name: 'other · eu' }).waitFor()
    await page.getByText('on call alert').waitFor()
    await page.getByText(/^delivered: 200/).waitFor()
    await page.getByText('fires when it fails.').waitFor()
    await page.getByText('Would have fired 1 time in the last 30 days.').waitFor()

    await page.getByRole('button', { name: 'Acknowledge' }).tap()
    await page.getByText(/^ada@example.com has acknowledged it at \d\d:\d\d/).waitFor()
    expect(await page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0)
    await page.reload()
    await page.getByRole('button', { name: 'Undo' }).tap()
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor()
    expect(await findWide(page)).toEqual([])
    expect(await findSmall(page)).toEqual([])
    expect(await findBarriersInBothSchemes(page)).toEqual([])
    await stint.send(ada.secret, run({ agoMs: 1, tookMs: 1, uid: 'next' }))
    await page.getByText(/^Resolved at \d\d:\d\d by the next run$/).waitFor()
    await page.getByRole('heading', { level: 1, name: /^import \(eu\) failed at/ }).waitFor()
    expect(await findBarriersInBothSchemes(page)).toEqual([])
    expectQuiet(mine)
  })

  test('a missing start says when it was due; rows of alerts, Home and the page of the process lead there', async () => {
    const bea = await stint.signUp('bea@example.com')
    await stint.send(
      bea.secret,
      Array.from({ length: 12 }, (_, i) =>
        run({ agoMs: (i + 1) * MINUTE_MS, tookMs: 1_000, uid: `run-${i}`, process: 'silent' }),
      ).flat(),
    )
    await watch(bea, 'silent', { late: { every: '1s', grace: '1s' } })
    const { id } = await firing(bea)
    const mine = await visit({ ...LIGHT, quickPolls: true }, bea.cookie)
    const { page, go, view } = mine
    const heading = page.getByRole('heading', { level: 1, name: /^silent( \(eu\))? is late, for/ })
    for (const [from, link] of [
      ['watches', page.getByRole('region', { name: 'Alerts' }).getByRole('link', { name: 'is late' })],
      ['home', page.getByRole('table').getByRole('link', { name: /^Silent|^Late/ })],
      ['process?process=silent', page.getByRole('link', { name: /is late: it should start every 1s/ })],
    ] as const) {
      await go(from)
      await link.first().click()
      await heading.waitFor()
      expect(view()).toBe(`#/alert?id=${id}`)
    }
    await page.getByText('It should start every 1s, and did not by').waitFor()
    await page.getByRole('heading', { name: 'The missing start' }).waitFor()
    await page.getByRole('img', { name: 'The last 10 gaps between starts: 60 s' }).waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await findWide(page)).toEqual([])
    expect(await findBarriersInBothSchemes(page)).toEqual([])
    await page.getByRole('button', { name: 'Resolve' }).click()
    await page.getByText(/^Resolved at \d\d:\d\d by hand$/).waitFor()
    await page.getByText('Start before it').waitFor()
    await page.getByText('The last 10 gaps between starts: 60 s.', { exact: true }).waitFor()
    expectQuiet(mine)
  })

  test('an alert about a metric shows the figure with its limit', async () => {
    const cid = await signUp(
      'cid@example.com',
      { metric: { name: 'lag', of: 'mean', window: '10m', above: 5 } },
      'queue',
    )
    await stint.send(
      cid.secret,
      Array.from({ length: 30 }, (_, i) => ({
        ...{ kind: 'metrics', process: 'queue', meta: 'eu', items: { lag: i < 5 ? 40 : 1 }, at: agoIso(i * MINUTE_MS) },
      })),
    )
    const { id } = await firing(cid)
    const { page, go } = await visit(LIGHT, cid.cookie)
    await go(`alert?id=${id}`)
    await page.getByRole('img', { name: 'lag over time' }).waitFor()
    await page.getByText('Show as a table').click()
    // of a watch of any meta: the figure is of all of them, and crosses its limit
    await page
      .getByRole('region', { name: 'lag as a table' })
      .getByRole('cell', { name: /^(2\d|3\d|40)(\.\d+)?$/ })
      .first()
      .waitFor()
    expect(await findBarriersInBothSchemes(page)).toEqual([])
  })

  test('a note is plain text with links, is kept while somebody writes it, and stands on the page of the process', async () => {
    const dan = await signUp('dan@example.com', { failed: {} })
    await stint.send(dan.secret, bad())
    const { id } = await firing(dan)
    const mine = await visit({ ...LIGHT, quickPolls: true }, dan.cookie)
    const { page, go } = mine
    await go(`alert?id=${id}`)
    await page.getByRole('button', { name: 'Write a note' }).click()
    const area = page.getByLabel('What to do')
    await area.fill(`Free space on db-2.\n${HOSTILE} javascript:alert(1) https://wiki.example.com/import?a=b.`)
    let polls = 0
    page.on('request', (request) => request.url().includes('/api/alerts/') && polls++)
    await until('the page has asked again', () => polls > 2)
    expect(await area.evaluate((it) => it === document.activeElement)).toBe(true)
    await page.getByRole('button', { name: 'Save note' }).click()
    await page.getByText('dan@example.com, just now').waitFor()
    const links = page.locator('.note-text a')
    expect(await links.evaluateAll((all) => all.map((a) => [a.getAttribute('href'), a.getAttribute('rel')]))).toEqual([
      ['https://wiki.example.com/import?a=b', 'noopener noreferrer'],
    ])
    await page.getByText(`${HOSTILE} javascript:alert(1)`).waitFor()
    await page.getByRole('button', { name: 'Edit note' }).click()
    const other = { process: 'import', note: 'Call the night shift.' }
    expect((await dan.bySession.call('PUT', '/api/processes/note', other)).status).toBe(200)
    await page.getByText(/has written meanwhile:\s+Call the night shift\.$/).waitFor()
    await area.fill('Free space on db-2.')
    await page.getByRole('button', { name: 'Save note' }).click()
    await page.getByRole('alert').getByText('Somebody else has changed the note').waitFor()
    mine.complaints.length = 0 // the browser itself says that a 409 came
    await page.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('button', { name: 'Save note' }).click()
    await page.getByRole('button', { name: 'Edit note' }).waitFor()
    await go('process?process=import')
    await page.getByText('Free space on db-2.').waitFor()
    await page.getByRole('button', { name: 'Edit note' }).click()
    await area.fill('')
    await page.getByRole('button', { name: 'Save note' }).click()
    await page.getByRole('button', { name: 'Write a note' }).waitFor()
    expectQuiet(mine)
  })

  test('polls leave the focus and an opened text as they are; the watch is changed in its form', async () => {
    const eve = await signUp('eve@example.com', { failed: {} })
    await stint.send(eve.secret, bad())
    const { id } = await firing(eve)
    const { page, go } = await visit({ ...LIGHT, quickPolls: true }, eve.cookie)
    await go(`alert?id=${id}`)
    await page.getByText('Whole text').click()
    await page.getByRole('button', { name: 'Resolve' }).focus()
    let polls = 0
    page.on('request', (request) => request.url().includes('/api/alerts/') && polls++)
    await until('the page has asked again', () => polls > 2)
    expect(await page.locator(':focus').textContent()).toBe('Resolve')
    await page.getByLabel('Exception', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Change watch of import' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/^Would have fired 1 time/).waitFor()
    await dialog.getByRole('checkbox', { name: 'takes longer than' }).check()
    await dialog.getByLabel('Longest').fill('2h')
    await dialog.getByRole('button', { name: 'Save watch' }).click()
    await page.getByText('fires when it runs longer than 2 h').waitFor()
  })

  test('a part whose store does not answer says so and asks again; the rest is shown', async () => {
    const fay = await signUp('fay@example.com', { failed: {} })
    await stint.send(fay.secret, bad())
    const { id } = await firing(fay)
    const { page, go } = await visit(USUAL_PHONE, fay.cookie)
    let isAway = true
    await page.route(/\/api\/alerts\/ale_/, async (route) => {
      const answer = await route.fetch()
      const body = await answer.json()
      const away = {
        good_run: null,
        metrics: [],
        output: null,
        unavailable: ['good_run', 'metrics', 'output', 'around'],
      }
      await route.fulfill({ response: answer, json: isAway ? { ...body, ...away } : body })
    })
    await go(`alert?id=${id}`)
    for (const what of ['The last good run', 'Metrics', 'The output', 'What ran then'])
      await page.getByText(`${what}: not available.`).waitFor()
    await page.getByText('on call alert').waitFor()
    expect(await findWide(page)).toEqual([])
    expect(await findBarriersInBothSchemes(page)).toEqual([])
    isAway = false
    await page.getByRole('button', { name: 'Try again: Metrics' }).tap()
    await page.getByText('No run of this meta has completed yet.').waitFor()
    expect(await page.getByText('not available').count()).toBe(0)
  })

  test('an unknown alert, and one of another account, are not found, and lead to the process', async () => {
    const gil = await signUp('gil@example.com', { failed: {} })
    await stint.send(gil.secret, bad())
    const { id } = await firing(gil)
    const other = await stint.signUp('other@example.com')
    const { page, go } = await visit(LIGHT, other.cookie)
    for (const unknown of [id, 'ale_unknown', '']) {
      await go(`alert?id=${unknown}&process=import`)
      await page.getByRole('heading', { level: 1, name: 'Alert not found' }).waitFor()
      await page.getByText('or the alert ended more than 90 days ago').waitFor()
    }
    await page.getByRole('link', { name: 'Open the process' }).click()
    await page.getByRole('heading', { level: 1, name: 'import' }).waitFor()
  })

  test('Home shows why an alert was not acknowledged', async () => {
    const ivy = await signUp('ivy@example.com', { failed: {} })
    await stint.send(ivy.secret, bad())
    await firing(ivy)
    const { page, go } = await visit(LIGHT, ivy.cookie)
    const problem = { status: 503, code: 'database_unavailable', title: 'Away', detail: 'Its database is away.' }
    await page.route('**/ack', (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    )
    await go('home')
    await page.getByRole('button', { name: 'Acknowledge: import' }).click()
    await page.getByRole('row').getByRole('alert').getByText('Its database is away.').waitFor()
    await page.unroute('**/ack')
    await page.getByRole('button', { name: 'Acknowledge: import' }).click()
    await page.getByText('ivy@example.com has acknowledged it').waitFor()
  })

  test('the link is kept through the door', async () => {
    const hal = await signUp('hal@example.com', { failed: {} })
    await stint.send(hal.secret, bad())
    const { id, path } = await firing(hal)
    const { page, view } = await visit(USUAL_PHONE)
    await page.goto(`${stint.stint.url}${path}`)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click() // sign-up is open
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await page.getByLabel('E-mail', { exact: true }).first().fill('hal@example.com')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: /^import \(eu\) failed at/ }).waitFor()
    expect(view()).toBe(`#/alert?id=${id}`)
  })
})
