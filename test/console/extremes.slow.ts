// Names, texts and numbers at the ends of what Stint takes, beside ordinary ones: every column stays in sight and no page
// scrolls sideways.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
import {
  type ConsoleStint,
  cannotRun,
  findBarriers,
  findWide,
  LIGHT,
  startConsole,
  type Visit,
} from './console-visit.ts'

const LONG = 'a'.repeat(250)
const EMOJI = '😀'.repeat(100)
const LONG_TEXT = 'E'.repeat(15_000)
const SMALL_PHONE = { ...LIGHT, viewport: { width: 360, height: 740 } }

/** The run of `report` is shorter than a millisecond and goes across the end of one. */
const SECOND = new Date(Date.now() - 30_000).toISOString().slice(0, 19)

const EVENTS = [
  { kind: 'start', process: LONG, meta: LONG, uid: 'u'.repeat(50) },
  { kind: 'end', process: LONG, meta: LONG, uid: 'u'.repeat(50) },
  { kind: 'start', process: EMOJI },
  { kind: 'start', process: 'report', at: `${SECOND}.000950Z` },
  { kind: 'exception', process: 'report', exception: 'TypeError: x is not a function', at: `${SECOND}.000990Z` },
  { kind: 'exception', process: 'report', exception: '', at: `${SECOND}.001020Z` },
  { kind: 'end', process: 'report', at: `${SECOND}.001031Z` },
  { kind: 'metrics', process: LONG, meta: LONG, items: { [LONG]: 1e308, [`b${LONG}`.slice(0, 250)]: 5e-324 } },
  { kind: 'exception', process: LONG, meta: LONG, exception: LONG_TEXT },
]

describe.skipIf(cannotRun())('with values at the limits', () => {
  let stint: ConsoleStint
  let cookie: string
  beforeAll(async () => {
    stint = await startConsole()
    const ada = await stint.signUp('ada@example.com')
    cookie = ada.cookie
    await stint.send(ada.secret, EVENTS)
  })
  afterAll(() => stint.close())

  /** Opens every view that shows callers' names or texts, and returns the faults that `look` finds in each. */
  async function inspect({ page, go }: Visit, look: (page: Page) => Promise<string[]>): Promise<string[]> {
    const wrong: string[] = []
    const check = async (name: string) => {
      await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
      wrong.push(...(await look(page)).map((text) => `${name}: ${text}`))
    }
    await go('runs')
    await page.getByRole('link', { name: 'Run of report' }).waitFor()
    await check('runs')
    await page.getByRole('link', { name: `Run of ${LONG}` }).click()
    await page.getByRole('complementary').getByRole('heading', { name: 'Exceptions' }).waitFor()
    await check('a run')
    await go('home')
    await page.getByRole('table').getByRole('link', { name: 'report', exact: true }).waitFor()
    await check('home')
    await go('exceptions')
    await page.getByRole('link', { name: 'TypeError' }).waitFor()
    await check('exceptions')
    await page.getByRole('link', { name: 'EEEEE' }).click()
    await page.getByLabel('Normalised text').waitFor()
    await check('a group')
    await go('metrics')
    await page.getByRole('heading', { name: LONG }).first().waitFor()
    await page.getByText('Show as a table').first().click()
    await check('metrics')
    return wrong
  }

  test('every column of every table is visible at 1280 px, and axe-core finds no barrier', async () => {
    const visit = await stint.visit(LIGHT, cookie)
    const look = async (page: Page) => [...(await findHidden(page)), ...(await findBarriers(page))]
    expect(await inspect(visit, look)).toEqual([])
    expect(visit.complaints).toEqual([])
    await visit.close()
  })

  test('Home draws the first 100 processes, and all of them at a click', async () => {
    const bob = await stint.signUp('bob@example.com')
    const processes = Array.from({ length: 305 }, (_, i) => `job ${i}`)
    await stint.send(
      bob.secret,
      processes.flatMap((process) => [
        { kind: 'start', process },
        { kind: 'end', process, failed: process === 'job 304' },
      ]),
    )
    // many runs of other metas do not hide the failure of one
    await stint.send(
      bob.secret,
      Array.from({ length: 40 }, (_, i) => ({ process: 'tenants', meta: `tenant ${i}` })).flatMap((job, i) => [
        { kind: 'start', ...job },
        { kind: 'end', ...job, failed: i === 0 },
      ]),
    )
    const { page, go, close } = await stint.visit(LIGHT, bob.cookie)
    await go('home')
    const rows = page.getByRole('region', { name: 'Processes' }).locator('tbody tr:not(.table-part)')
    expect(await page.getByRole('heading', { level: 1, name: / failed, \d+ fine\.$/ }).textContent()).toBe(
      '2 failed, 304 fine.',
    )
    expect(await rows.count()).toBe(100)
    expect((await rows.allTextContents()).slice(0, 2).join()).toMatch(/tenants|job 304/)
    await page.getByRole('link', { name: 'Show all 306 processes' }).click()
    await until('all rows', async () => (await rows.count()) === 306)
    await close()
  })

  test('no page scrolls sideways at 360 px', async () => {
    const visit = await stint.visit(SMALL_PHONE, cookie)
    expect(await inspect(visit, findWide)).toEqual([])
    await visit.close()
  })

  test('a process whose name is two spaces is seen on Home, and opens', async () => {
    const bea = await stint.signUp('bea@example.com')
    await stint.send(bea.secret, [
      { kind: 'start', process: '  ' },
      { kind: 'end', process: '  ' },
    ])
    const mine = await stint.visit(LIGHT, bea.cookie)
    await mine.go('home')
    await mine.page.getByRole('link', { name: /^“\s+”$/ }).click()
    await mine.page.getByText(/^Completed .* ago in/).waitFor()
    expect(mine.view()).toBe('#/process?process=++')
    await mine.close()
  })

  test('an exception without a text is labelled as such on every page', async () => {
    const visit = await stint.visit(LIGHT, cookie)
    const { page } = visit
    await visit.go('exceptions')
    await page.getByRole('link', { name: '(empty text)' }).click()
    await page.getByLabel('Exception as it was sent').getByText('(empty text)').waitFor()
    expect(await page.getByLabel('Normalised text').textContent()).toBe('(empty text)')
    await visit.go('runs')
    await page.getByRole('link', { name: 'Run of report' }).click()
    await page.getByRole('complementary').getByLabel('Exception').nth(1).waitFor()
    const texts = await page.getByRole('complementary').getByLabel('Exception').allTextContents()
    expect(texts.toSorted()).toEqual(['(empty text)', 'TypeError: x is not a function'])
    await visit.close()
  })

  test('the axis for an exception that occurred once has distinct whole numbers', async () => {
    const visit = await stint.visit(LIGHT, cookie)
    await visit.go('exceptions')
    await visit.page.getByRole('link', { name: 'TypeError' }).click()
    await visit.page.getByText(/^1 exception in .* buckets\./).waitFor()
    const texts = await visit.page.locator('.plot text[text-anchor="end"]').allTextContents()
    expect(texts).toEqual(['0', '1'])
    await visit.close()
  })
})

/** Tables that are wider than their boxes, and what makes the page too wide. */
const findHidden = async (page: Page): Promise<string[]> => [
  ...(await findWide(page)),
  ...(await page.evaluate(() =>
    [...document.querySelectorAll('.table-scroll')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map((box) => `${box.getAttribute('aria-label')} needs ${box.scrollWidth} px of ${box.clientWidth}`),
  )),
]
