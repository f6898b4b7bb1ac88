// `stint member` and `stint audit` against the real routes.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ADA } from '../account/accounts-cast.ts'
import { serveAccounts } from '../http/accounts/serve-accounts.ts'
import { createPerson } from './cli-cast.ts'

const server = serveAccounts()
afterAll(server.stop)
const person = createPerson(server.url)
beforeAll(async () => {
  await server.accounts.create(ADA)
  await person.run(`account login --email ${ADA.email} --password-stdin`, { stdin: ADA.password })
})

test('invites, changes the role of and removes a person, by address', async () => {
  const invited = await person.run('member invite bob@example.com --role viewer')
  expect([invited.exitCode, invited.stderr]).toEqual([
    0,
    expect.stringContaining('bob@example.com is invited as viewer'),
  ])
  const token = /^https:\/\/stint\.example\.com\/#\/invitation\?token=(\w{43})\n$/.exec(invited.stdout)![1]!
  expect((await person.run('member list')).stdout).toMatch(/bob@example\.com +viewer +invited until/)
  await server.accounts.invitations.joinAsNew(token, 'no hash')
  const changed = await person.run('member role BOB@example.com member')
  expect([changed.exitCode, changed.stderr]).toEqual([0, 'bob@example.com is now a member.\n'])
  expect(JSON.parse((await person.run('member list --json')).stdout).members).toMatchObject([
    { email: ADA.email, role: 'owner' },
    { email: 'bob@example.com', role: 'member' },
  ])
  const removed = await person.run('member remove bob@example.com --take-keys')
  expect([removed.exitCode, removed.stderr]).toEqual([0, 'bob@example.com is removed.\n'])
})

test.each([
  ['member remove nobody@example.com', 1, 'no member and no open invitation is nobody@example.com'],
  [`member role ${ADA.email} viewer`, 1, 'an account always has one'],
  [`member role ${ADA.email} king`, 2, 'Expected viewer, member, owner'],
  ['audit --action dancing', 2, 'Expected one of'],
  ['audit --from yesterday', 2, '--from must be an RFC 3339 time'],
])('%s fails and says why', async (line, exitCode, text) => {
  const ran = await person.run(line)
  expect([ran.exitCode, ran.stderr]).toEqual([exitCode, expect.stringContaining(text)])
})

test('withdraws an open invitation, and shows the audit log', async () => {
  await person.run('member invite cy@example.com')
  expect((await person.run('member remove cy@example.com')).stderr).toBe(
    'The invitation of cy@example.com is withdrawn.\n',
  )
  const { account } = (await server.accounts.people.signIn(ADA)) as { account: string }
  const entry = { account, actor: ADA.email, key: null, detail: 'viewer', address: '192.0.2.1' }
  await server.accounts.audit.note({ ...entry, action: 'member_changed', target: 'cy@example.com' })
  const { stdout } = await person.run('audit --action member_changed --actor ada@example.com')
  expect(stdout).toMatch(/ada@example\.com +member_changed +cy@example\.com viewer +192\.0\.2\.1/)
})
