// The first visit and everything about who one is: signing up, the key, requests that work when pasted, signing in and out, the password,
// sessions and keys; each with a real server and a real browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { createCaller, PASSWORD } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import {
  type ConsoleStint,
  cannotRun,
  expectQuiet,
  LIGHT,
  QUICK,
  startConsole,
  type Visit,
  visit,
} from './console-visit.ts'

describe.skipIf(cannotRun())('the console', () => {
  let stint: ConsoleStint
  let secret = ''
  beforeAll(async () => {
    stint = await startConsole()
  })
  afterAll(() => stint.close())

  const signIn = async ({ page }: Visit, email: string, password: string) => {
    await page.getByLabel('E-mail').first().fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  const heading = ({ page }: Visit, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

  test('first visit: sign-up, the key shown once, and example requests that work', async () => {
    const visit = await stint.visit({ ...QUICK, permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = visit
    await page.goto(stint.stint.url)
    await heading(visit, 'Create account')
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()

    await heading(visit, 'Send data')
    secret = (await page.getByLabel('Your API key').textContent()) ?? ''
    expect(secret).toMatch(/^stint_[0-9A-Za-z]+$/)
    await page.getByRole('button', { name: 'Copy key' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret)
    await page.getByText('Waiting for an event…').waitFor()

    await page.getByRole('button', { name: 'Create a ping address' }).click()
    await page.getByText('The token is shown only once.').waitFor()
    const ping = (await page.getByLabel('ping example').textContent()) ?? ''
    expect(ping).toMatch(/\/ping\/stint_[0-9A-Za-z]+\/first-steps/)
    expect(await runSnippet(ping)).toBe('')
    await page.getByText('first-steps: took').waitFor()

    await page.getByRole('tab', { name: 'curl' }).click()
    const text = (await page.getByLabel('curl example').textContent()) ?? ''
    expect(await runSnippet(text)).toBe('')
    await page.getByText('first steps · curl: took').waitFor()
    await page.getByText('An event has arrived.').waitFor()
    expectQuiet(visit)

    await page.getByRole('link', { name: 'Open the timeline' }).click()
    await heading(visit, 'Runs')
    await page
      .getByRole('link', { name: /^Run of first steps/ })
      .first()
      .waitFor()
    await visit.go('welcome')
    await page.reload()
    await heading(visit, 'Send data')
    expect(await page.content()).not.toContain(secret)
    expectQuiet(visit)
    await visit.close()
  })

  test('a wrong password is reported, the right one opens the requested view, signing out closes it', async () => {
    await stint.signUp('return@example.com')
    const visit = await stint.visit()
    await visit.go('health')
    await heading(visit, 'Create account')
    await visit.page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(visit, 'return@example.com', 'not the password at all')
    await visit.page.getByRole('alert').getByText('The e-mail address or the password is wrong').waitFor()
    visit.complaints.length = 0 // the browser itself says that a 401 came
    await signIn(visit, 'return@example.com', PASSWORD)
    await heading(visit, 'Health')
    await visit.page.getByRole('link', { name: 'Account' }).click()
    await visit.page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await heading(visit, 'Sign in')
    await visit.page.getByText('Signed out.').waitFor()
    expectQuiet(visit)
    await visit.close()
  })

  test('a link to reset a password works while signed in, and a session that ends takes its dialog along', async () => {
    const { cookie } = await stint.signUp('linked@example.com')
    const visit = await stint.visit(LIGHT, cookie)
    const { page } = visit
    for (const name of ['reset', 'invitation']) {
      await visit.go(name) // without a token
      await page.getByText(`This console has no page “${name}”.`).waitFor()
    }
    await visit.go('reset?token=abc')
    await heading(visit, 'Set a new password')
    await visit.go('keys')
    await page.reload()
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('late')
    await page.context().clearCookies()
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Your session has ended').waitFor()
    await dialog.waitFor({ state: 'detached' })
    await signIn(visit, 'linked@example.com', PASSWORD)
    await heading(visit, 'Keys')
    await visit.close()
  })

  test('shows form errors beside their fields', async () => {
    const visit = await stint.visit()
    await visit.page.goto(stint.stint.url)
    await visit.page.getByLabel('E-mail').fill('nobody')
    await visit.page.getByLabel('Password').fill('short')
    await visit.page.getByRole('button', { name: 'Create account' }).click()
    await visit.page.getByText('Must be an e-mail address.').waitFor()
    await visit.page.getByText('Must have at least 8 characters.').waitFor()
    await visit.page.locator('[name=email][aria-invalid=true]:focus').waitFor()
    await visit.close()
  })

  test('changes the password, which ends other sessions; ends a single session', async () => {
    const { cookie } = await stint.signUp('grace@example.com')
    const visit = await stint.visit(LIGHT, cookie)
    const other = await stint.visit()
    await other.go('keys')
    await other.page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(other, 'grace@example.com', PASSWORD)
    await heading(other, 'Keys')

    await visit.go('account')
    await visit.page.getByRole('button', { name: /^Sign out session of/ }).click()
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await visit.page.getByRole('button', { name: /^Sign out session of/ }).waitFor({ state: 'detached' })
    await other.go('health')
    await other.page.getByText('Your session has ended').waitFor()
    await signIn(other, 'grace@example.com', PASSWORD)
    await heading(other, 'Health')

    await visit.page.getByLabel('Current password').fill('this is wrong')
    await visit.page.getByLabel('New password').fill('another long password')
    await visit.page.getByRole('button', { name: 'Change password' }).click()
    await visit.page.getByRole('alert').getByText('The current password is wrong').waitFor()
    visit.complaints.length = 0
    await visit.page.getByLabel('Current password').fill(PASSWORD)
    await visit.page.getByRole('button', { name: 'Change password' }).click()
    await visit.page.getByText('Password changed').waitFor()
    await other.go('account')
    await other.page.getByText('Your session has ended').waitFor()
    await signIn(other, 'grace@example.com', 'another long password')
    await heading(other, 'Account')
    expectQuiet(visit)
    await visit.close()
    await other.close()
  })

  test('creates, rotates and revokes a key, each after confirmation', async () => {
    const { cookie } = await stint.signUp('mary@example.com')
    const visit = await stint.visit(LIGHT, cookie)
    const { page } = visit
    await visit.go('keys')
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
    expectQuiet(visit)
    await visit.close()
  })

  test('a key for pings has no other permission', async () => {
    const { cookie } = await stint.signUp('ping@example.com')
    const visit = await stint.visit(LIGHT, cookie)
    await visit.go('keys')
    await visit.page.getByRole('button', { name: 'Create key' }).click()
    const dialog = visit.page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('cron')
    await dialog.getByRole('checkbox', { name: /^manage:/ }).check()
    await dialog.getByRole('checkbox', { name: /^ping:/ }).check()
    expect(await dialog.getByRole('checkbox', { name: /^write:/ }).isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click()
    const row = visit.page.getByRole('row').filter({ hasText: 'cron' })
    expect(await row.locator('.badge').allTextContents()).toEqual(['ping', 'active'])
    expectQuiet(visit)
    await visit.close()
  })

  test('deletes an account only after its password is entered', async () => {
    const { cookie, byKey } = await stint.signUp('gone@example.com')
    const visit = await stint.visit(LIGHT, cookie)
    await visit.go('account')
    await visit.page.getByRole('button', { name: 'Delete account', exact: true }).click()
    const dialog = visit.page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete account and data' }).click()
    await dialog.getByText('Send your password.').waitFor()
    visit.complaints.length = 0 // the browser itself reports the 403
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Delete account and data' }).click()
    await heading(visit, 'Sign in')
    expect((await byKey.get('/api/processes')).status).toBe(401)
    expectQuiet(visit)
    await visit.close()
  })
})

test.skipIf(missing('chromium') !== undefined)(
  'shows only sign-in while sign-up is closed, and explains why',
  async () => {
    const app = await startApp({ signup: 'first' })
    const { page, close } = await visit(app.url, LIGHT)
    await page.goto(app.url)
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await page.getByText('Sign-up is closed').waitFor()
    expect(await page.getByRole('button', { name: 'Create account' }).count()).toBe(0)
    await close()
    await app.stop()
  },
)

/** What it printed to stderr or, when it failed, how. */
async function runSnippet(text: string): Promise<string> {
  const child = Bun.spawn(['/bin/sh', '-c', text], { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const [exitCode, said] = await Promise.all([child.exited, new Response(child.stderr).text()])
  return exitCode === 0 ? '' : `ended with ${exitCode}: ${said}`
}
