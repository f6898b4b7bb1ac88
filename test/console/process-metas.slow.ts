// The page of a process with few runs of several metas, over a history that is known: a dot per run, a picture and a row
// per meta, a meta in the address; and the page of a process without runs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import {
  type ConsoleStint,
  cannotRun,
  expectQuiet,
  findBarriers,
  LIGHT,
  startConsole,
  type Visit,
} from './console-visit.ts'

const [MINUTE, DAY] = [60_000, 86_400_000]
const NIGHTS = 14
/** The minute at which each starts, and how long it takes on the first night. */
const REGIONS = [
  ['region eu', 0, 20],
  ['region us', 40, 30],
  ['region apac', 80, 10],
] as const

describe.skipIf(cannotRun())('the page of a nightly job', () => {
  let stint: ConsoleStint
  let visit: Visit
  beforeAll(async () => {
    stint = await startConsole({ MAX_AGE: '30d' })
    const { cookie, secret } = await stint.signUp('nights@example.com')
    await stint.send(secret, [...nights(Date.now()), ...wide(new Date(Date.now() - MINUTE).toISOString())])
    visit = await stint.visit(LIGHT, cookie)
  })
  afterAll(async () => {
    await visit.close()
    await stint.close()
  })
  const picture = (meta: string) => visit.page.locator('.duration-picture').filter({ hasText: meta })

  test('each meta has a picture with a dot per run, a cross where one failed, and its median', async () => {
    const { page } = visit
    await visit.go('process?process=nightly&from=-30d')
    await picture('region us')
      .locator('.dot')
      .nth(NIGHTS - 1)
      .waitFor()
    expect(await page.locator('.duration-name button').allTextContents()).toEqual([
      'region apac',
      'region eu',
      'region us',
    ])
    // minute by minute longer each night: the median of 14 nights is that of the first one and 6.5 minutes
    for (const [meta, text] of [
      ['region eu', 'median 26 m 30 s · 14 runs'],
      ['region us', 'median 36 m 00 s · 1 of 14 runs failed'],
      ['region apac', 'median 16 m 30 s · 14 runs'],
    ] as const) {
      await picture(meta).getByText(text).waitFor()
      expect(await picture(meta).locator('.dot').count()).toBe(NIGHTS)
      expect(await picture(meta).locator('.dots-median').count()).toBe(1)
    }
    expect(await page.locator('.dot-failed').count()).toBe(1)
    // it failed after 5 minutes: below every other one of its meta
    const tops = await picture('region us')
      .locator('.dot')
      .evaluateAll((dots) => dots.map((it) => [it.classList.contains('dot-failed'), it.getBoundingClientRect().y]))
    const lowest = tops.toSorted(([, a], [, b]) => Number(b) - Number(a))[0]
    expect(lowest?.[0]).toBe(true)
    expect(await findBarriers(page)).toEqual([])
    expectQuiet(visit)
  })

  test('the metas are a table with the last run, the median and what failed, of each alone', async () => {
    const { page } = visit
    await visit.go('process?process=nightly&from=-30d')
    const rows = page.getByRole('region', { name: 'By meta' }).getByRole('row')
    const us = rows.filter({ hasText: 'region us' })
    await us.getByText('took 43 m 00 s').waitFor()
    expect(await us.textContent()).toMatch(/1 of \d/)
    await rows.filter({ hasText: 'region eu' }).getByText('took 33 m 00 s').waitFor()
    // the newest start is of apac: so is the length beside it
    const fact = page.locator('.process-fact').filter({ hasText: 'Last start' })
    await fact.getByText('Completed in 23 m 00 s, region apac').waitFor()
    expectQuiet(visit)
  })

  test('a chosen meta stays in the address, and all of the page is about it', async () => {
    const { page } = visit
    await visit.go('process?process=nightly&from=-30d')
    await page.getByLabel('Meta', { exact: true }).selectOption({ label: 'region eu' })
    await until('the address holds it', () => visit.view().includes('meta=region+eu'))
    await page.reload()
    await page.getByRole('heading', { name: 'Last 14 runs' }).waitFor()
    expect(await page.locator('.duration-picture').count()).toBe(1)
    expect(await page.locator('.dot').count()).toBe(NIGHTS)
    await page.locator('.process-fact').filter({ hasText: 'Completed in 33 m 00 s, region eu' }).waitFor()
    const metas = page.getByRole('region', { name: 'Runs', exact: true }).locator('td:first-child .sub')
    expect(new Set(await metas.allTextContents())).toEqual(new Set(['region eu']))
    for (const name of ['All runs', 'On the timeline'])
      expect(await page.getByRole('link', { name }).getAttribute('href')).toContain('meta=region+eu')
    const days = await page.locator('.calendar a').evaluateAll((all) => all.map((it) => it.getAttribute('href') ?? ''))
    expect(days.length).toBeGreaterThan(0)
    expect(days.filter((href) => !href.includes('meta=region+eu'))).toEqual([])
    await page.getByLabel('Meta', { exact: true }).selectOption({ label: 'All 3 metas' })
    await page.locator('.duration-picture').nth(2).waitFor()
    expect(visit.view()).not.toContain('meta=')
    expectQuiet(visit)
  })

  test('a process of metrics leads with them, one of exceptions with those', async () => {
    const { page } = visit
    for (const [process, first] of [
      ['gauge', 'Metrics'],
      ['browser', 'Exceptions'],
    ]) {
      await visit.go(`process?process=${process}&from=-24h`)
      const card = page.locator('.process-grid .card').first()
      await card.getByRole('heading', { name: first! }).waitFor()
      await card.getByRole('button', { name: '30 days' }).click()
      await until('the range is in the address', () => visit.view().includes('from=-30d'))
    }
    expectQuiet(visit)
  })

  test('of more metas than have figures each, a chosen one has its own failures', async () => {
    const { page } = visit
    await visit.go('process?process=wide&meta=m+1')
    await page.locator('.process-fact').filter({ hasText: 'Failed, 7 days' }).getByText('of 1 run').waitFor()
    expectQuiet(visit)
  })
})

/** More than have figures each: the first one fails. */
const wide = (at: string): object[] =>
  Array.from({ length: 22 }, (_, i) => `m ${i}`).flatMap((meta, i) => [
    { kind: 'start', process: 'wide', meta, at },
    { kind: 'end', process: 'wide', meta, ...(i === 0 && { failed: true }) },
  ])

/** Every night of each region a minute longer; the one in the middle of `region us` failed. */
function nights(nowMs: number): object[] {
  const first = Math.floor(nowMs / MINUTE) * MINUTE - NIGHTS * DAY
  const iso = (ms: number, digits: string) => new Date(ms).toISOString().replace('Z', `${digits}Z`)
  const runs = Array.from({ length: NIGHTS }, (_, night) =>
    REGIONS.flatMap(([meta, minute, length]) => {
      const startMs = first + night * DAY + minute * MINUTE
      const failed = meta === 'region us' && night === 10
      const tookMs = (failed ? 5 : length + night) * MINUTE
      return [
        { kind: 'start', process: 'nightly', meta, at: iso(startMs, '001') },
        { kind: 'end', process: 'nightly', meta, at: iso(startMs + tookMs, '001'), ...(failed && { failed }) },
      ]
    }),
  )
  return [
    ...runs.flat(),
    { kind: 'metrics', process: 'gauge', items: { load: 2 }, at: iso(nowMs - MINUTE, '001') },
    {
      kind: 'exception',
      process: 'browser',
      exception: 'TypeError: x is not a function',
      at: iso(nowMs - MINUTE, '003'),
    },
  ]
}
