// The page of watches in a real browser: from nothing to a channel, a watch, and an alert that fires.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { missing } from '../support/needs.ts'
import { type ConsoleStint, findBarriers, startConsole } from './console-visit.ts'

describe.skipIf((missing('chdb') ?? missing('chromium')) !== undefined)('the watches page', () => {
  let console: ConsoleStint
  beforeAll(async () => {
    console = await startConsole({ NOTIFY_PRIVATE: 'true' })
  }, 60_000)
  afterAll(() => console.close())

  test('creates a channel and a watch, shows and dismisses an alert, deletes everything', async () => {
    const { cookie } = await console.signUp('watch@example.com')
    const { page, go } = await console.visit({ viewport: { width: 1280, height: 900 } }, cookie)
    await go('watches')
    await page.getByText('Nothing is watched').waitFor()

    await page.getByRole('button', { name: 'Create channel' }).click()
    await page.getByLabel('Name').fill('hook')
    await page.getByLabel('Address').fill('http://127.0.0.1:1/')
    await page.getByRole('dialog').getByRole('button', { name: 'Create channel' }).click()
    await page.getByText('whsec_').waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Create watch' }).click()
    await page.getByLabel('Name').fill('silent job')
    await page.getByLabel('Process').fill('silent job')
    await page.getByLabel('Late: a start every').fill('1s')
    await page.getByLabel('Grace').fill('1s')
    await page.getByRole('dialog').getByRole('button', { name: 'Create watch' }).click()
    await page.getByText('late (every 1s), failed').waitFor()
    await page.getByText('silent job is late').waitFor({ timeout: 40_000 })
    expect(await findBarriers(page)).toEqual([])

    await page.getByRole('button', { name: 'Dismiss silent job' }).click()
    await page.getByText('resolved', { exact: true }).waitFor({ timeout: 20_000 })
    await page.getByRole('button', { name: 'Delete silent job' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete watch' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Delete hook' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete channel' }).click()
    await page.getByText('Nothing is watched').waitFor({ timeout: 20_000 })
  }, 120_000)

  test('a process is watched from its runs, and Home shows the alert until it is dismissed', async () => {
    const { cookie, secret } = await console.signUp('links@example.com')
    const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString()
    await console.send(secret, [
      { kind: 'start', process: 'a/b & c', at: at(600_000) },
      { kind: 'end', process: 'a/b & c', at: at(480_000) },
    ])
    const { page, go, complaints } = await console.visit({ viewport: { width: 1280, height: 900 } }, cookie)
    const firing = page.getByRole('region', { name: 'Firing alerts' })
    const watchLink = page.getByRole('link', { name: 'Watch this process' })
    const openQuietHome = async () => {
      const asked = page.waitForResponse((answer) => answer.url().includes('/api/alerts?state=firing'))
      await go('home')
      expect((await (await asked).json()).alerts).toEqual([])
    }
    await openQuietHome()
    await page.getByRole('link', { name: 'a/b & c', exact: true }).waitFor()
    expect(await firing.count()).toBe(0)
    await go('runs')
    await page.getByRole('button', { name: 'Run of a/b & c' }).waitFor()
    expect(await watchLink.count()).toBe(0)

    await go('home')
    await page.getByRole('link', { name: 'a/b & c', exact: true }).click()
    await watchLink.click()
    const dialog = page.getByRole('dialog')
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[name=long]')?.value === '5m')
    expect(await dialog.getByLabel('Name').inputValue()).toBe('a/b & c')
    expect(await dialog.getByLabel('Process').inputValue()).toBe('a/b & c')
    await dialog.getByLabel('Late: a start every').fill('1s')
    await dialog.getByLabel('Grace').fill('1s')
    await dialog.getByRole('button', { name: 'Create watch' }).click()
    await dialog.waitFor({ state: 'detached' })

    await go('home')
    const alert = firing.getByRole('link', { name: 'a/b & c is late' })
    await alert.waitFor({ timeout: 40_000 })
    expect(await findBarriers(page)).toEqual([])
    await alert.click()
    await page.getByRole('button', { name: 'Dismiss a/b & c' }).click()
    await page.getByText('resolved', { exact: true }).waitFor({ timeout: 20_000 })
    await openQuietHome()
    await page.getByRole('link', { name: 'a/b & c', exact: true }).waitFor()
    expect(await firing.count()).toBe(0)
    expect(complaints).toEqual([])
  }, 120_000)
})
