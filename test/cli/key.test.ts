import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { formatLocalTime } from '../../src/cli/format-time.ts'
import { systemClock, toTime } from '../../src/clock.ts'
import { ADA, createManualClock } from '../account/accounts-cast.ts'
import { serveAccounts } from '../http/accounts/serve-accounts.ts'
import { startReceiver } from '../support/receiver.ts'
import { createPerson } from './cli-cast.ts'

/** For the server it is two hours ago: an overlap of one hour has ended by now. */
const THEN_US = systemClock.wallUs() - 7_200_000_000
const server = serveAccounts({ clock: createManualClock(THEN_US) })
const { accounts } = server
afterAll(server.stop)

let person: ReturnType<typeof createPerson>
let account = ''
let owner: { id: string; email: string }
let n = 0
beforeEach(async () => {
  const email = `person${++n}@example.com`
  account = (await accounts.create({ ...ADA, email })).account.id
  owner = { id: (await accounts.people.find(email))!.id, email }
  person = createPerson(server.url)
  await person.run(`login --email ${email} --password-stdin`, { stdin: ADA.password })
})

test('key create prints the secret alone on stdout', async () => {
  const { exitCode, stdout, stderr } = await person.run(['key', 'create', '--name', 'nightly import'])
  expect(exitCode).toBe(0)
  expect(accounts.findKey(stdout.trim())).toMatchObject({ account, write: true, read: false })
  expect(stderr).toContain('Key nightly import (key_')
  expect(stderr).not.toContain(stdout.trim())
})

test.each<[string, string[]]>([
  ['read', ['read']],
  ['write,read', ['write', 'read']],
  ['read,write,read', ['write', 'read']],
])('key create --scopes %s', async (given, scopes) => {
  const { stdout } = await person.run(`key create --name x --scopes ${given} --json`)
  expect(JSON.parse(stdout).key.scopes).toEqual(scopes)
})

/** Without the one that `stint login` made. */
const listed = async () => (await accounts.keys.list(account)).filter(({ name }) => !name.startsWith('stint on '))
const issue = (name: string, scope: 'read' | 'write') => accounts.keys.create(account, name, [scope], owner)

test('key list shows each key with its state, in columns with local times or as JSON', async () => {
  const first = (await listed()).at(-1)
  await issue('läuft 夜間', 'write')
  await accounts.keys.revoke(account, (await issue('old', 'read')).id)
  const second = await accounts.keys.rotate(account, first!.id, 3600)
  await accounts.keys.rotate(account, second.id, 4 * 3600)
  const { stdout } = await person.run('key list')
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.includes('stint on '))
  expect(lines[0]).toMatch(/^ID +NAME +KEY +SCOPES +CREATED +LAST USED +STATE$/)
  const shown = await listed()
  const inHours = (hours: number) => formatLocalTime(new Date(THEN_US / 1000 + hours * 3_600_000).toISOString())
  const row = (name: string, i: number, scopes: string, state: string): string[] => [
    name,
    `${shown[i]!.prefix}…`,
    scopes,
    inHours(0),
    'never',
    state,
  ]
  expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(1))).toEqual([
    row('first key', 0, 'write,read', 'active'),
    row('first key', 1, 'write,read', `active until ${inHours(4)}`),
    row('old', 2, 'read', `revoked ${inHours(0)}`),
    row('läuft 夜間', 3, 'write', 'active'),
    row('first key', 4, 'write,read', `expired ${inHours(1)}`),
  ])
  const column = Bun.stringWidth(lines[0]!.split('KEY')[0]!)
  for (const line of lines.slice(1)) expect(Bun.stringWidth(line.split('stint_')[0]!)).toBe(column)
  const json = JSON.parse((await person.run('key list --json')).stdout)
  expect(json.keys).toHaveLength(6)
  expect(json.keys.at(-1)).toHaveProperty('last_used_at', null)
})

test('key rotate prints a new secret and keeps the old one valid for the given time', async () => {
  const old = await issue('x', 'read')
  const { stdout, stderr, exitCode } = await person.run(`key rotate ${old.id} --overlap 30m`)
  expect(exitCode).toBe(0)
  expect(accounts.findKey(stdout.trim())).toMatchObject({ account, read: true })
  expect(stderr).toContain('The old key expires in 1800 s.')
  expect((await listed())[1]!.expires_at).toBe(toTime(accounts.clock.wallUs() / 1000 + 1_800_000))
  const at = accounts.findKey(stdout.trim())!.keyId
  expect((await person.run(`key rotate ${at}`)).stderr).toContain('The old key is revoked.')
  expect(accounts.findKey(stdout.trim())).toBeUndefined()
})

test('key revoke ends a key at once', async () => {
  const key = await issue('x', 'read')
  expect((await person.run(`key revoke ${key.id}`)).exitCode).toBe(0)
  expect(accounts.findKey(key.secret)).toBeUndefined()
})

test('refuses an unknown key and an id that would be a path', async () => {
  for (const id of ['key_none', '../account', '..', 'a/b?c#d']) {
    for (const line of [
      ['key', 'revoke', id],
      ['key', 'rotate', id],
    ]) {
      const { exitCode, stderr } = await person.run(line)
      expect(exitCode).toBe(1)
      expect(stderr).toContain('Not found')
    }
  }
  expect(await accounts.get(account)).toBeDefined()
})

describe('a usage error exits with 2 and prints the usage', () => {
  test.each<[string, string]>([
    ['', 'Usage: stint'],
    ['nope', "unknown command 'nope'"],
    ['key', 'Usage: stint key'],
    ['key nope --help', "unknown command 'nope'"],
    ['key create', "required option '--name <name>'"],
    [
      'key create --name x --scopes admin',
      'Expected write, read, manage, several of them such as write,read, or ping alone.',
    ],
    ['key list x', 'too many arguments'],
    ['key rotate', "missing required argument 'id'"],
    ['key rotate key_x --overlap 1w', 'Expected a span such as'],
    ['key rotate key_x --overlap 31d', 'at most 30d'],
    ['key list --jsn', "unknown option '--jsn'"],
    ['login --password-stdin', 'cannot ask for the e-mail address: not a terminal; pass --email'],
  ])('stint %s', async (line, expected) => {
    const { exitCode, stdout, stderr } = await person.run(line.split(' ').filter(Boolean))
    expect(stderr).toContain(expected)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  })

  test.each(['nonsense', 'ftp://x', 'http://x/?a=1', '127.0.0.1:7070'])('STINT_URL=%s', async (STINT_URL) => {
    const { exitCode, stderr } = await person.run('key list', { env: { STINT_URL } })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('invalid STINT_URL: expected an address')
  })
})

test.each([[], ['account', 'create'], ['key', 'rotate']])('stint %s %s --help', async (...command: string[]) => {
  const { exitCode, stdout } = await person.run([...command, '--help'])
  expect(exitCode).toBe(0)
  expect(stdout).toStartWith(`Usage: ${['stint', ...command].join(' ')}`)
})

test('ignores a trailing slash of STINT_URL and keeps its path', async () => {
  expect((await person.run('key list', { env: { STINT_URL: `${server.url}/` } })).exitCode).toBe(0)
  using other = startReceiver(() => Response.json({ title: 'x' }, { status: 403 }))
  const env = { STINT_URL: `${other.url}/behind/a/proxy/` }
  await person.run('login --email a@b.cd --password-stdin', { stdin: 'x', env })
  expect(other.requests.map(({ path }) => path)).toEqual(['/behind/a/proxy/api/session'])
})
