// The tasks that people open the console for, with 200 processes and 10,000 runs in two weeks, counted in clicks from Home.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import {
  type ConsoleStint,
  cannotRun,
  findBarriersInBothSchemes,
  LIGHT,
  startConsole,
  USUAL_PHONE,
  type Visit,
} from './console-visit.ts'

const PROCESSES = 200
const RUNS_EACH = 51
const HOUR_MS = 3_600_000
const FAILED_LAST_NIGHT = 7

describe.skipIf(cannotRun())(`with ${PROCESSES} processes and ${PROCESSES * RUNS_EACH} runs`, () => {
  let stint: ConsoleStint
  let cookie: string
  let visit: Visit
  beforeAll(async () => {
    stint = await startConsole({ MAX_AGE: '30d' })
    const ada = await stint.signUp('ada@example.com')
    cookie = ada.cookie
    const events = twoWeeks(Date.now())
    for (let i = 0; i < events.length; i += 5_000) await stint.send(ada.secret, events.slice(i, i + 5_000))
    visit = await stint.visit(LIGHT, cookie)
  })
  afterAll(() => stint.close())

  const answer = ({ page }: Visit) => page.getByRole('heading', { level: 1, name: /\.$/ })

  test('Home answers in one sentence and with few questions', async () => {
    /** Without times, as a poll may repeat a question before the answer is on the page. */
    const asked = new Set<string>()
    visit.page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      for (const name of ['from', 'to']) searchParams.delete(name)
      if (pathname.startsWith('/api/')) asked.add(`${pathname}?${searchParams}`)
    })
    await visit.go('home')
    await answer(visit).waitFor()
    expect(await answer(visit).textContent()).toMatch(/^1 failed, 1 never finished, .*1 with exceptions, .*fine\.$/)
    expect(asked.size).toBeGreaterThan(1)
    expect(asked.size).toBeLessThanOrEqual(6)
    await visit.page.getByRole('link', { name: `Show all ${PROCESSES} processes` }).click()
    const rows = visit.page.getByRole('region', { name: 'Processes' }).locator('tbody tr:not(.table-part)')
    await until('all rows', async () => (await rows.count()) === PROCESSES)
    expect(await rows.nth(0).textContent()).toStartWith('stuck') // it still hangs
    expect(await rows.nth(1).textContent()).toStartWith('broken')
    visit.page.removeAllListeners('request')
  })

  test('one click leads to the runs that failed last night', async () => {
    await visit.go('home')
    await visit.page.getByRole('link', { name: new RegExp(`^${FAILED_LAST_NIGHT} of \\d+ runs failed$`) }).click()
    await visit.page.getByText(`1–${FAILED_LAST_NIGHT} of ${FAILED_LAST_NIGHT}`).waitFor()
    const rows = visit.page.getByRole('region', { name: 'Runs', exact: true }).getByRole('row')
    expect((await rows.allTextContents()).slice(1).every((text) => text.includes('Failed'))).toBe(true)
  })

  test('one click leads to the page of a process', async () => {
    const { page } = visit
    await visit.go('home?q=import')
    await page.getByRole('table').getByRole('link', { name: 'import', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'import' }).waitFor()
    await page.getByText('Median, 24 h').waitFor()
    await page.getByText(/^Last \d+ runs$/).waitFor()
  })

  test('the page of a process makes a ping address that is good for it alone', async () => {
    const { page } = visit
    await visit.go('process?process=import')
    await page.getByRole('button', { name: 'Create a ping address' }).click()
    const line = page.locator('code', { hasText: '/ping/stint_' })
    await line.waitFor()
    const [address] = /http\S+\/ping\/[^"]+/.exec((await line.textContent()) ?? '')!
    expect((await fetch(address)).status).toBe(200)
    expect((await fetch(address.replace(/import$/, 'other'))).status).toBe(404)
  })

  test('a process is found by a part of its name, and Ctrl-K opens one from anywhere', async () => {
    const { page } = visit
    await visit.go('home')
    await page.getByLabel('Search').fill('job 04')
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 12) // 004, 040 to 049, 104
    await visit.go('health')
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Process, uid or page' }).fill('job 17')
    await page.getByRole('option', { name: /job 170/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'job 171' }).waitFor()
    expect(visit.view()).toContain('process=job+171')
  })

  test('the keyboard moves along the timeline, and closing a run returns there', async () => {
    const { page } = visit
    await visit.go('runs?from=-24h&process=import')
    await page.locator('.band[data-process="import"] .band-name a[tabindex="0"]').focus()
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowLeft')
    await page
      .locator(':focus')
      .and(page.getByRole('link', { name: /^import\. Completed, 3 m 00 s, started/ }))
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('complementary', { name: 'Chosen run' }).getByText('About as long as usual').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary').waitFor({ state: 'hidden' })
    expect(await page.locator(':focus').getAttribute('data-run')).toContain('/import/')
  })

  test('a custom range is entered in the browser’s time zone and ends now at the latest', async () => {
    const { page, go, view, close } = await stint.visit({ ...LIGHT, timezoneId: 'America/New_York' }, cookie)
    await go('runs?from=-24h&process=import')
    await page.getByRole('button', { name: 'Custom' }).click()
    await page.getByLabel('From').fill('2025-01-05T08:00:00')
    await page.getByLabel('To', { exact: true }).fill('2025-01-05T07:00:00')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('From must be earlier than To.').waitFor()
    await page.getByLabel('To', { exact: true }).fill('2199-01-01T00:00:00')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.locator('.range-fixed', { hasText: '5 Jan 2025 08:00:00 –' }).waitFor()
    const params = () => new URLSearchParams(view().split('?')[1])
    expect(params().get('from')).toBe('2025-01-05T13:00:00.000Z')
    expect(Date.parse(params().get('to') ?? '')).toBeLessThanOrEqual(Date.now() + 1_000)
    await page.getByRole('link', { name: 'Metrics' }).click()
    await page.getByRole('heading', { level: 1, name: 'Metrics' }).waitFor()
    expect([params().get('process'), params().get('from')]).toEqual(['import', '2025-01-05T13:00:00.000Z'])
    await close()
  })

  test('while Stint hangs, Home says so and how old its data is', async () => {
    const late = await stint.visit(LIGHT, cookie)
    await late.go('home')
    await answer(late).waitFor()
    process.kill(stint.stint.pid(), 'SIGSTOP')
    const notice = late.page.getByText(/^Stint does not answer\. Showing data from \d/)
    await notice.waitFor({ timeout: 60_000 })
    await late.go('keys')
    await late.page.getByText('Nothing has arrived for 15 seconds.').waitFor({ timeout: 60_000 })
    process.kill(stint.stint.pid(), 'SIGCONT')
    await late.page.getByRole('region', { name: 'Keys' }).waitFor()
    await late.go('home')
    await answer(late).waitFor()
    expect(await notice.isVisible()).toBe(false)
    await late.close()
  })

  test('exports all runs of the view as CSV', async () => {
    const { page } = visit
    await visit.go('runs?from=-24h&state=failed')
    await page.getByText(`1–${FAILED_LAST_NIGHT} of ${FAILED_LAST_NIGHT}`).waitFor()
    await page.getByText('Export', { exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export runs as CSV' }).click(),
    ])
    const lines = (await Bun.file((await download.path()) ?? '').text()).trimEnd().split('\r\n')
    expect(lines[0]).toBe('process,meta,uid,state,started_at,ended_at,duration_ms,exceptions')
    expect(lines.length).toBe(FAILED_LAST_NIGHT + 1)
  })

  test('of three concurrent runs only the failed one shows its exception', async () => {
    const grace = await stint.signUp('grace@example.com')
    const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString()
    const mark = (uid: string, agoMs: number, more: object) => ({ process: 'overlap', uid, at: at(agoMs), ...more })
    await stint.send(grace.secret, [
      ...['one', 'two', 'three'].map((uid, i) => mark(uid, 60_000 - i * 1_000, { kind: 'start' })),
      mark('two', 30_000, {
        kind: 'exception',
        exception: 'Traceback (most recent call last):\n  f()\nValueError: row 3 is bad',
      }),
      mark('one', 20_000, { kind: 'end' }),
      mark('two', 19_000, { kind: 'end', failed: true }),
      mark('three', 18_000, { kind: 'end' }),
      { process: 'plain', kind: 'start', at: at(50_000) },
      { process: 'plain', kind: 'exception', exception: 'TypeError: no', at: at(40_000) },
      { process: 'plain', kind: 'end', at: at(30_000) },
    ])
    const mine = await stint.visit(LIGHT, grace.cookie)
    const { page } = mine
    await mine.go('home')
    await page.getByRole('heading', { level: 1, name: '1 with exceptions, 1 fine.' }).waitFor()
    await page.getByRole('link', { name: 'TypeError: no' }).click()
    const panel = page.getByRole('complementary', { name: 'Chosen run' })
    await panel.getByRole('region', { name: 'Exception' }).getByText('TypeError: no').waitFor()
    await mine.go('runs?from=-15m')
    const rows = page.getByRole('region', { name: 'Runs', exact: true }).getByRole('row')
    await rows.filter({ hasText: 'plain' }).getByText('Completed · 1 exception').waitFor()
    await rows.filter({ hasText: 'two' }).getByText('Failed · 1 exception').waitFor()
    await page.getByRole('link', { name: /^Run of overlap · two/ }).click()
    await panel.getByText('ValueError: row 3 is bad', { exact: true }).waitFor()
    for (const uid of ['one', 'three']) {
      await page.getByRole('link', { name: new RegExp(`^Run of overlap · ${uid}`) }).click()
      await panel.getByText(uid, { exact: true }).waitFor()
      await panel.getByText('No exceptions in this run.').waitFor()
    }
    expect(mine.complaints).toEqual([])
    await mine.close()
  })

  test('axe-core finds no barrier on Home, Runs, Exceptions and Welcome on a phone, light or dark', async () => {
    const mine = await stint.visit(USUAL_PHONE, cookie)
    const wrong: string[] = []
    for (const view of ['home', 'runs?from=-24h&process=import', 'exceptions', 'welcome']) {
      await mine.go(view)
      await mine.page.getByRole('heading', { level: 1 }).waitFor()
      await mine.page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
      wrong.push(...(await findBarriersInBothSchemes(mine.page)).map((text) => `${view}: ${text}`))
    }
    expect(wrong).toEqual([])
    expect(await mine.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    expect(mine.complaints).toEqual([])
    await mine.close()
  })
})

/** 194 quiet jobs, and six that are worth a look; the import takes half as long again as a week before. */
function twoWeeks(nowMs: number): object[] {
  const events: object[] = []
  let digits = 0
  const at = (ms: number) => new Date(ms).toISOString().replace('Z', `${String(++digits % 1000).padStart(3, '0')}Z`)
  const run = (process: string, startMs: number, tookMs: number, failed = false) =>
    events.push(
      { kind: 'start', process, at: at(startMs) },
      { kind: 'end', process, at: at(startMs + tookMs), ...(failed && { failed }) },
    )
  const ago = (hours: number) => nowMs - hours * HOUR_MS
  for (let p = 0; p < PROCESSES - 6; p++)
    for (let i = 0; i < RUNS_EACH; i++) run(`job ${String(p).padStart(3, '0')}`, ago(13 * 24 - 6 * i - p / 100), 60_000)
  for (let i = 0; i < RUNS_EACH; i++) {
    run('import', ago(1 + i), 180_000)
    run('import', ago(7 * 24 + 1 + i), 120_000)
  }
  for (let i = 0; i < 10; i++) run('broken', ago(12 - i), 30_000, i >= 10 - FAILED_LAST_NIGHT)
  events.push({ kind: 'start', process: 'stuck', uid: 'hangs', at: at(ago(20)) })
  for (let i = 0; i < 40; i++) run('stuck', ago(10 - i / 10), 60_000)
  run('careless', ago(2), 60_000)
  events.push({ kind: 'exception', process: 'careless', exception: 'Error: late', at: at(ago(2) + 30_000) })
  run('killed', ago(3), 60_000)
  events.push({ kind: 'start', process: 'killed', at: at(ago(25)) })
  events.push({ kind: 'start', process: 'lost', at: at(ago(26)) })
  return events
}
