// The Metrics page over days in a zone that is half an hour off, with values that are known: whose days they are, and exact.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ConsoleStint, cannotRun, expectQuiet, LIGHT, startConsole, type Visit } from './console-visit.ts'

const HOUR = 3_600_000
const timeZone = 'Asia/Kolkata'
const METAS = ['region eu', 'region us'] as const

describe.skipIf(cannotRun())('metrics by day', () => {
  let stint: ConsoleStint
  let visit: Visit
  /** Exact sums by day, as the table names it, oldest first. */
  const sums = new Map<string, number>()
  const dayOf = (ms: number) => new Date(ms).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone })
  const sent: { atMs: number; meta: string; rows: number }[] = []
  beforeAll(async () => {
    stint = await startConsole({ MAX_AGE: '30d' })
    const { cookie, secret } = await stint.signUp('days@example.com')
    const nowMs = Date.now()
    for (let ms = nowMs - 9 * 24 * HOUR; ms < nowMs; ms += HOUR)
      for (const [i, meta] of METAS.entries()) sent.push({ atMs: ms, meta, rows: 100_001 + 7 * sent.length + i * 1e6 })
    for (const { atMs, rows } of sent) sums.set(dayOf(atMs), (sums.get(dayOf(atMs)) ?? 0) + rows)
    const iso = (ms: number, i: number) =>
      new Date(ms).toISOString().replace('Z', `${String(i % 1000).padStart(3, '0')}Z`)
    const events = sent.map(({ atMs, meta, rows }, i) => ({
      ...{ kind: 'metrics', process: 'import', meta, items: { rows }, at: iso(atMs, i) },
    }))
    await stint.send(secret, events)
    visit = await stint.visit({ ...LIGHT, timezoneId: timeZone }, cookie)
  })
  afterAll(async () => {
    await visit.close()
    await stint.close()
  })
  const table = async () => {
    const rows = visit.page.getByRole('region', { name: 'rows as a table' }).getByRole('row')
    const texts = await rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)))
    return texts.slice(1)
  }

  test('sums are bars from zero of the days of the reader, exact, and today is so far', async () => {
    const { page } = visit
    await visit.go('metrics?process=import&from=-7d&every=1d&stat=sum')
    await page.getByText('Show as a table').click()
    await page.getByRole('rowheader').first().waitFor()
    const days = [...sums].slice(-8)
    const expected = days.map(([day, sum], i) => [
      i === days.length - 1 ? `${day} so far` : day,
      sum.toLocaleString('en-GB'),
    ])
    expect(await table()).toEqual(expected)
    expect(await page.locator('.chart-values path').count()).toBe(2)
    expect(await page.locator('.chart-values .open').getAttribute('d')).not.toBe('')
    const ticks = await page.locator('.plot .chart-text').allTextContents()
    expect(ticks).toContain('0')
    expect(ticks).toContain(days[0]![0])
    expect(await page.locator('.chart-legend').count()).toBe(0)
    await page.locator('.picture').hover({ position: { x: 80, y: 60 } })
    await page.locator('.tip strong', { hasText: expected[0]![1]! }).waitFor()
    expectQuiet(visit)
  })

  test('means are a line per meta, each of its own values', async () => {
    const { page } = visit
    await visit.go('metrics?process=import&from=-7d&every=1d')
    await page.reload() // the table is closed
    await page.getByText('Show as a table').click()
    await page.getByRole('columnheader', { name: 'region us' }).waitFor()
    expect(await page.locator('.chart-legend li').allTextContents()).toEqual([...METAS])
    const day = [...sums.keys()].at(-4)!
    const row = (await table()).find(([name]) => name === day)
    const means = METAS.map((of) => {
      const own = sent.filter(({ atMs, meta }) => meta === of && dayOf(atMs) === day).map(({ rows }) => rows)
      return (own.reduce((sum, n) => sum + n, 0) / own.length).toLocaleString('en-GB')
    })
    expect(row?.slice(1)).toEqual(means)
    await page.getByLabel('Meta').selectOption({ label: 'region eu' })
    await page.getByRole('columnheader', { name: 'region us' }).waitFor({ state: 'detached' })
    expectQuiet(visit)
  })
})
