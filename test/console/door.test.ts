// The first visit, to a delivered alert by the buttons of the Welcome page, and everything about who one is: signing in and out, the
// password, sessions and keys; with a real server, a real receiver and a real browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createCaller, PASSWORD } from '../support/caller.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { type ConsoleStint, cannotRun, expectQuiet, LIGHT, QUICK, startConsole, type Visit } from './console-visit.ts'

describe.skipIf(cannotRun())('the console', () => {
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

  const signIn = async ({ page }: Visit, email: string, password: string) => {
    await page.getByLabel('E-mail').first().fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  const heading = ({ page }: Visit, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

  test('first visit: faults beside their fields, the key shown once, a ping that arrives, and an alert that is delivered', async () => {
    const visit = await stint.visit({ ...QUICK, permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = visit
    const press = (name: string, within = page.locator('body')) =>
      within.getByRole('button', { name, exact: true }).click()
    await page.goto(stint.stint.url)
    await heading(visit, 'Create account')
    await page.getByLabel('E-mail').fill('nobody')
    await page.getByLabel('Password').fill('short')
    await press('Create account')
    await page.getByText('Must be an e-mail address.').waitFor()
    await page.getByText('Must have at least 8 characters.').waitFor()
    await page.locator('[name=email][aria-invalid=true]:focus').waitFor()
    visit.complaints.length = 0 // the browser itself says that a 422 came
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByLabel('Password').fill(PASSWORD)
    await press('Create account')

    await heading(visit, 'Send data')
    const secret = (await page.getByLabel('Your API key').textContent()) ?? ''
    expect(secret).toMatch(/^stint_[0-9A-Za-z]+$/)
    await press('Copy key')
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret)
    await page.getByText('Waiting for an event…').waitFor()
    await page.getByRole('tab', { name: 'cron' }).click()
    await press('Create a key that may only write')
    const cron = page.getByLabel('cron example')
    await cron.filter({ hasText: '"api_key": "stint_' }).waitFor()
    expect(await cron.textContent()).not.toContain(secret) // it may also read
    await press('Show all schedulers')
    await page.getByRole('tab', { name: 'Kubernetes' }).click()
    expect(await page.getByLabel('Kubernetes example').textContent()).toContain(new URL(page.url()).origin)
    await page.getByRole('tab', { name: 'ping' }).click()
    await press('Create a ping address')
    await page.getByText('The token is shown only once.').waitFor()
    const ping = (await page.getByLabel('ping example').textContent()) ?? ''
    expect(ping).toMatch(/\/ping\/stint_[0-9A-Za-z]+\/first-steps/)
    expect(await runSnippet(ping)).toBe('')
    await page.getByText('first-steps: took').waitFor()
    await page.getByText('An event has arrived.').waitFor()
    await page.getByRole('link', { name: 'Open the timeline' }).click()
    await heading(visit, 'Runs')
    await page.getByRole('link', { name: /^Run of first-steps/ }).waitFor()

    await visit.go('welcome')
    await page.reload() // before the key was stored anywhere
    await press('Create a key')
    const another = await page.getByLabel('Your API key').textContent()
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('tab', { name: 'cron' }).click()
    expect(await page.getByLabel('cron example').textContent()).toContain(another!)
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
    const firing = () => received().filter(({ type }) => type === 'alert.firing')
    for (const n of [1, 2]) {
      await press('Send a failing test run') // also while the alert of the one before still fires
      await until('it was delivered', () => firing().length === n)
      await page.getByText('Notification delivered to phone: 204').waitFor()
    }
    expect(firing()[0]?.data.process).toBe('first steps')
    await page.getByRole('link', { name: 'Alerts & watches', exact: true }).click()
    await heading(visit, 'Alerts & watches')
    await page.goBack()
    await press('Send a completed run')
    await page.getByText('Resolved: first steps completed').waitFor()
    await page.getByText('Notification delivered to phone: 204').waitFor()
    expectQuiet(visit)
    await visit.close()
  })

  test('signs in and out, ends a session, changes the password, which ends other sessions, and deletes the account', async () => {
    const { cookie, byKey } = await stint.signUp('grace@example.com')
    const visit = await stint.visit(LIGHT, cookie)
    const { page } = visit
    const other = await stint.visit()
    await other.go('keys')
    await other.page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(other, 'grace@example.com', 'not the password at all')
    await other.page.getByRole('alert').getByText('The e-mail address or the password is wrong').waitFor()
    await signIn(other, 'grace@example.com', PASSWORD)
    await heading(other, 'Keys')

    await visit.go('account')
    await page.getByRole('button', { name: /^Sign out session of/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: /^Sign out session of/ }).waitFor({ state: 'detached' })
    await other.go('members')
    await other.page.getByText('Your session has ended').waitFor()
    await signIn(other, 'grace@example.com', PASSWORD)
    await heading(other, 'Members')

    await page.getByLabel('Current password').fill('this is wrong')
    await page.getByLabel('New password').fill('another long password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByRole('alert').getByText('The current password is wrong').waitFor()
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed').waitFor()
    await other.go('account')
    await other.page.getByText('Your session has ended').waitFor()
    await signIn(other, 'grace@example.com', 'another long password')
    await heading(other, 'Account')
    await other.page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await other.page.getByText('Signed out.').waitFor()
    await other.close()

    await page.getByRole('button', { name: 'Delete account', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete account and data' }).click()
    await dialog.getByText('Send your password.').waitFor()
    await dialog.getByLabel('Password').fill('another long password')
    await dialog.getByRole('button', { name: 'Delete account and data' }).click()
    await heading(visit, 'Sign in')
    expect((await byKey.get('/api/processes')).status).toBe(401)
    await visit.close()
  })

  test('a link to reset a password works while signed in; creates, rotates and revokes keys after confirmation; a session that ends closes its dialog', async () => {
    const { cookie } = await stint.signUp('mary@example.com')
    const visit = await stint.visit(LIGHT, cookie)
    const { page } = visit
    for (const name of ['constructor', 'reset', 'invitation']) {
      await visit.go(name) // without a token
      await page.getByText(`This console has no page “${name}”.`).waitFor()
    }
    await visit.go('reset?token=abc')
    await heading(visit, 'Set a new password')
    await visit.go('keys')
    await page.reload()
    const dialog = page.getByRole('dialog')
    const takeSecret = async () => {
      await dialog.getByLabel('Your API key').waitFor()
      for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
      await dialog.getByText('Save the key first: it is not shown again.').waitFor()
      const shown = (await dialog.getByLabel('Your API key').textContent()) ?? ''
      await dialog.getByRole('button', { name: 'I’ve saved it' }).click()
      await dialog.waitFor({ state: 'detached' })
      return shown
    }
    const sends = async (key: string) =>
      (await createCaller(stint.stint.url, { key }).post('/v1/start', { process: 'p' })).status

    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByLabel('Name').fill('nightly <b>key</b>')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const first = await takeSecret()
    expect(await sends(first)).toBe(201)

    await page.getByRole('button', { name: 'Rotate nightly <b>key</b>' }).click()
    await dialog.getByLabel(/hours/).fill('')
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByText('Required.').waitFor()
    await page.locator('[name=overlap_seconds]:focus').waitFor()
    expect(await sends(first)).toBe(201)
    await dialog.getByLabel(/hours/).fill('2')
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    const second = await takeSecret()
    await page.getByText('expires in 2 hours').waitFor()
    expect([await sends(first), await sends(second)]).toEqual([201, 201])

    const row = page.getByRole('row').filter({ hasText: second.slice(0, 12) })
    const revoke = row.getByRole('button', { name: 'Revoke nightly <b>key</b>' })
    await revoke.click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await sends(second)).toBe(201)
    await revoke.click()
    await dialog.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByText('revoked', { exact: true }).waitFor()
    expect([await sends(first), await sends(second)]).toEqual([201, 401])

    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByLabel('Name').fill('cron')
    await dialog.getByRole('checkbox', { name: /^manage:/ }).check()
    await dialog.getByRole('checkbox', { name: /^ping:/ }).check()
    expect(await dialog.getByRole('checkbox', { name: /^write:/ }).isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click()
    const cron = page.getByRole('row').filter({ hasText: 'cron' })
    await cron.waitFor()
    expect(await cron.locator('.badge').allTextContents()).toEqual(['ping', 'active'])
    expectQuiet(visit)

    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByLabel('Name').fill('late')
    await page.context().clearCookies()
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Your session has ended').waitFor()
    await dialog.waitFor({ state: 'detached' })
    await signIn(visit, 'mary@example.com', PASSWORD)
    await heading(visit, 'Keys')
    await visit.close()
  })
})

/** What it printed to stderr or, when it failed, how. */
async function runSnippet(text: string): Promise<string> {
  const child = Bun.spawn(['/bin/sh', '-c', text], { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const [exitCode, said] = await Promise.all([child.exited, new Response(child.stderr).text()])
  return exitCode === 0 ? '' : `ended with ${exitCode}: ${said}`
}
