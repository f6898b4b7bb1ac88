// `stint login` and `stint logout` against the real routes: one key for this machine.
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import type { Scope } from '../../src/wire/roles.ts'
import { ADA } from '../account/accounts-cast.ts'
import { serveAccounts } from '../http/accounts/serve-accounts.ts'
import { createPerson } from './cli-cast.ts'

const server = serveAccounts()
afterAll(server.stop)
const { accounts } = server

let email = ''
let account = ''
let person: ReturnType<typeof createPerson>
let n = 0
beforeEach(async () => {
  email = `person${++n}@example.com`
  account = (await accounts.create({ ...ADA, email })).account.id
  person = createPerson(server.url)
  server.from(`192.0.2.${n}`)
})
const login = () => person.run(`login --email ${email} --password-stdin`, { stdin: ADA.password })
const saved = () => JSON.parse(readFileSync(person.settingsPath, 'utf8')) as { url: string; api_key?: string }
const createKey = async (...scopes: Scope[]) => (await accounts.keys.create(account, 'console', scopes)).secret

test('asks once, makes a key for this machine, saves it for the user alone, and leaves no session', async () => {
  const ran = await person.run('login', { typed: [email, ADA.password] })
  expect(ran).toEqual({
    exitCode: 0,
    stdout: '',
    stderr:
      `E-mail address: Password: Made a key for the account ${email} at ${server.url} (write, read, manage); it is ` +
      `saved in ${person.settingsPath}.\n`,
  })
  expect(statSync(person.settingsPath).mode & 0o777).toBe(0o600)
  expect(saved()).toEqual({ url: server.url, api_key: expect.any(String) })
  const found = accounts.findKey(saved().api_key!)!
  expect(found).toMatchObject({ account, write: true, read: true, manage: true, ping: false })
  const [key] = await accounts.keys.list(account)
  expect(key).toMatchObject({ id: found.keyId, name: `stint on ${hostname()}`, creator: { email } })
  expect(await accounts.sessions.list(key!.creator!.id!)).toEqual([])
})

test('takes the address as its argument, and keeps the service of the file for the same address', async () => {
  const before = { url: `${server.url}/`, service: 'stint', api_key: 'old' }
  mkdirSync(dirname(person.settingsPath), { recursive: true })
  writeFileSync(person.settingsPath, JSON.stringify(before), { mode: 0o600 })
  const elsewhere = { STINT_URL: '' }
  const line = (url: string) => `login ${url} --email ${email} --password-stdin`
  expect(await person.run(line(server.url), { stdin: ADA.password, env: elsewhere })).toMatchObject({ exitCode: 0 })
  expect(saved()).toMatchObject({ url: server.url, service: 'stint' })
  expect(await person.run('key list', { env: elsewhere })).toMatchObject({ exitCode: 0 })
  expect(await person.run(line('ftp://x'), { stdin: ADA.password })).toMatchObject({ exitCode: 2 })
})

test('the key manages the keys of its creator, also those for ping addresses', async () => {
  await login()
  const made = await person.run('key create --name cron --scopes ping')
  expect(accounts.findKey(made.stdout.trim())).toMatchObject({ account, ping: true })
  const { stdout } = await person.run('key list')
  expect(stdout).toContain('cron')
})

test('a wrong password is refused and nothing is saved', async () => {
  const ran = await person.run(`login --email ${email} --password-stdin`, { stdin: 'wrong\n' })
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('The e-mail address or the password is') })
  expect((await person.run('key list')).stderr).toBe(
    `stint: no API key for ${server.url}: run stint login, or set STINT_API_KEY\n`,
  )
})

test('a viewer, who may make no key, is sent to --key', async () => {
  const viewer = `viewer${n}@example.com`
  const owner = (await accounts.people.find(email))!
  const { token } = await accounts.invitations.create({ account, person: owner.id }, viewer, 'viewer')
  await server.call('POST', '/api/invitations/accept', { token, password: ADA.password })
  const ran = await person.run(`login --email ${viewer} --password-stdin`, { stdin: ADA.password })
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('and run: stint login --key') })
})

test('--key saves a key from the console once the server knows it, whatever it may', async () => {
  const secret = await createKey('write')
  expect(await person.run('login --key', { typed: [secret] })).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: `API key: Saved the key for ${server.url} in ${person.settingsPath}.\n`,
  })
  expect(saved().api_key).toBe(secret)
  const unknown = await person.run('login --key', { stdin: 'stint_unknown\n' })
  expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('The API key is missing or not valid') })
  expect(saved().api_key).toBe(secret)
})

test('warns when a variable goes before the saved key', async () => {
  const env = { STINT_API_KEY: await createKey('read') }
  const ran = await person.run(`login --email ${email} --password-stdin`, { stdin: ADA.password, env })
  expect(ran.stderr).toContain('warning: STINT_URL or STINT_API_KEY is set and goes before what is saved')
})

test('logout revokes the key and removes it, also one that was revoked before; variables are not read', async () => {
  await login()
  const secret = saved().api_key!
  const env = { STINT_API_KEY: 'stint_other' }
  expect(await person.run('logout', { env })).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: `The key for ${server.url} is revoked and removed from ${person.settingsPath}.\n`,
  })
  expect(accounts.findKey(secret)).toBeUndefined()
  expect(saved()).toEqual({ url: server.url })
  expect((await person.run('logout')).stderr).toBe(`No key is saved in ${person.settingsPath}.\n`)

  await login()
  await accounts.keys.revoke(account, accounts.findKey(saved().api_key!)!.keyId)
  expect((await person.run('logout')).stderr).toContain('is revoked and removed')
})

test('logout removes a key that may not revoke itself, and says so', async () => {
  const secret = await createKey('write', 'read')
  await person.run('login --key', { stdin: secret })
  expect((await person.run('logout')).stderr).toContain('It may not revoke itself: revoke it in the console of')
  expect(saved().api_key).toBeUndefined()
  expect(accounts.findKey(secret)).toBeDefined()
})
