// The page of /swagger as a person uses it: a real browser without internet authorizes with a key, tries a call out, and sees the 201.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { type BrowserPage, openPage } from '../../support/browser.ts'
import { missing } from '../../support/needs.ts'

describe.skipIf(missing('chromium') !== undefined)('/swagger in a browser', () => {
  let app: TestApp
  let browser: BrowserPage
  beforeAll(async () => {
    app = await startApp()
    browser = await openPage(app.url)
  })
  afterAll(async () => {
    await browser.close()
    await app.stop()
  })

  /** Unfolds an operation, sends what its form holds, and gives the status that the page shows. */
  async function tryOut(operation: string): Promise<string | null> {
    const block = browser.page.locator(`#operations-events-${operation}`)
    await block.locator('.opblock-summary-control').click()
    await block.getByRole('button', { name: 'Try it out' }).click()
    await block.getByRole('button', { name: 'Execute' }).click()
    return block.locator('.live-responses-table tbody .response-col_status').first().textContent()
  }

  test('shows every call without requests to other servers', async () => {
    await browser.page.goto(`${app.url}/swagger`)
    await browser.page.locator('.opblock').first().waitFor()
    const shown = await browser.page.locator('.opblock-summary-path').allInnerTexts()
    const text = shown.map((path) => path.replaceAll('\u200b', '')).join(' ')
    for (const path of ['/v1/start', '/v1/end', '/v1/metrics', '/v1/exception', '/livez']) expect(text).toContain(path)
    expect(browser.complaints).toEqual([])
    expect(browser.strayRequests).toEqual([])
  })

  test('a call without a key shows the 401', async () => {
    expect(await tryOut('postV1End')).toContain('401')
    browser.complaints.length = 0 // the browser itself says that a 401 came
  })

  test('Try it out creates an event with the key entered under Authorize', async () => {
    const { page } = browser
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    const dialog = page.locator('.dialog-ux')
    await dialog.getByRole('textbox').first().fill(app.keys.owner)
    await dialog.getByRole('button', { name: 'Apply credentials' }).first().click()
    await dialog.getByRole('button', { name: 'Close' }).first().click()

    const before = (await app.events()).length
    for (const operation of ['postV1Start', 'postV1Metrics', 'postV1Exception'])
      expect(await tryOut(operation)).toContain('201')
    const events = await app.events()
    expect(events.slice(before).map(({ kind }) => kind)).toEqual(['start', 'metrics', 'exception'])
    expect(events.find(({ kind }) => kind === 'start')).toMatchObject({ process: 'nightly import', meta: 'region eu' })
    expect(browser.complaints).toEqual([])
    expect(browser.strayRequests).toEqual([])
  })

  test('the key is still there after a reload', async () => {
    const { page } = browser
    await page.goto('about:blank')
    await page.goto(`${app.url}/swagger`)
    await page.locator('.opblock').first().waitFor()
    expect(await tryOut('postV1Start')).toContain('201')
  })
})
