// Any run beside the last good one of its process and meta, in the panel of a run, in a real browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import {
  type ConsoleStint,
  cannotRun,
  expectQuiet,
  findBarriersInBothSchemes,
  findWide,
  LIGHT,
  startConsole,
  type Visit,
} from './console-visit.ts'

const HOUR_MS = 3_600_000
const HOSTILE = '<img src=x onerror=alert(1)>'

describe.skipIf(cannotRun())('two runs side by side', () => {
  let stint: ConsoleStint
  let visit: Visit
  const startedMs = Date.now() - HOUR_MS
  beforeAll(async () => {
    stint = await startConsole()
    const { cookie, secret } = await stint.signUp('ada@example.com')
    await stint.send(secret, [
      ...run(3, { tookS: 600, items: { rows: 120_412, lag: 0.5, skipped: 3 }, output: said('stored') }),
      ...run(2, { tookS: 700, exception: 'Error: a warning', output: said('warned') }),
      ...run(1, {
        ...{ tookS: 90, items: { rows: 12, lag: 0.5, [HOSTILE]: 1 }, output: said(HOSTILE), failed: true },
        exception: 'import.sh: exited with code 3\nno space left on device',
      }),
      ...run(0, { tookS: 10, meta: 'eu', failed: true, exception: 'Error: no' }),
      ...run(0.01, { tookS: 120, meta: 'eu' }), // it began before, and was still running
    ])
    visit = await stint.visit(LIGHT, cookie)
  })
  afterAll(() => stint.close())

  interface Said {
    readonly tookS: number
    readonly meta?: string
    readonly items?: Readonly<Record<string, number>>
    readonly exception?: string
    readonly output?: string
    readonly failed?: true
  }
  const said = (last: string): string =>
    [...Array.from({ length: 9 }, (_, i) => `03:1${i}:00 part ${i} of table t${i}`), last].join('\n')
  /** `ago`: runs before the last one. */
  function run(ago: number, { tookS, meta, items, exception, output, failed }: Said) {
    const mark = { process: 'import', ...(meta !== undefined && { meta }), uid: `run-${ago * 100}` }
    const at = (s: number) => new Date(startedMs - ago * HOUR_MS + s * 1000).toISOString()
    return [
      { kind: 'start', ...mark, at: at(0) },
      ...(items === undefined ? [] : [{ kind: 'metrics', ...mark, items, at: at(tookS - 2) }]),
      ...(exception === undefined ? [] : [{ kind: 'exception', ...mark, exception, at: at(tookS - 1) }]),
      { kind: 'end', ...mark, ...(failed && { failed }), ...(output !== undefined && { output }), at: at(tookS) },
    ]
  }
  const cellsOf = async (table: Locator): Promise<string[]> =>
    (await table.getByRole('row').all()).length === 0
      ? []
      : Promise.all(
          (await table.getByRole('row').all()).map(async (row) =>
            (await row.locator('th, td').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim()).join(' | '),
          ),
        )

  test('the panel shows a failed run beside the last good one, the greatest difference of its metrics first', async () => {
    const { page, go, view } = visit
    await go('runs?from=-24h&process=import&state=failed')
    const failed = page.getByRole('link', { name: /^Run of import/ }).nth(1)
    await failed.click()
    const panel = page.getByRole('complementary', { name: 'Chosen run' })
    await panel.getByRole('link', { name: 'Beside the last good one' }).click()
    const table = panel.getByRole('region', { name: 'This run beside the last good run' })
    await table.waitFor()
    const rows = await cellsOf(table)
    expect(rows.map((row) => row.replace(/\d\d:\d\d:\d\d/g, 'T').replace(/\d+ \w{3} T/g, 'T'))).toEqual([
      'What | This run | Last good run T',
      'Started | T | T',
      'Ended | T | T',
      'Took | 1 m 30 s 6.7× faster | 10 m 00 s',
      'rows | 12 0.0001× | 120,412',
      'lag | 0.5 the same | 0.5',
      `${HOSTILE} | 1 | none`,
      'skipped | none | 3',
      'Exceptions | no space left on device | none',
      'Exit | code 3 | –',
    ])
    const output = await panel.getByLabel('Output of this run and of the last good run').textContent()
    expect(output?.trimEnd()).toBe(
      [
        '… 7 equal lines',
        '  03:17:00 part 7 of table t7',
        '  03:18:00 part 8 of table t8',
        '− stored',
        `+ ${HOSTILE}`,
      ].join('\n'),
    )
    expect(view()).toContain('beside=')
    expectQuiet(visit)
  })

  test('the address holds both runs; Back, Escape and “This run alone” leave one or none', async () => {
    const { page, view } = visit
    const panel = page.getByRole('complementary', { name: 'Chosen run' })
    await page.reload()
    await panel.getByText('6.7× faster').waitFor()
    await panel.getByRole('link', { name: 'This run alone' }).click()
    await panel.getByRole('heading', { name: 'Metrics' }).waitFor()
    expect(view()).not.toContain('beside=')
    await page.goBack()
    await panel.getByText('6.7× faster').waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'hidden' })
    expect(view()).not.toMatch(/run=|beside=/)
    expectQuiet(visit)
  })

  test('without a run that completed before it there is nothing beside', async () => {
    const { page, go } = visit
    await go('runs?from=-24h&process=import&meta=eu')
    await page.getByText('1–2 of 2').waitFor()
    await page
      .getByRole('link', { name: /^Run of / })
      .first()
      .click()
    const panel = page.getByRole('complementary', { name: 'Chosen run' })
    await panel.getByRole('heading', { name: 'Exceptions' }).waitFor()
    expect(await panel.getByRole('link', { name: 'Beside the last good one' }).count()).toBe(0)
  })

  test('on a phone nothing scrolls sideways, and axe-core finds no barrier', async () => {
    const { page, go } = visit
    await go('runs?from=-24h&process=import&state=failed')
    await page
      .getByRole('link', { name: /^Run of import/ })
      .nth(1)
      .click()
    await page.getByRole('link', { name: 'Beside the last good one' }).click()
    await page.getByText('6.7× faster').waitFor()
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
    expect(await findBarriersInBothSchemes(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await findWide(page)).toEqual([])
  })
})
