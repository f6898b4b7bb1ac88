// From an empty console to the first delivered alert, by the buttons of the Welcome page alone, in a real browser and with a real receiver.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PASSWORD } from '../support/caller.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { type ConsoleStint, cannotRun, findBarriers, QUICK, startConsole } from './console-visit.ts'

describe.skipIf(cannotRun())('the first alert', () => {
  let stint: ConsoleStint
  const receiver = startReceiver(() => new Response(null, { status: 204 }))
  const received = (): { type: string; data: { process: string } }[] =>
    receiver.requests.map(({ text }) => JSON.parse(text))
  beforeAll(async () => {
    stint = await startConsole({ NOTIFY_PRIVATE: 'true' })
  })
  afterAll(async () => {
    await stint.close()
    await receiver.close()
  })

  test('reaches a channel that was created on the Welcome page', async () => {
    const { page, complaints } = await stint.visit(QUICK)
    let clicks = 0
    const press = async (name: string, within = page.locator('body')) => {
      clicks++
      await within.getByRole('button', { name, exact: true }).click()
    }
    await page.goto(stint.stint.url)
    await page.getByLabel('E-mail').fill('first@example.com')
    await page.getByLabel('Password').fill(PASSWORD)
    await press('Create account')
    await press('Copy key')
    await page.reload() // before the key was stored anywhere
    await press('Create a key')
    const secret = await page.getByLabel('Your API key').textContent()
    await page.getByRole('tab', { name: 'cron' }).click()
    expect(await page.getByLabel('cron example').textContent()).toContain(secret!)

    await page.getByText('No channel yet').waitFor()
    await press('Create channel')
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('radio', { name: 'Webhook' }).isChecked()).toBe(true) // e-mail is not set up here
    await dialog.getByLabel('Name').fill('phone')
    await dialog.getByLabel('Address').fill(`${receiver.url}/`)
    await press('Create and send test', dialog)
    await dialog.getByText('Test: 204').waitFor()
    await press('I’ve saved it')
    await page.getByText('Watched by Every failure').waitFor()
    await press('Send a failing test run')
    await page.getByText('A failing run was sent.').waitFor()
    await until('it was delivered', () => received().length === 2)
    await page.getByText('Notification delivered to phone: 204').waitFor()
    expect(received().map(({ type }) => type)).toEqual(['test', 'alert.firing'])
    expect(received()[1]?.data.process).toBe('first steps')
    expect(clicks).toBe(7)
    expect(await findBarriers(page)).toEqual([])

    await page.getByRole('link', { name: 'Alerts & watches', exact: true }).click()
    await page.goBack()
    await press('Send a completed run')
    await page.getByText('Resolved: first steps completed').waitFor()
    await page.getByText('Notification delivered to phone: 204').waitFor()

    for (const n of [2, 3]) {
      await press('Send a failing test run') // also while the alert of the one before still fires
      const firing = () => received().filter(({ type }) => type === 'alert.firing').length
      await until('it was delivered', () => firing() === n)
      await page.getByText('Notification delivered to phone: 204').waitFor()
    }
    expect(complaints).toEqual([])
  })
})
