// SIGNUP=open with e-mail in a real browser: an account by a link, a confirmed address, and the choice after a claim.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createCaller } from '../support/caller.ts'
import { startMailServer } from '../support/mail-server.ts'
import { missing } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { type ConsoleStint, startConsole } from './console-visit.ts'

describe.skipIf(missing('chromium') !== undefined)('signing up in the console', () => {
  let smtp: Awaited<ReturnType<typeof startMailServer>>
  let console: ConsoleStint
  let url: string
  beforeAll(async () => {
    smtp = await startMailServer()
    console = await startConsole({ SMTP_URL: smtp.url, MAIL_FROM: 'stint@example.com' })
    url = console.stint.url
    await console.signUp('ada@example.com')
  })
  afterAll(async () => {
    await console.close()
    smtp.close()
  })
  /** What the newest link to this address holds after `#/`. */
  async function linkTo(email: string, page: string): Promise<string> {
    const find = () => smtp.mails.filter(({ to }) => to.includes(email)).at(-1)?.text ?? ''
    const link = new RegExp(`#/(${page}\\?token=\\w{43})`)
    await until(`the link to ${email} arrives`, () => link.test(find()))
    return link.exec(find())![1]!
  }

  test('an address gets a link, with which its person sets a password and sees the first key', async () => {
    const bob = await console.visit()
    await bob.page.goto(url)
    expect(await bob.page.getByLabel('Password').count()).toBe(0)
    await bob.page.getByLabel('E-mail').fill('bob@example.com')
    await bob.page.getByRole('button', { name: 'Send link' }).click()
    await bob.page.getByText('Look into your mailbox').waitFor()
    await bob.go(await linkTo('bob@example.com', 'sign-up'))
    await bob.page.getByLabel('Password').fill('bobs own long password')
    await bob.page.getByRole('button', { name: 'Create account' }).click()
    await bob.page.getByRole('heading', { name: 'Send data' }).waitFor()
    expect(bob.view()).not.toContain('token')
    await bob.close()
  })

  test('a person by invitation is asked to confirm, by the link or on the page Account', async () => {
    const ada = await createCaller(url).post('/api/session', {
      email: 'ada@example.com',
      password: 'a long enough password of a test',
    })
    const cookie = ada.headers.get('set-cookie')!.split(';')[0]!
    const invited = await createCaller(url, { cookie }).post('/api/invitations', {
      email: 'cy@example.com',
      role: 'member',
    })
    const cy = await console.visit()
    await cy.page.goto(url)
    await cy.page.getByRole('button', { name: 'Sign in' }).first().waitFor()
    await cy.go((invited.json.invitation.url as string).split('#/')[1]!)
    await cy.page.getByLabel('New password').fill('cys own long password')
    await cy.page.getByRole('button', { name: 'Create password and join' }).click()
    await cy.page.getByText('Settings', { exact: true }).waitFor()
    const link = await linkTo('cy@example.com', 'confirm')
    await cy.go('account')
    await cy.page.getByRole('heading', { name: 'Confirm your address' }).waitFor()
    await cy.go(link)
    await cy.page.getByRole('button', { name: 'Confirm' }).click()
    await cy.page.getByText('cy@example.com is confirmed.').waitFor()
    await cy.page.getByRole('button', { name: 'Continue' }).click()
    await cy.go('account')
    await cy.page.getByRole('heading', { name: 'Sessions' }).waitFor()
    expect(await cy.page.getByRole('heading', { name: 'Confirm your address' }).count()).toBe(0)
    await cy.close()
  })
})

describe.skipIf(missing('chromium') !== undefined)('an account that a stranger made with the address', () => {
  test('shows what is in it, and is left for a new one', async () => {
    const smtp = await startMailServer()
    const console = await startConsole()
    const { stint } = console
    await console.signUp('ada@example.com')
    const eve = await console.signUp('victim@example.com')
    await eve.bySession.post('/api/keys', { name: 'reader of Eve', scopes: ['read'] })
    await stint.terminate()
    await stint.start({ SMTP_URL: smtp.url, MAIL_FROM: 'stint@example.com' })
    const { url } = stint
    await createCaller(url).post('/api/password/forgot', { email: 'victim@example.com' })
    await until('the link arrives', () => smtp.mails.length > 0)
    const victim = await console.visit()
    await victim.page.goto(`${url}/#/${/#\/(reset\?token=\w{43})/.exec(smtp.mails[0]!.text)![1]}`)
    await victim.page.getByLabel('New password').fill('the victims own password')
    await victim.page.getByRole('button', { name: 'Set password' }).click()
    await victim.page.getByLabel('E-mail').fill('victim@example.com')
    await victim.page.getByLabel('Password').fill('the victims own password')
    await victim.page.getByRole('button', { name: 'Sign in' }).click()
    await victim.page.getByRole('heading', { name: 'Is this account yours?' }).waitFor()
    await victim.page.getByText('reader of Eve').waitFor()
    await victim.page.getByRole('button', { name: 'Not me' }).click()
    await victim.page.getByRole('heading', { name: 'Send data' }).waitFor()
    expect((await eve.byKey.get('/api/timings')).status).toBe(401)
    await victim.close()
    await console.close()
    smtp.close()
  })
})
