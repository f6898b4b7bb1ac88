// Every view, dialog and panel over a few hours of jobs: axe-core finds no barrier, nothing scrolls sideways on a phone, and nothing moves
// while it loads.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { SignedUp } from '../support/caller.ts'
import {
  type ConsoleStint,
  cannotRun,
  expectQuiet,
  findBarriersInBothSchemes,
  findSmall,
  findWide,
  LIGHT,
  PHONE,
  startConsole,
  type Visit,
} from './console-visit.ts'
import { buryMetrics, someDay } from './some-day.ts'

const VIEWS = [
  ...['home', 'process?process=nightly+import', 'runs?from=-1h', 'metrics', 'exceptions', 'watches', 'maintenance'],
  ...['keys', 'health', 'account', 'members', 'audit', 'accounts', 'welcome'],
]

describe.skipIf(cannotRun())('every view', () => {
  let stint: ConsoleStint
  let ada: SignedUp
  beforeAll(async () => {
    stint = await startConsole()
    ada = await stint.signUp('ada@example.com')
    await stint.stint.terminate()
    buryMetrics(stint.stint.dataDir, ada.account)
    await stint.stint.start()
    await stint.send(ada.secret, someDay(Date.now()))
  })
  afterAll(() => stint.close())

  /** Opens every view, dialog and panel, and returns the faults that `look` finds in each. */
  async function inspect(options: typeof LIGHT | typeof PHONE, look: (page: Page) => Promise<string[]>) {
    const wrong: string[] = []
    const mine = await stint.visit(options, ada.cookie)
    const { page } = mine
    const check = async (name: string) => {
      await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
      wrong.push(...(await look(page)).map((text) => `${name}: ${text}`))
    }
    for (const view of VIEWS) {
      await mine.go(view)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await check(view)
    }
    await mine.go('runs?from=-1h')
    await page
      .getByRole('link', { name: /^Run of nightly/ })
      .first()
      .click()
    await page.getByRole('complementary').getByRole('heading', { name: 'Exceptions' }).waitFor()
    await check('a run')
    await mine.go('exceptions')
    await page.getByRole('link', { name: /^ConnectionResetError/ }).click()
    await page.getByLabel('Normalised text').waitFor()
    await check('a group')
    await mine.go('keys')
    await page.getByRole('button', { name: 'Rotate first key' }).click()
    await check('a dialog')
    expectQuiet(mine)
    await mine.close()

    const door = await stint.visit(options)
    await door.page.goto(stint.stint.url)
    await door.page.getByRole('heading', { level: 1 }).waitFor()
    wrong.push(...(await look(door.page)).map((text) => `the door: ${text}`))
    await door.close()
    return wrong
  }

  test('axe-core finds no barrier in any view, dialog or panel, light or dark', async () => {
    expect(await inspect(LIGHT, findBarriersInBothSchemes)).toEqual([])
  })

  test('axe-core finds no barrier while an alert fires, in maintenance, in forms with faults or beside resolved groups', async () => {
    const guest = await stint.signUp('guest@example.com')
    const found: string[] = []
    const channel = { name: 'hook', kind: 'webhook', url: 'http://127.0.0.1:1/' }
    const { id } = (await guest.bySession.post('/api/channels', channel)).json.channel
    const watch = { name: 'any failure', process: '*', failed: {}, channels: [id] }
    for (const [path, body] of [
      ['watches', watch],
      ['maintenance', { process: 'nightly *', to: new Date(Date.now() + 3_600_000).toISOString() }],
    ] as const)
      expect((await guest.bySession.post(`/api/${path}`, body)).status).toBe(201)
    await stint.send(guest.secret, [...someDay(Date.now()), { kind: 'end', process: 'job', failed: true }])
    const mine = await stint.visit(PHONE, guest.cookie)
    const { page } = mine
    const dialog = page.getByRole('dialog')
    const check = async (name: string) =>
      found.push(...(await findBarriersInBothSchemes(page)).map((text) => `${name}: ${text}`))
    const press = (name: string) => page.getByRole('button', { name, exact: true }).last().press('Enter')
    const leave = async () => {
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }

    await mine.go('home')
    await page.getByRole('button', { name: 'Acknowledge: job' }).click()
    await page.getByText('guest@example.com has acknowledged it').waitFor()
    await check('Home')
    await mine.go('watches')
    await page.getByText('guest@example.com has acknowledged it').waitFor()
    await check('watches')
    await press('Create watch')
    await dialog.locator(':focus').waitFor()
    await page.keyboard.type('job')
    await dialog.locator('summary').press('Enter')
    for (const name of ['does not start', 'takes longer than', /^takes$/, 'has a metric'])
      await dialog.getByRole('checkbox', { name }).press('Space')
    await dialog.getByLabel('Longest').fill('30 minutes')
    await dialog.getByLabel('Metric', { exact: true }).fill('rows')
    await dialog.getByLabel('Threshold', { exact: true }).fill('5')
    await press('Create watch')
    await dialog.getByText('Must be a time span').waitFor()
    await check('a watch with every condition and a fault')
    await leave()
    await press('More for hook')
    await press('Edit hook')
    await dialog.getByText('Which alerts').click()
    await check('a channel')
    await leave()
    await mine.go('maintenance')
    await check('maintenance')
    await press('Plan maintenance')
    await dialog.getByLabel('Process').fill('*')
    await dialog.getByLabel('Happens').selectOption('repeatedly')
    await dialog.getByLabel('Begins at').fill('* * * * *')
    await dialog.getByLabel('Lasts').fill('30 minutes')
    await press('Plan maintenance')
    await dialog.getByText('Must be a time span').waitFor()
    await check('a repeated maintenance with a fault')
    await leave()
    await mine.go('exceptions')
    await page.getByRole('button', { name: /^More for ConnectionResetError/ }).press('Enter')
    await page.getByRole('button', { name: /^Ignore ConnectionResetError/ }).press('Enter')
    await page.getByText('1 ignored group is not shown.').waitFor()
    await page.getByRole('button', { name: /^More for / }).press('Enter')
    await page.getByRole('button', { name: /^Resolve / }).press('Enter')
    await page.getByText('1 resolved and 1 ignored groups are not shown.').waitFor()
    await page.getByRole('link', { name: 'Show all' }).press('Enter')
    for (const status of ['resolved', 'ignored']) await page.locator('.badge', { hasText: status }).waitFor()
    await check('groups')
    expect(found).toEqual([])
    await mine.close()
  })

  test('nothing scrolls sideways on a phone of 320 px', async () => {
    expect(await inspect(PHONE, findWide)).toEqual([])
  })

  test.each([1280, 390])('at %i px no view moves while it loads', async (width) => {
    const moved: string[] = []
    const mine = await stint.visit({ ...LIGHT, viewport: { width, height: 800 } }, ada.cookie)
    for (const view of [...VIEWS, 'runs?from=-30d', 'runs?process=nightly+import&from=-24h'])
      moved.push(...(await findMoves(mine, view)))
    expect(moved).toEqual([])
    await mine.close()
  })

  test('on a phone Home, a process and its runs do not scroll sideways, and can be touched', async () => {
    const mine = await stint.visit(PHONE, ada.cookie)
    const { page } = mine
    const check = async (view: string) =>
      expect([view, await findWide(page), await findSmall(page)]).toEqual([view, [], []])
    await mine.go('home')
    await page.getByRole('table').getByRole('link', { name: 'nightly import' }).waitFor()
    await check('home')
    await page.getByRole('table').getByRole('link', { name: 'nightly import' }).tap()
    await page.getByText('Median, 24 h').waitFor()
    await page.getByRole('heading', { name: 'Notifications' }).waitFor()
    await check('process')
    await page.getByRole('link', { name: 'All runs' }).tap()
    await page
      .getByRole('link', { name: /^Run of/ })
      .first()
      .waitFor()
    await check('runs')
    await page
      .getByRole('link', { name: /^Run of/ })
      .first()
      .tap()
    await page.getByRole('complementary', { name: 'Chosen run' }).getByRole('heading', { name: 'Metrics' }).waitFor()
    await check('run')
    expectQuiet(mine)
    await mine.close()
  })

  test('on a phone nothing moves on Home, whichever answer comes last', async () => {
    const first = await stint.visit({ ...LIGHT, viewport: { width: 390, height: 800 } }, ada.cookie)
    const asked = new Set<string>()
    const nameOf = (url: string) => url.replace(/^.*?\/(api\/[^?]*)/, '$1').replace(/[?&](?:to|limit)=[^&]*/g, '')
    first.page.on('request', (request) => /\/(?:api\/|.*woff2)/.test(request.url()) && asked.add(nameOf(request.url())))
    await findMoves(first, 'home')
    await first.close()
    expect(asked.size).toBeGreaterThan(3)
    const moved = await Promise.all(
      [...asked].map(async (late) => {
        const mine = await stint.visit({ ...LIGHT, viewport: { width: 390, height: 800 } }, ada.cookie)
        const rest = Promise.withResolvers<void>()
        let isAnswered = false
        mine.page.on('response', (response) => {
          if (nameOf(response.url()) === nameOf(late)) isAnswered = true
          else if (asked.has(nameOf(response.url()))) mine.page.waitForTimeout(HELD_MS).then(rest.resolve, () => {})
        })
        await mine.page.route(
          (url) => nameOf(url.href) === late,
          async (route) => {
            if (!isAnswered) await rest.promise
            await route.fallback()
          },
        )
        const moves = await findMoves(mine, 'home')
        await mine.close()
        return moves.map((text) => `${late} is last: ${text}`)
      }),
    )
    expect(moved.flat()).toEqual([])
  })
})

/** So long after another answer the held one is let go: longer than the page needs to show what it has. */
const HELD_MS = 600

/** Loads a view; what moved by itself while it loaded, if it was too much. */
async function findMoves({ page, go }: Visit, view: string): Promise<string[]> {
  await page.addInitScript(() => {
    const shifts: { value: number; what: string[] }[] = []
    Object.assign(globalThis, { shifts })
    const note = (list: PerformanceObserverEntryList) => {
      for (const entry of list.getEntries()) {
        const { value, sources } = entry as unknown as { value: number; sources: { node: Element | null }[] }
        shifts.push({ value, what: sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? 'text') })
      }
    }
    new PerformanceObserver(note).observe({ type: 'layout-shift', buffered: true })
  })
  await page.goto('about:blank')
  await go(view)
  await page.locator('main :is(.region, .steps)').first().waitFor()
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
  await page.waitForLoadState('networkidle')
  const shifts = await page.evaluate(
    () => (globalThis as never as { shifts: { value: number; what: string[] }[] }).shifts,
  )
  const sum = shifts.reduce((total, { value }) => total + value, 0)
  return sum > 0.02 ? [`${view}: ${sum.toFixed(3)} by ${shifts.flatMap(({ what }) => what).join(' ')}`] : []
}
