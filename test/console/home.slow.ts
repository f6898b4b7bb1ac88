// Home with more trouble than a page of its answer holds: what is first, what is red, how far the keyboard has to go, and
// what screen readers hear.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { STORE_AWAY } from '../../src/wire/process-state.ts'
import type { SignedUp } from '../support/caller.ts'
import { until } from '../support/until.ts'
import { type ConsoleStint, cannotRun, expectQuiet, LIGHT, QUICK, startConsole } from './console-visit.ts'

const MINUTE_MS = 60_000
const FAILED = 120

/** 24 full hours ago. */
const dayBegan = (Math.floor(Date.now() / 3_600_000) - 24) * 3_600_000
const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString()
const run = (process: string, agoMs: number, tookMs: number, failed = false) => [
  { kind: 'start', process, at: at(agoMs) },
  { kind: 'end', process, at: at(agoMs - tookMs), ...(failed && { failed }) },
]

describe.skipIf(cannotRun())('Home', () => {
  let stint: ConsoleStint
  let ada: SignedUp
  beforeAll(async () => {
    stint = await startConsole({ MAX_AGE: '60d' })
    ada = await stint.signUp('ada@example.com')
    await stint.send(ada.secret, [
      ...Array.from({ length: FAILED }, (_, i) => run(`broken ${i}`, 10 * MINUTE_MS, MINUTE_MS, true)).flat(),
      ...Array.from({ length: 6 }, (_, i) => run('hangs', (300 - 20 * i) * MINUTE_MS, MINUTE_MS)).flat(),
      { kind: 'start', process: 'hangs', at: at(40 * MINUTE_MS) },
      ...Array.from({ length: 30 }, (_, i) => run('silent job', (900 - 20 * i) * MINUTE_MS, MINUTE_MS)).flat(),
      ...Array.from({ length: 30 }, (_, i) => run('silent job', (890 - 20 * i) * MINUTE_MS, MINUTE_MS))
        .flat()
        .map((mark) => ({ ...mark, meta: 'eu' })),
      ...run('careless', 25 * MINUTE_MS, MINUTE_MS).map((mark) => ({ ...mark, uid: 'known' })),
      { kind: 'exception', process: 'careless', exception: 'Error: late', uid: 'known', at: at(24.5 * MINUTE_MS) },
      ...run('careless', 20 * MINUTE_MS, MINUTE_MS),
      { kind: 'exception', process: 'careless', exception: 'Error: late', at: at(19.5 * MINUTE_MS) },
      ...run('quiet', 20 * MINUTE_MS, MINUTE_MS),
      { kind: 'start', process: 'works', at: at(1_000) },
      ...[-1_000, -250, 1_000].flatMap((ms) => run('edge', Date.now() - dayBegan - ms, 500, true)),
      ...run('edge', 5 * MINUTE_MS, MINUTE_MS),
    ])
  })
  afterAll(() => stint.close())

  test('has the job that hangs first, each process once, and only bad words in red', async () => {
    const mine = await stint.visit(LIGHT, ada.cookie)
    const { page } = mine
    await mine.go('home')
    await page.getByRole('heading', { level: 1, name: /^120 failed, 1 silent, .*1 running long, .* fine\.$/ }).waitFor()
    const red = await page.evaluate(() => {
      const [heading, bad] = [document.querySelector('h1')!, getComputedStyle(document.documentElement)]
      const probe = document.createElement('i')
      probe.style.color = bad.getPropertyValue('--bad')
      document.body.append(probe)
      const colour = getComputedStyle(probe).color
      probe.remove()
      return [...heading.children].filter((it) => getComputedStyle(it).color === colour).map((it) => it.textContent)
    })
    expect(red).toEqual(['120 failed', '1 silent', '1 with exceptions'])
    const rows = page.getByRole('region', { name: 'Processes' }).locator('tbody tr')
    expect((await rows.nth(0).textContent()) ?? '').toBe('Needs you now')
    expect((await rows.nth(1).textContent()) ?? '').toMatch(/^hangsRunning for 40\sm/)
    for (const name of ['hangs', 'broken 7', 'broken 119'])
      expect(await page.locator('main').getByRole('link', { name, exact: true }).count()).toBeLessThanOrEqual(1)
    await rows
      .nth(2)
      .getByRole('link', { name: /^Open run of broken/ })
      .waitFor()
    expectQuiet(mine)
    await mine.close()
  })

  test('shows a silent process by a sign of its own, on its chip, in its row and on its page', async () => {
    const mine = await stint.visit(LIGHT, ada.cookie)
    const { page } = mine
    await mine.go('home?state=silent')
    await page.getByRole('row').filter({ hasText: 'silent job' }).locator('.mark-silent').waitFor()
    await page
      .getByRole('button', { name: /^Silent/ })
      .locator('.mark-silent')
      .waitFor()
    const signs = await page.evaluate(() =>
      ['silent', 'failed', 'never_finished', 'exceptions', 'firing', 'overdue', 'running', 'completed', 'no_runs'].map(
        (state) => {
          const mark = document.createElement('i')
          mark.className = `mark mark-${state}`
          document.body.append(mark)
          const { backgroundColor, backgroundImage, border, borderRadius, clipPath } = getComputedStyle(mark)
          mark.remove()
          return [backgroundColor, backgroundImage, border, borderRadius, clipPath].join(' ')
        },
      ),
    )
    expect(new Set(signs).size).toBe(signs.length)
    await page.getByRole('link', { name: 'silent job', exact: true }).click()
    await page.locator('.process-sentence .mark-silent').waitFor()
    const byMeta = page.getByRole('region', { name: 'By meta' })
    await byMeta.locator('.mark-silent').first().waitFor()
    expect(await byMeta.locator('.mark-failed').count()).toBe(0)
    await mine.close()
  })

  test('says of which time its figures are, and none while the stores are away', async () => {
    const mine = await stint.visit(QUICK, ada.cookie)
    const { page } = mine
    let some: object = { stale_s: 0 }
    await page.route(/\/api\/overview$/, async (route) => {
      const { 'if-none-match': _, ...headers } = await route.request().allHeaders() // a 304 has no body
      const response = await route.fetch({ headers })
      await route.fulfill({ response, json: { ...(await response.json()), ...some } })
    })
    await mine.go('home')
    await page.getByRole('alert').getByText(STORE_AWAY, { exact: true }).waitFor()
    expect(await page.getByText('Last 24 hours').count()).toBe(0)
    some = { stale_s: null, counts_since: at(0) }
    await page.getByText(/^Since \d\d:\d\d:$/).waitFor()
    await mine.close()
  })

  test('its figures of a day lead to exactly what they count', async () => {
    const mine = await stint.visit(QUICK, ada.cookie)
    const { page } = mine
    await mine.go('home')
    const links = page.locator('.day-line a')
    await links.nth(1).waitFor()
    const [runs, exceptions] = await links.evaluateAll((all) =>
      all.map((link) => ({ text: link.textContent ?? '', view: link.getAttribute('href')?.slice(2) ?? '' })),
    )
    const [, failed, ended] = /^(\d+) of (\d+) runs failed$/.exec(runs?.text ?? '') ?? []
    await mine.go(runs?.view ?? '')
    const count = async (state: string) =>
      Number(
        await page
          .getByRole('button', { name: new RegExp(`^${state} \\d`) })
          .locator('.chip-count')
          .textContent(),
      )
    expect([await count('Failed'), (await count('Failed')) + (await count('Completed'))]).toEqual([
      Number(failed),
      Number(ended),
    ])
    await mine.go(exceptions?.view ?? '')
    await page
      .getByRole('status')
      .filter({ hasText: `${exceptions?.text} in ` })
      .waitFor()
    await mine.close()
  })

  test('and the page of a process count an exception without a uid, too', async () => {
    const mine = await stint.visit(LIGHT, ada.cookie)
    await mine.go('process?process=careless&from=-30d')
    const all = mine.page.getByRole('link', { name: 'All 2 like this' })
    await all.waitFor()
    await all.click()
    await mine.page.getByText(/^2 exceptions in .* buckets\. Their uids name 1 run\.$/).waitFor()
    expect(mine.view()).toContain('from=-30d')
    await mine.close()
  })

  test('needs at most 15 stops of the Tab key before its table', async () => {
    const mine = await stint.visit(LIGHT, ada.cookie)
    const { page } = mine
    await mine.go('home')
    await page.reload()
    const table = page.getByRole('region', { name: 'Processes' })
    await table.waitFor()
    await page.getByRole('group', { name: 'State' }).waitFor()
    const stops: string[] = []
    while (stops.length < 40) {
      await page.keyboard.press('Tab')
      if (await table.evaluate((it) => it === document.activeElement)) break
      stops.push(await page.evaluate(() => document.activeElement?.textContent ?? ''))
    }
    expect(stops.length).toBeLessThanOrEqual(15)
    await page.getByRole('group', { name: 'State' }).getByRole('button').first().focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await until('the second state', async () => mine.view() === '#/home?state=silent')
    await mine.close()
  })

  test('leads to the run with a uid by Ctrl-K and Enter, however old, or says how far back it looked', async () => {
    const cy = await stint.signUp('cy@example.com')
    const agoMs = 40 * 24 * 60 * MINUTE_MS
    await stint.send(cy.secret, [
      { kind: 'start', process: 'old job', uid: 'order-17', at: at(agoMs) },
      { kind: 'end', process: 'old job', uid: 'order-17', at: at(agoMs - MINUTE_MS) },
    ])
    const mine = await stint.visit(LIGHT, cy.cookie)
    const { page } = mine
    await mine.go('home')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Process, uid or page' })
    await field.fill('order-99')
    await page.keyboard.press('Enter')
    await page.getByText(/^No run with this uid since \d+ \w+ 20\d\d\.$/).waitFor()
    await field.fill('order-17')
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'Chosen run' })
    await panel.getByText('order-17', { exact: true }).waitFor()
    await page
      .getByRole('region', { name: 'Runs', exact: true })
      .getByRole('link', { name: /^Run of old job/ })
      .waitFor()
    await mine.go('runs?uid=order-17')
    await page.getByRole('button', { name: 'Look for this uid further back' }).click()
    await panel.getByText('order-17', { exact: true }).waitFor()
    expectQuiet(mine)
    await mine.close()
  })

  test('and other pages keep the range that is shown, so that a link to it stays the same', async () => {
    const mine = await stint.visit(LIGHT, ada.cookie)
    const { page } = mine
    await mine.go('runs?from=-6h')
    await page.getByRole('button', { name: 'Custom' }).click()
    await page.getByRole('button', { name: 'This range' }).click()
    await page.getByRole('button', { name: 'Back to live' }).waitFor()
    const params = new URLSearchParams(mine.view().split('?')[1])
    const [from, to] = [params.get('from'), params.get('to')].map((it) => Date.parse(it ?? ''))
    expect(to! - from!).toBe(6 * 60 * MINUTE_MS)
    expect(Math.abs(Date.now() - to!)).toBeLessThan(60_000)
    await mine.close()
  })

  test('and the page of a process announce a change of its state, and no passing of time', async () => {
    const bob = await stint.signUp('bob@example.com')
    await stint.send(bob.secret, run('job', 20_000, 10_000))
    const mine = await stint.visit(QUICK, bob.cookie)
    const { page } = mine
    for (const [view, end, heard] of [
      ['home', { failed: true }, 'job failed.'],
      ['process?process=job', {}, 'job is fine.'],
    ] as const) {
      await mine.go(view)
      const live = page.locator('body > [role="status"]')
      await page.getByText(/^(Completed|Failed) \d+ (s|min) ago/).waitFor()
      expect(await live.textContent()).not.toBe(heard)
      await stint.send(bob.secret, [
        { kind: 'start', process: 'job' },
        { kind: 'end', process: 'job', ...end },
      ])
      await until(heard, async () => (await live.textContent()) === heard)
      const spoken = await page.locator('[role="status"], [role="alert"], [aria-live]').allTextContents()
      expect(spoken.filter((text) => /ago|\d+ (s|min)\b/.test(text))).toEqual([])
    }
    expectQuiet(mine)
    await mine.close()
  })
})
