// The pages behind the door, over a few hours of somebody's jobs in a real Stint: what they show, and how the address holds it.
// What changes while a page is open, Health, and hostile texts: open-views.slow.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import { type ConsoleStint, cannotRun, expectQuiet, LIGHT, startConsole, type Visit } from './console-visit.ts'
import { someDay } from './some-day.ts'

describe.skipIf(cannotRun())('the console', () => {
  let stint: ConsoleStint
  /** One page for all: nothing is loaded again between the tests. */
  let visit: Visit
  beforeAll(async () => {
    stint = await startConsole()
    const { cookie, secret } = await stint.signUp('ada@example.com')
    await stint.send(secret, someDay(Date.now()))
    visit = await stint.visit(LIGHT, cookie)
  })
  afterAll(() => stint.close())
  const rows = ({ page }: Visit) => page.getByRole('region', { name: 'Runs', exact: true }).getByRole('row')

  test('runs: counts states, keeps filters in the URL, and restores the view from it', async () => {
    const { page } = visit
    await visit.go('runs?from=-1h')
    await page.getByRole('button', { name: 'Completed 80' }).waitFor()
    await page.getByRole('button', { name: 'Running 1' }).waitFor()
    await page.getByRole('button', { name: 'Never finished 1' }).waitFor()
    await page.getByRole('button', { name: 'End without start 1' }).click()
    await page.getByText('1–1 of 1').waitFor()
    await until('the address holds the state', () => visit.view() === '#/runs?from=-1h&state=orphan')
    await page.getByRole('button', { name: 'End without start 1' }).click()
    await page.getByLabel('Process').selectOption({ label: 'nightly import' })
    await page.getByLabel('Meta').selectOption({ label: 'region eu' })
    await page.getByText('1–20 of 20').waitFor()
    await page.reload()
    await page.getByText('1–20 of 20').waitFor()
    expect(
      await page.getByLabel('Meta').evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.label),
    ).toBe('region eu')
    await page.getByLabel('Process').selectOption({ label: 'thumbnail' })
    await page.getByLabel('Uid').fill('job-7')
    await page.getByLabel('Uid').press('Enter')
    await page.getByText('1–1 of 1').waitFor()
    expectQuiet(visit)
  })

  test('two choices before the page is drawn again are both in the address', async () => {
    const { page } = visit
    await visit.go('exceptions')
    await page.getByLabel('Process').getByRole('option', { name: 'nightly import' }).waitFor({ state: 'attached' })
    const range = await page.getByRole('button', { name: '7 days' }).elementHandle()
    await page.getByLabel('Process').evaluate((select: HTMLSelectElement, range) => {
      ;(range as HTMLElement).click()
      select.selectedIndex = [...select.options].findIndex(({ label }) => label === 'nightly import')
      select.dispatchEvent(new Event('change', { bubbles: true }))
    }, range)
    await until('the address holds both', () => visit.view() === '#/exceptions?from=-7d&process=nightly+import')
    expectQuiet(visit)
  })

  test('runs: pages through the table, a chip removes the filter for trouble, durations are in a sentence', async () => {
    const { page } = visit
    await visit.go('runs?from=-1h')
    await page.getByText('1–25 of 83').waitFor()
    await page.getByRole('button', { name: 'Older' }).click()
    await page.getByText('26–50 of 83').waitFor()
    expect(visit.view()).toContain('page=2')
    await until('25 rows and their heading', async () => (await rows(visit).count()) === 26)
    await visit.go('runs?from=-1h&state=trouble')
    const chip = page.getByRole('button', { name: 'Problems' })
    await chip.click()
    await chip.waitFor({ state: 'hidden' })
    expect(visit.view()).not.toContain('state')
    await visit.go('runs?from=-1h&process=nightly+import')
    await page.getByText('40 completed runs: median 1 m 10 s').waitFor()
    await page.getByRole('img', { name: /^Median and 95th percentile/ }).waitFor()
    expectQuiet(visit)
  })

  test('runs: dragging zooms in, and the range can be made live again', async () => {
    const { page } = visit
    await visit.go('runs?from=-1h')
    await page.getByText('1–25 of 83').waitFor()
    await page.locator('.timeline').scrollIntoViewIfNeeded()
    const box = (await page.locator('.timeline-axis svg').boundingBox())!
    const at = (share: number) => box.x + box.width * share
    await page.mouse.move(at(0.25), box.y + 60)
    await page.mouse.down()
    await page.mouse.move(at(0.4), box.y + 60)
    await page.mouse.move(at(0.5), box.y + 60)
    await page.mouse.up()
    await page.getByRole('button', { name: 'Back to live' }).waitFor()
    const params = new URLSearchParams(visit.view().split('?')[1])
    const lengthMs = Date.parse(params.get('to')!) - Date.parse(params.get('from')!)
    expect(lengthMs / 60_000).toBeCloseTo(15, 0)
    expect(await page.getByRole('complementary').count()).toBe(0)
    await page.getByRole('button', { name: 'Back to live' }).click()
    await page.getByRole('button', { name: 'Back to live' }).waitFor({ state: 'detached' })
    expect(visit.view()).toMatch(/from=-(15m|89\ds|90\ds)/)
    await page.goBack()
    await page.getByRole('button', { name: 'Back to live' }).waitFor()
    expectQuiet(visit)
  })

  test('runs: a click on a run shows its marks, metrics and exceptions; Escape closes it, and Back does not open it', async () => {
    const { page } = visit
    await visit.go('runs?from=-1h&process=nightly+import&meta=region+eu')
    await page.getByText('1–20 of 20').waitFor()
    await page.locator('.timeline a.run').nth(5).click()
    const panel = page.getByRole('complementary', { name: 'Chosen run' })
    await panel.getByRole('heading', { name: 'nightly import' }).waitFor()
    expect(visit.view()).toContain('run=20')
    await panel.getByText('region eu', { exact: true }).waitFor()
    await panel.getByText('bytes read').first().waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'hidden' })
    expect(visit.view()).not.toContain('run=')
    await page.goBack()
    await until('the view before', () => !visit.view().includes('run='))
    expect(await panel.isVisible()).toBe(false)

    await visit.go('runs?from=-1h&process=nightly+import&meta=region+eu&run=garbage')
    await panel.getByText('This link is incomplete.').waitFor()
    const withException = rows(visit).filter({ hasText: 'ConnectionResetError' }).first()
    await withException.getByRole('link', { name: /^Run of/ }).click()
    await panel.getByText('ConnectionResetError', { exact: false }).first().waitFor()
    await panel.getByRole('link', { name: 'Zoom to this run' }).click()
    await page.getByRole('button', { name: 'Back to live' }).waitFor()
    expectQuiet(visit)
  })

  test('metrics: selects names and compares metas', async () => {
    const { page } = visit
    await visit.go('metrics')
    await page.getByRole('heading', { name: 'bytes read' }).waitFor()
    await page.getByText('40 values from 1,000 to 1,190.').waitFor()
    const dots = await page
      .locator('.chart-series circle')
      .evaluateAll((them) => them.map((it) => it.getAttribute('cy')))
    expect(dots).not.toBeEmpty()
    expect(Math.max(...dots.map(Number))).toBeLessThan(
      Number(await page.locator('.plot svg').first().getAttribute('height')),
    )
    await page.getByRole('group', { name: 'Names' }).getByRole('button', { name: 'bytes read' }).click()
    await page.getByRole('heading', { name: 'bytes read' }).waitFor({ state: 'detached' })
    await page.waitForURL(/name=rows/)
    await page.getByText('Show as a table').click()
    await page.getByRole('columnheader', { name: 'region us' }).waitFor()
    await page.getByLabel('Statistic').selectOption({ label: 'Sum' })
    await page.getByLabel('Interval').selectOption({ label: '1h' })
    await page.getByText('Sum in 1-hour buckets.').waitFor()
    await page.getByRole('columnheader', { name: 'Sum' }).waitFor()
    expectQuiet(visit)
  })

  test('exceptions: a group has its first line as heading and title, its newest text and its times', async () => {
    const { page } = visit
    await visit.go('exceptions')
    await page.getByText('7 exceptions in 2 groups').waitFor()
    await page.getByRole('img', { name: '6 exceptions over the range' }).waitFor()
    await page.getByRole('link', { name: /^ConnectionResetError/ }).click()
    const normal = page.getByLabel('Normalised text')
    await normal.waitFor()
    expect(await normal.textContent()).toStartWith('ConnectionResetError: reset by peer after <number>')
    expect(await page.getByLabel('Exception as it was sent').count()).toBe(1)
    await page.getByRole('heading', { level: 1, name: /^ConnectionResetError: reset by peer/ }).waitFor()
    expect(await page.title()).toMatch(/^ConnectionResetError: reset by peer after \d+ ms · Stint$/)
    expect(await page.getByRole('region', { name: 'Newest occurrences' }).getByRole('row').count()).toBe(7)
    await page.getByText(/^6 exceptions in .* buckets\./).waitFor()
    await page.getByRole('link', { name: 'nightly import' }).waitFor()
    await page.getByRole('link', { name: 'All groups' }).click()
    await page.getByText('7 exceptions in 2 groups').waitFor()
    expectQuiet(visit)
  })

  test('home: lists each process with its state, its last runs and a link to them', async () => {
    const { page } = visit
    await visit.go('home')
    await page.getByRole('heading', { level: 1, name: '1 never finished, 1 with exceptions, 1 fine.' }).waitFor()
    const row = page.getByRole('row').filter({ hasText: 'nightly import' })
    await row.getByText('region eu, region us').waitFor()
    await row.getByRole('img', { name: /^Last 30 runs, [1-9] problem/ }).waitFor()
    await row.getByRole('link', { name: 'nightly import', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'nightly import' }).waitFor()
    await page.waitForURL('**/#/process?process=nightly+import')
    expect(await page.title()).toBe('nightly import · Stint')
    await page.getByText(/^Last \d+ runs$/).waitFor()
    expect(await page.locator('.run-bars .run-bar').count()).toBe(60) // room for as many, also where there are fewer
    expectQuiet(visit)
  })

  test('the keyboard alone reaches the content, the navigation, and a dialog, which returns the focus', async () => {
    const { page } = visit
    const focused = page.locator(':focus')
    await visit.go('keys')
    await page.reload() // the focus is at the start
    await page.getByRole('button', { name: 'Rotate first key' }).waitFor()
    await page.keyboard.press('Tab')
    await focused.and(page.getByText('Skip to content')).waitFor()
    await page.keyboard.press('Enter')
    await focused.and(page.locator('#main')).waitFor()
    await page.getByRole('button', { name: 'Rotate first key' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await focused.and(page.getByRole('button', { name: 'Rotate first key' })).waitFor()
    await page.getByRole('link', { name: 'Health' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor()
    await focused.and(page.getByRole('heading', { level: 1, name: 'Health' })).waitFor()
    expectQuiet(visit)
  })
})
