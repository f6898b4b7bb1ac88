// The operator's page of all accounts in a real browser: found, ordered, suspended, resumed, deleted.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SignedUp } from '../support/caller.ts'
import {
  type ConsoleStint,
  cannotRun,
  expectQuiet,
  findBarriersInBothSchemes,
  findSmall,
  findWide,
  PHONE,
  startConsole,
} from './console-visit.ts'

describe.skipIf(cannotRun())('All accounts', () => {
  let console: ConsoleStint
  let ada: SignedUp
  let bob: SignedUp
  beforeAll(async () => {
    console = await startConsole()
    ada = await console.signUp('ada@example.com')
    bob = await console.signUp('bob@example.com')
    await console.send(
      bob.secret,
      Array.from({ length: 30 }, (_, i) => ({ kind: 'metrics', process: 'p', items: { i } })),
    )
    await console.signUp('cy@example.com')
  })
  afterAll(() => console.close())

  test('lists accounts by what they sent, searches them, and is on no page of anybody else', async () => {
    const visit = await console.visit(undefined, ada.cookie)
    await visit.go('home')
    await visit.go('home')
    await visit.page.getByText('Settings', { exact: true }).click()
    await visit.page.getByRole('link', { name: 'All accounts' }).click()
    await visit.page
      .getByText('3 accounts. Figures are of this node; e-mails are notifications and invitations.')
      .waitFor()
    const rows = visit.page.getByRole('table', { name: 'All accounts' }).getByRole('row')
    expect(await rows.nth(1).textContent()).toContain('bob@example.com')
    expect(await rows.nth(1).textContent()).toContain('30')
    await visit.page.getByLabel('Search', { exact: true }).fill('CY@')
    await visit.page.getByRole('row', { name: 'cy@example.com' }).waitFor()
    await rows.nth(2).waitFor({ state: 'detached' })
    expect(visit.view()).toBe('#/accounts?q=CY%40')
    expect(await findBarriersInBothSchemes(visit.page)).toEqual([])
    expectQuiet(visit)
    await visit.close()
    const other = await console.visit(undefined, bob.cookie)
    await other.go('home')
    await other.page.getByText('Settings', { exact: true }).click()
    await other.page.getByRole('link', { name: 'Audit log' }).waitFor()
    expect(await other.page.getByRole('link', { name: 'All accounts' }).count()).toBe(0)
    await other.go('accounts')
    await other.page.getByText('Only the operator may do this').waitFor()
    await other.close()
  })

  test('a name that is written from right to left moves nothing that is beside it', async () => {
    const name = `Ada \u202Eevil`
    expect((await ada.bySession.patch('/api/account', { name })).status).toBe(200)
    const visit = await console.visit(undefined, ada.cookie)
    await visit.go('accounts?q=ada')
    const row = visit.page.getByRole('row').filter({ hasText: 'yours' })
    const [shown, badge] = [await row.locator('strong').boundingBox(), await row.locator('.badge').boundingBox()]
    expect(badge!.x).toBeGreaterThanOrEqual(shown!.x + shown!.width)
    await ada.bySession.patch('/api/account', { name: 'ada@example.com' })
    await visit.close()
  })

  test('suspends an account, whose people see why, and resumes it', async () => {
    const visit = await console.visit(PHONE, ada.cookie)
    await visit.go('accounts')
    await visit.page.getByRole('button', { name: 'Suspend bob@example.com' }).waitFor()
    expect([await findWide(visit.page), await findSmall(visit.page)]).toEqual([[], []])
    await visit.page.getByRole('button', { name: 'Suspend bob@example.com' }).click()
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
    const resume = visit.page.getByRole('button', { name: 'Resume bob@example.com' })
    await resume.waitFor()
    expect((await bob.byKey.post('/v1/start', { process: 'p' })).json.code).toBe('account_suspended')
    const theirs = await console.visit(undefined, bob.cookie)
    await theirs.go('metrics')
    await theirs.page.getByText('has suspended this account').waitFor()
    await theirs.close()
    await visit.go('accounts?state=suspended')
    await visit.page.getByText('3 accounts, 1 suspended').waitFor()
    await resume.click()
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await visit.page.getByText('No matching accounts').waitFor()
    expect((await bob.byKey.post('/v1/start', { process: 'p' })).status).toBe(201)
    await visit.close()
  })

  test('deletes an account once its id is entered', async () => {
    const visit = await console.visit(undefined, ada.cookie)
    await visit.go('accounts?q=bob')
    await visit.page.getByRole('button', { name: 'Delete bob@example.com' }).click()
    const dialog = visit.page.getByRole('dialog')
    await dialog.getByLabel('Id of the account').fill('acc_wrong')
    await dialog.getByRole('button', { name: 'Delete account and data' }).click()
    await dialog.getByText('is not the id of the path').waitFor()
    await dialog.getByLabel('Id of the account').fill(bob.account)
    await dialog.getByRole('button', { name: 'Delete account and data' }).click()
    await visit.page.getByText('No matching accounts').waitFor()
    expect((await bob.byKey.get('/api/timings')).status).toBe(401)
    await visit.close()
  })
})
