// The timeline in a real browser: every band draws within itself, whatever the range, and 7 days of many runs ask little.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ConsoleStint, cannotRun, expectQuiet, LIGHT, startConsole, type Visit } from './console-visit.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]

describe.skipIf(cannotRun())('the timeline', () => {
  let stint: ConsoleStint
  let visit: Visit
  beforeAll(async () => {
    stint = await startConsole()
    const { cookie, secret } = await stint.signUp('bands@example.com')
    const events = weekOfRuns(Date.now())
    for (let i = 0; i < events.length; i += 1_000) await stint.send(secret, events.slice(i, i + 1_000))
    visit = await stint.visit(LIGHT, cookie)
  })
  afterAll(async () => {
    await visit.close()
    await stint.close()
  })

  test.each(['-1h', '-24h', '-7d', '-30d'])('every band of %s draws within itself', async (from) => {
    await visit.go(`runs?from=${from}`)
    await visit.page.getByRole('button', { name: /^Completed [1-9]/ }).waitFor()
    await visit.page.locator('.band').nth(2).waitFor()
    const boxes = await visit.page.evaluate(readBands)
    expect(boxes.length).toBeGreaterThanOrEqual(3)
    for (const { process, picture, above, drawn } of boxes) {
      expect(picture.top, process).toBeGreaterThanOrEqual(above - 0.5)
      for (const { top, bottom } of drawn) {
        expect(top, process).toBeGreaterThanOrEqual(picture.top - 0.5)
        expect(bottom, process).toBeLessThanOrEqual(picture.bottom + 0.5)
      }
    }
    expectQuiet(visit)
  })

  test('of a week, runs are asked only of processes that are drawn one by one', async () => {
    await visit.go('runs?from=-7d')
    const asked: URLSearchParams[] = []
    visit.page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/api/timings') asked.push(searchParams)
    })
    await visit.page.reload()
    await visit.page.locator('.band[data-process="nightly"] a.run').nth(5).waitFor()
    expect(await visit.page.locator('.band[data-process="queue"] a.run').count()).toBe(0)
    const whole = asked.filter((query) => query.get('limit') === '1000' && query.get('from') === '-7d')
    expect(whole.map((query) => query.getAll('process').toSorted())).toEqual([['nightly', 'stuck']])
    visit.page.removeAllListeners('request')
  })

  test('one stop for the Tab key leads past the timeline, and arrow keys move within it', async () => {
    const { page } = visit
    await visit.go('runs?from=-7d')
    await page.locator('.band[data-process="nightly"] a.run').nth(5).waitFor()
    expect(await page.locator('.timeline :is(a, [tabindex]):not([tabindex="-1"])').count()).toBe(1)
    await page.locator('.band-name a[tabindex="0"]').focus()
    for (const key of ['ArrowDown', 'End']) await page.keyboard.press(key)
    await page.locator(':focus').and(page.locator('.run[tabindex="0"]')).waitFor()
    await page.keyboard.press('Tab')
    await page
      .locator(':focus')
      .and(page.getByRole('button', { name: 'Export' }))
      .waitFor()
  })

  test('a click on bars zooms in on that process, and Back returns', async () => {
    await visit.go('runs?from=-7d')
    await visit.page.locator('.band[data-process="queue"] .band-picture').click()
    await visit.page.getByRole('button', { name: 'Back to live' }).waitFor()
    expect(visit.view()).toContain('process=queue')
    await visit.page.goBack()
    await visit.page.getByRole('button', { name: 'Back to live' }).waitFor({ state: 'detached' })
    expect(visit.view()).toBe('#/runs?from=-7d')
  })
})

/** What the store knows of one past quarter of an hour, with runs across both edges and one that hangs since. */
describe.skipIf(cannotRun())('a range of the past', () => {
  let stint: ConsoleStint
  let visit: Visit
  const fromMs = Math.floor(Date.now() / MINUTE) * MINUTE - 4 * HOUR
  const toMs = fromMs + 15 * MINUTE
  const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`
  beforeAll(async () => {
    stint = await startConsole()
    const { cookie, secret } = await stint.signUp('touching@example.com')
    const iso = (minutes: number, digits: string) =>
      new Date(fromMs + minutes * MINUTE).toISOString().replace('Z', `${digits}Z`)
    const run = (process: string, start: number, end: number | undefined, failed = false) => [
      { kind: 'start', process, at: iso(start, '001') },
      ...(end === undefined ? [] : [{ kind: 'end', process, at: iso(end, '002'), ...(failed && { failed }) }]),
    ]
    await stint.send(secret, [
      ...run('across', -5, 20, true),
      ...run('from the left', -5, 5),
      ...run('to the right', 5, 20),
      ...run('inside', 5, 10),
      ...run('failed inside', 5, 10, true),
      ...run('hangs', -100, undefined),
      ...run('before', -100, -1),
      ...run('after', 16, 17),
      // a queue of a run each 10 s, three at once for a while
      ...Array.from({ length: 90 }, (_, i) => run('queue', i / 6, i / 6 + 0.1)).flat(),
    ])
    visit = await stint.visit(LIGHT, cookie)
  })
  afterAll(async () => {
    await visit.close()
    await stint.close()
  })

  test('shows every run of which any part is in it, with its state at the end', async () => {
    const { page } = visit
    await visit.go(`runs?${range}`)
    for (const chip of ['Failed 1', 'Completed 92', 'Never finished 0'])
      await page.getByRole('button', { name: chip, exact: true }).waitFor()
    await page.getByRole('button', { name: /^Running at .* 3$/ }).waitFor()
    const names = await page.locator('.band').evaluateAll((bands) => bands.map((it) => it.dataset.process))
    expect(names).toEqual(['failed inside', 'across', 'from the left', 'hangs', 'inside', 'queue', 'to the right'])
    await page.getByText('1–25 of 96').waitFor()
    const torn = await page
      .locator('.band')
      .evaluateAll((bands) => bands.filter((it) => it.querySelector('.run-torn')).map((it) => it.dataset.process))
    expect(torn).toEqual(['across', 'from the left', 'hangs', 'to the right'])
    expectQuiet(visit)
  })

  test('of the running ones the table says how they have ended since', async () => {
    const { page } = visit
    await visit.go(`runs?${range}&state=running`)
    await page.getByText('1–3 of 3').waitFor()
    const rows = page.getByRole('region', { name: 'Runs', exact: true }).getByRole('row')
    const row = rows.filter({ has: page.getByRole('link', { name: 'across', exact: true }) })
    expect(await row.textContent()).toMatch(/Running at .*Failed later, took 25 m 00 s.*20 m 00 s/s)
    expect(await rows.filter({ hasText: 'hangs' }).textContent()).toMatch(/Running at .*1 h 55 m/s)
    await visit.go(`runs?${range}&process=across`)
    await page.getByText('1–1 of 1').waitFor()
    await page.getByRole('link', { name: /^across\. Running at .*, 20 m 00 s, started/ }).waitFor()
    expectQuiet(visit)
  })
})

interface Bands {
  readonly process: string
  readonly picture: { readonly top: number; readonly bottom: number }
  /** The bottom of the band above. */
  readonly above: number
  readonly drawn: readonly { readonly top: number; readonly bottom: number }[]
}

/** In the page. */
function readBands(): Bands[] {
  const bands = [...document.querySelectorAll<HTMLElement>('.band')]
  return bands.map((band, i) => {
    const { top, bottom } = band.querySelector('svg')!.getBoundingClientRect()
    const shapes = [...band.querySelectorAll('svg :is(rect, path, text)')]
    const drawn = shapes.map((shape) => shape.getBoundingClientRect()).filter(({ width, height }) => width + height > 0)
    return {
      process: band.dataset.process ?? '',
      picture: { top, bottom },
      above: bands[i - 1]?.querySelector('svg')?.getBoundingClientRect().bottom ?? 0,
      drawn: drawn.map((box) => ({ top: box.top, bottom: box.bottom })),
    }
  })
}

/** A queue of 2,000 runs, some at once and some failed, a nightly job, and one that never ends. */
function weekOfRuns(nowMs: number): object[] {
  let digits = 0
  const at = (ms: number) => new Date(ms).toISOString().replace('Z', `${String(++digits % 1000).padStart(3, '0')}Z`)
  const run = (process: string, uid: string, startMs: number, tookMs: number, failed = false) => [
    { kind: 'start', process, uid, at: at(startMs) },
    { kind: 'end', process, uid, at: at(Math.min(nowMs - 1_000, startMs + tookMs)), ...(failed && { failed }) },
  ]
  const queue = Array.from({ length: 2_000 }, (_, i) =>
    run('queue', `q-${i}`, nowMs - (2_000 - i) * 4 * MINUTE, 30 * MINUTE, i % 50 === 0),
  )
  const nightly = Array.from({ length: 6 }, (_, i) =>
    run('nightly', `n-${i}`, nowMs - 10 * MINUTE - i * 24 * HOUR, HOUR),
  )
  const stuck = { kind: 'start', process: 'stuck', uid: 'hangs', at: at(nowMs - 20 * MINUTE) }
  return [...queue.flat(), ...nightly.flat(), stuck]
}
