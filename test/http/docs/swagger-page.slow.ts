// The page of /swagger as a person uses it: a real browser without internet authorizes with a key, tries a call out, and sees the 201.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { type BrowserPage, openPage } from '../../support/browser.ts'
import { createCaller, PASSWORD } from '../../support/caller.ts'
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
  async function tryOut(tag: string, operation: string): Promise<string | null> {
    const block = browser.page.locator(`#operations-${tag}-${operation}`)
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
    expect(await tryOut('events', 'postV1End')).toContain('401')
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
      expect(await tryOut('events', operation)).toContain('201')
    const events = await app.events()
    expect(events.slice(before).map(({ kind }) => kind)).toEqual(['start', 'metrics', 'exception'])
    expect(events.find(({ kind }) => kind === 'start')).toMatchObject({ process: 'nightly import', meta: 'region eu' })
    expect(browser.complaints).toEqual([])
    expect(browser.strayRequests).toEqual([])
  })

  test('a reload forgets the key, and the browser stores nothing of it', async () => {
    const { page } = browser
    await page.reload()
    await page.locator('.opblock').first().waitFor()
    expect(await tryOut('events', 'postV1Start')).toContain('401')
    const state = await page.context().storageState({ indexedDB: true })
    expect(JSON.stringify(state)).not.toContain(app.keys.owner.slice(-8))
    browser.complaints.length = 0 // the browser itself says that a 401 came
  })

  test.each(['swagger', ''])('/%s removes the key that the page of 2.0 left', async (path) => {
    const { page } = browser
    await page.goto(`${app.url}/livez`)
    await page.evaluate((key) => localStorage.setItem('authorized', key), app.keys.owner)
    await page.goto(`${app.url}/${path}`)
    await page.locator('.opblock, form').first().waitFor()
    expect(await page.evaluate(() => localStorage.length)).toBe(0)
  })

  test('who is signed in needs no key for /api, to ask and to change', async () => {
    const { page } = browser
    const { headers } = await createCaller(app.url).post('/api/session', {
      email: 'ada@example.com',
      password: PASSWORD,
    })
    const [name, value] = headers.get('set-cookie')!.split(';')[0]!.split('=') as [string, string]
    await page.context().addCookies([{ name, value, url: app.url }])
    await page.goto(`${app.url}/swagger`)
    await page.locator('.opblock').first().waitFor()
    expect(await tryOut('watches', 'getApiWatches')).toContain('200')
    expect(await tryOut('watches', 'postApiWatches')).toMatch(/201|422/)
    expect(browser.strayRequests).toEqual([])
    const body = { name: 'w', process: 'p', channels: [], late: { every: '1h' } }
    const from = (origin: string) =>
      createCaller(app.url, { cookie: `${name}=${value}` }).post('/api/watches', body, { origin })
    expect((await from('https://elsewhere.example')).status).toBe(403)
    expect((await from(app.url)).status).toBe(201)
  })
})
