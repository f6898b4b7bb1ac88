// Members, invitations, the account switcher and the audit log in a real browser; and what a viewer sees.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { missing } from '../support/needs.ts'
import { type ConsoleStint, LIGHT, startConsole } from './console-visit.ts'

describe.skipIf(missing('chromium') !== undefined)('people in the console', () => {
  let console: ConsoleStint
  let url: string
  let operatorCookie: string
  beforeAll(async () => {
    console = await startConsole()
    url = console.stint.url
  })
  afterAll(() => console.close())

  test('an owner invites, the person joins with a new password, and a viewer sees no button that changes', async () => {
    const ada = await console.signUp('ada@example.com')
    operatorCookie = ada.cookie
    const owner = await console.visit(LIGHT, ada.cookie)
    await owner.go('members')
    await owner.page.getByRole('button', { name: 'Invite' }).click()
    const dialog = owner.page.getByRole('dialog')
    await dialog.getByLabel('E-mail').fill('bob@example.com')
    await dialog.getByLabel('Role').selectOption('viewer')
    await dialog.getByRole('button', { name: 'Invite' }).click()
    const link = (await owner.page.getByText('/#/invitation?token=').textContent())!
    await owner.page.getByRole('button', { name: 'Done' }).click()
    await owner.page.getByText('Open invitations').first().waitFor()

    const bob = await console.visit()
    await bob.page.goto(url)
    await bob.page.getByRole('button', { name: 'Sign in' }).waitFor() // the link is opened in the same tab
    await bob.go(link.slice(link.indexOf('#/') + 2))
    await bob.page.getByRole('heading', { name: 'Join ada@example.com' }).waitFor()
    await bob.page.getByLabel('New password').fill('bobs own long password')
    await bob.page.getByRole('button', { name: 'Create password and join' }).click()
    await bob.page.getByText('Settings', { exact: true }).waitFor()
    await bob.page.locator('h1:focus').waitFor()
    for (const [view, heading] of [
      ['members', 'Members'],
      ['keys', 'Keys'],
      ['watches', 'Alerts & watches'],
      ['account', 'Account'],
      ['welcome', 'Send data'],
    ] as const) {
      await bob.go(view)
      await bob.page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      await bob.page.locator('main [aria-busy]').first().waitFor({ state: 'detached' })
      const changing = bob.page.getByRole('button', {
        name: /^(Create|Invite|Revoke|Rotate|Delete|Rename|Change role|Send)/,
      })
      expect([view, await changing.allTextContents()]).toEqual([view, []])
    }
    await console.send(ada.secret, [{ kind: 'metrics', process: 'sensor', items: { degrees: 21 } }])
    await bob.go('process?process=sensor')
    await bob.page.getByText('No runs. It only sends metrics').waitFor()
    await bob.page.getByText('No one is notified.').waitFor()
    expect(await bob.page.getByRole('link', { name: /^(Pause|Watch)/ }).count()).toBe(0)
    await bob.go('welcome')
    await bob.page.getByText('Ask a member or an owner of ada@example.com for a key.').waitFor()
    await bob.page.getByText('Settings', { exact: true }).click()
    await bob.page.getByRole('link', { name: 'Members' }).waitFor()
    expect(await bob.page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
    const { members } = (await ada.bySession.get('/api/members')).json
    const { id } = members.find(({ email }: { email: string }) => email === 'bob@example.com')
    for (const [role, view, count] of [
      ['member', 'keys', 1],
      ['viewer', 'watches', 0],
    ] as const) {
      await ada.bySession.patch(`/api/members/${id}`, { role })
      await bob.page.goto(`${url}/#/${view}`)
      await bob.page.waitForFunction(
        (count) =>
          document.querySelector('main h1') !== null && // not the moment in which the role draws all again
          document.querySelector('main [aria-busy]') === null &&
          document.querySelectorAll('header .button-main').length === count,
        count,
      )
    }
    let asked = 0
    await bob.page.route('**/api/session', async (route) => {
      if (++asked > 1) return route.abort() // gone between the two
      await route.fulfill({ json: { ...(await (await route.fetch()).json()), role: 'member' } })
    })
    await bob.page.goto(`${url}/#/keys`)
    await bob.page.getByRole('button', { name: 'Try again' }).waitFor()
    await bob.page.unroute('**/api/session')
    await bob.page.getByRole('button', { name: 'Try again' }).click()
    await bob.go('watches')
    await bob.page.goto(`${url}/${link.slice(link.indexOf('#/'))}`)
    await bob.page.getByRole('button', { name: 'Continue' }).waitFor() // it was used
    await bob.page.goBack()
    await bob.page.getByRole('heading', { name: 'Alerts & watches', level: 1 }).waitFor()

    await owner.go('audit')
    await owner.page.getByRole('cell', { name: 'Member joined' }).waitFor()
    await owner.page.getByLabel('Action').selectOption({ label: 'Member invited' })
    await owner.page.getByRole('cell', { name: 'Member invited' }).waitFor()
    await owner.page.getByRole('cell', { name: 'Member joined' }).waitFor({ state: 'detached' })
    await Promise.all([owner.close(), bob.close()])
  })

  test('two tabs: what one shows is not changed after the other switched the account', async () => {
    const [cy, dan] = [await console.signUp('cy@example.com'), await console.signUp('dan@example.com')]
    const { json } = await cy.bySession.post('/api/invitations', { email: 'dan@example.com', role: 'owner' })
    const token = /token=(\w+)/.exec(json.invitation.url)![1]
    await dan.bySession.post('/api/invitations/accept', { token })
    await dan.bySession.post('/api/session/account', { id: dan.account })
    const first = await console.visit(LIGHT, dan.cookie)
    await first.go('keys')
    await first.page.getByRole('button', { name: 'Revoke first key' }).click()
    await first.page.route('**/api/keys', () => {}) // no poll comes before the click below
    const second = await first.page.context().newPage()
    await second.goto(`${url}/#/members`)
    await second.getByLabel('Account', { exact: true }).selectOption({ label: 'cy@example.com' })
    await second.getByText('People of cy@example.com').waitFor()

    await first.page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
    await first.page.getByRole('heading', { name: 'Account changed' }).waitFor()
    first.complaints.length = 0 // the browser itself reports the 409
    await first.page.unroute('**/api/keys')
    await first.page.getByRole('button', { name: 'Show that account' }).click()
    await first.page.getByRole('combobox', { name: 'Account' }).waitFor()
    const { keys } = (await dan.bySession.get('/api/keys')).json
    expect(keys.map((key: { revoked_at: null }) => key.revoked_at)).toEqual([null])

    // the link of a notification shows its account, whichever the session shows
    for (const [account, name] of [
      [dan.account, 'dan@example.com'],
      [cy.account, 'cy@example.com'],
    ] as const) {
      await first.go(`members?account=${account}`)
      await first.page.getByRole('button', { name: `Switch to ${name}` }).click()
      await first.page.getByText(`People of ${name}`).waitFor()
      expect(first.view()).toBe('#/members')
    }
    await first.go('members?account=acc_ofsomeoneelse00')
    await first.page.getByText('an account that you are not a member of').waitFor()
    await first.page.getByRole('button', { name: 'Open my account' }).click()
    await first.page.getByText('People of cy@example.com').waitFor()
    await first.close()
  })

  test('the operator sees the rejected events of all accounts and gives up what a store holds back', async () => {
    const { cookie } = await console.signUp('eve@example.com')
    const stranger = await console.visit(LIGHT, cookie)
    const operator = await console.visit(LIGHT, operatorCookie)
    for (const { page } of [stranger, operator])
      await page.route('**/api/health', async (route) => {
        const answer = await route.fetch()
        await route.fulfill({
          response: answer,
          body: (await answer.text()).replace(/"state":"\w+"/, '"state":"parked"'),
        })
      })
    await stranger.go('health')
    await stranger.page.getByText('paused').first().waitFor()
    expect(await stranger.page.getByRole('button', { name: 'Discard refused events' }).count()).toBe(0)

    const asked = operator.page.waitForRequest('**/api/dead?*all=true*')
    await operator.go('health')
    await asked
    await operator.page.getByRole('button', { name: 'Discard refused events' }).click()
    await operator.page.getByLabel('Reason').fill('the field type was wrong')
    await operator.page.getByRole('dialog').getByRole('button', { name: 'Move events' }).click()
    await operator.page.getByText('Refused events are being moved to the rejected ones.').waitFor()
    await stranger.close()
    await operator.close()
  })
})
