// How pages look where a colour, a width or a finger decides: exceptions, small pages, a phone's sheet, forced colours.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SignedUp } from '../support/caller.ts'
import {
  type ConsoleStint,
  cannotRun,
  expectQuiet,
  findBarriers,
  findWide,
  LIGHT,
  QUICK,
  startConsole,
  USUAL_PHONE,
} from './console-visit.ts'

const SMALL_PAGES = ['keys', 'members', 'audit', 'health', 'account', 'maintenance', 'welcome']
const WIDEST_PX = 960

describe.skipIf(cannotRun())('the look of', () => {
  let stint: ConsoleStint
  let ada: SignedUp
  beforeAll(async () => {
    stint = await startConsole()
    ada = await stint.signUp('ada@example.com')
    const raise = (process: string, exception: string, times: number) =>
      Array.from({ length: times }, () => ({ kind: 'exception', process, exception }))
    await stint.send(ada.secret, [
      ...raise('often', 'Error: often', 5),
      ...raise('seldom', 'Error: seldom', 2),
      { kind: 'start', process: 'timed', at: new Date(Date.now() - 60_000).toISOString() },
      { kind: 'end', process: 'timed', at: new Date(Date.now() - 58_500).toISOString() },
      { kind: 'start', process: 'job' },
      { kind: 'end', process: 'job', failed: true },
    ])
  })
  afterAll(() => stint.close())

  test('the audit log: a long text breaks no usual address, and a revoked key has its name', async () => {
    const name = 'the key of a host with many jobs '.repeat(3).trim()
    const { key } = (await ada.bySession.post('/api/keys', { name })).json
    await ada.bySession.delete(`/api/keys/${key.id}`)
    const mine = await stint.visit({ ...LIGHT, viewport: { width: 1440, height: 900 } }, ada.cookie)
    await mine.go('audit')
    const row = mine.page.getByRole('row').filter({ hasText: 'Key revoked' })
    await row.getByRole('cell', { name: `${key.id} · ${name}`, exact: true }).waitFor()
    const lines = (cell: Element) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      return new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size
    }
    expect(await row.locator('td.audit-who').evaluate(lines)).toBe(1)
    expect(await row.locator('td.audit-address code').evaluate(lines)).toBe(1)
    await mine.close()
  })

  test('exceptions: by count at a click, decided in the menu of a row, new and came back as badges, and no red bars', async () => {
    const mine = await stint.visit(QUICK, ada.cookie)
    const { page } = mine
    await mine.go('exceptions')
    const rows = page.getByRole('region', { name: 'Groups of exceptions' }).locator('tbody tr')
    await rows.filter({ hasText: 'seldom' }).waitFor()
    expect(await rows.nth(0).textContent()).toStartWith('Error: seldom')
    await page.getByRole('button', { name: 'Count' }).click()
    await page.getByRole('columnheader', { name: 'Count' }).and(page.locator('[aria-sort="descending"]')).waitFor()
    await rows.nth(0).filter({ hasText: 'Error: often' }).waitFor() // the server sorts
    expect(mine.view()).toBe('#/exceptions?sort=count')
    await page.getByRole('button', { name: 'Count' }).click()
    expect(mine.view()).toBe('#/exceptions')
    await page.getByRole('button', { name: 'Count' }).click()
    await rows.nth(0).filter({ hasText: 'Error: often' }).waitFor()
    expect(await rows.nth(0).locator('.sparkline .chart-failed').count()).toBe(0)
    expect(await page.locator('main tbody').getByRole('button').count()).toBe(2)
    await page.getByRole('button', { name: 'More for Error: seldom' }).click()
    await page.getByRole('button', { name: 'Resolve Error: seldom' }).click()
    await rows.filter({ hasText: 'seldom' }).waitFor({ state: 'detached' })
    await rows.filter({ hasText: 'often' }).locator('.badge', { hasText: 'new' }).waitFor()
    await stint.send(ada.secret, [{ kind: 'exception', process: 'seldom', exception: 'Error: seldom' }])
    const badges = rows.filter({ hasText: 'seldom' }).locator('.badge')
    await badges.and(page.getByText('came back', { exact: true })).waitFor()
    expect(await badges.count()).toBe(1)
    expectQuiet(mine)
    await mine.close()
  })

  test('exceptions: each target is large enough, at a desk and on a phone', async () => {
    for (const options of [LIGHT, USUAL_PHONE]) {
      const mine = await stint.visit(options, ada.cookie)
      await mine.go('exceptions?status=all')
      await mine.page.getByRole('link', { name: 'Error: often' }).waitFor()
      expect(await findBarriers(mine.page, ['target-size'])).toEqual([])
      await mine.close()
    }
  })

  test('pages with little on them: 60 rem, and they begin where wide pages begin', async () => {
    const mine = await stint.visit({ ...LIGHT, viewport: { width: 1440, height: 900 } }, ada.cookie)
    const heading = mine.page.getByRole('heading', { level: 1 })
    await mine.go('runs')
    await heading.and(mine.page.getByText('Runs', { exact: true })).waitFor()
    const left = (await heading.boundingBox())!.x
    for (const view of SMALL_PAGES) {
      await mine.go(view)
      await mine.page.waitForFunction(
        (name) => document.querySelector('.nav [aria-current]')?.getAttribute('href') === `#/${name}`,
        view === 'maintenance' ? 'watches' : view,
      )
      const { x, width } = (await mine.page.locator('.page').boundingBox())!
      expect([view, width <= WIDEST_PX, x]).toEqual([view, true, left - 32])
    }
    await mine.close()
  })

  test('range and filters on a phone: one button, which says what is chosen, and a sheet', async () => {
    const mine = await stint.visit(USUAL_PHONE, ada.cookie)
    const { page } = mine
    await mine.go('exceptions')
    const open = page.getByRole('button', { name: /Range and filters/ })
    await open.getByText('24 hours').waitFor()
    expect(await page.getByRole('combobox', { name: 'Process' }).isVisible()).toBe(false)
    await open.click()
    await page.getByRole('button', { name: '7 days' }).click()
    await page.getByRole('combobox', { name: 'Process' }).selectOption('often')
    expect(await findBarriers(page)).toEqual([])
    expect(await findWide(page)).toEqual([])
    await page.getByRole('button', { name: 'Done' }).click()
    await open.getByText('7 days · 1 filter').waitFor()
    expect(await page.getByRole('combobox', { name: 'Process' }).isVisible()).toBe(false)
    expect(mine.view()).toBe('#/exceptions?from=-7d&process=often')
    await page.getByText('5 exceptions in 1 group').waitFor()
    await page.setViewportSize({ width: 1280, height: 900 })
    expect(await open.isVisible()).toBe(false)
    expect(await page.getByRole('combobox', { name: 'Process' }).isVisible()).toBe(true)
    expectQuiet(mine)
    await mine.close()
  })

  test('decimals: as the browser’s language has them', async () => {
    const mine = await stint.visit({ ...LIGHT, locale: 'de-DE' }, ada.cookie)
    await mine.go('home')
    const row = mine.page.getByRole('row').filter({ hasText: 'timed' })
    await row.getByText(/in 1,50\ss$/).waitFor()
    expect(await row.textContent()).not.toMatch(/\d\.\d/)
    await mine.close()
  })

  test('the page of a process: it says once that no one is notified', async () => {
    const mine = await stint.visit(LIGHT, ada.cookie)
    await mine.go('process?process=timed')
    await mine.page.getByText('No one is notified.').waitFor()
    expect(await mine.page.getByText(/no one is notified/i).count()).toBe(1)
    await mine.close()
  })

  test('states in forced colours: signs are painted, and what is chosen stands out', async () => {
    const mine = await stint.visit({ ...LIGHT, forcedColors: 'active' }, ada.cookie)
    const { page } = mine
    const paint = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((it) => getComputedStyle(it).backgroundColor)
    await mine.go('home')
    await page.locator('td .mark-failed').waitFor()
    expect(await paint('td .mark-failed')).toBe('rgb(194, 54, 45)')
    expect(await paint('.nav a[aria-current="page"]')).not.toBe(await paint('.nav a:not([aria-current])'))
    await mine.go('runs?from=-24h')
    await page.getByRole('button', { name: '24 hours' }).waitFor()
    expect(await paint('.segments [aria-pressed="true"]')).not.toBe(await paint('.segments [aria-pressed="false"]'))
    expect(await paint('.segments [aria-pressed="true"]')).toBe(await paint('.nav a[aria-current="page"]'))
    await mine.close()
  })
})
