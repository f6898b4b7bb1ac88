import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveAccounts } from '../http/accounts/serve-accounts.ts'
import { startReceiver } from '../support/receiver.ts'
import { createPerson } from './cli-cast.ts'

const server = serveAccounts()
afterAll(server.stop)

const PASSWORD = 'correct horse battery'
let n = 0
let email = ''
let person: ReturnType<typeof createPerson>
beforeEach(() => {
  email = `person${++n}@example.com`
  person = createPerson(server.url)
  server.from(`192.0.2.${n}`)
})
const create = (flags = '') =>
  person.run(`account create --email ${email} --password-stdin${flags}`, { stdin: PASSWORD })

describe('account create', () => {
  test('prints the key and nothing else on stdout, and it works', async () => {
    const { exitCode, stdout, stderr } = await create()
    expect(stderr).toContain(`Account ${email} created`)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^stint_[0-9A-Za-z]{42}\n$/)
    expect(server.accounts.findKey(stdout.trim())).toBeDefined()
    expect(stderr).not.toContain(stdout.trim())
    expect(stderr).toContain('x-stint-api-key')
  })

  test('prints the whole answer with --json', async () => {
    const { stdout } = await create(' --json')
    expect(JSON.parse(stdout)).toMatchObject({
      account: { email },
      key: { name: 'first key', scopes: ['write', 'read'] },
    })
  })

  test('signs in and stores the session per server, readable only by the user', async () => {
    await create()
    expect(statSync(person.sessionPath).mode & 0o777).toBe(0o600)
    expect(statSync(join(person.sessionPath, '..')).mode & 0o777).toBe(0o700)
    const kept = JSON.parse(readFileSync(person.sessionPath, 'utf8'))
    expect(Object.keys(kept)).toEqual([server.url])
    expect(await server.accounts.sessions.find(kept[server.url].token)).toBeDefined()
    expect(readFileSync(person.sessionPath, 'utf8')).not.toContain(PASSWORD)
    expect((await person.run('key list')).exitCode).toBe(0)
    expect((await person.run('key list', { env: { STINT_URL: 'http://127.0.0.1:1' } })).stderr).toContain(
      'not signed in',
    )
  })

  test('prints the error of the server', async () => {
    const { exitCode, stdout, stderr } = await person.run('account create --email nobody --password-stdin', {
      stdin: 'short',
    })
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toBe(
      'stint: The body is not valid. The body has 2 errors.\n  password must have at least 8 characters\n  email must be an e-mail address\n',
    )
  })

  test('sends the set-up code', async () => {
    const guarded = serveAccounts({ setupCodeRequired: true, setupCode: 'open sesame' })
    const owner = createPerson(guarded.url)
    const line = ['account', 'create', '--email', email, '--password-stdin']
    expect((await owner.run(line, { stdin: PASSWORD })).stderr).toContain('The set-up code is missing or wrong')
    expect((await owner.run([...line, '--setup-code', 'open sesame'], { stdin: PASSWORD })).exitCode).toBe(0)
    guarded.stop()
  })

  test('is a usage error without a terminal and without --password-stdin', async () => {
    const { exitCode, stderr } = await person.run(`account create --email ${email}`)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('--password-stdin')
  })

  test('warns when the password goes over the wire in the clear', async () => {
    const env = { STINT_URL: 'http://stint.invalid:1' }
    const line = `account create --email ${email} --password-stdin`
    expect((await person.run(line, { stdin: PASSWORD, env })).stderr).toContain('is not https')
    expect((await create()).stderr).not.toContain('https')
  })
})

describe('account login and logout', () => {
  test('sign in from another machine and out again', async () => {
    await create()
    const elsewhere = createPerson(server.url)
    expect((await elsewhere.run('key list')).stderr).toContain(
      `not signed in to ${server.url}: run stint account login`,
    )
    const login = await elsewhere.run(`account login --email ${email}`, { typed: [PASSWORD] })
    expect(login).toEqual({ exitCode: 0, stdout: '', stderr: `Password: Signed in to ${server.url} as ${email}.\n` })
    expect((await elsewhere.run('key list')).exitCode).toBe(0)

    const { token } = JSON.parse(readFileSync(elsewhere.sessionPath, 'utf8'))[server.url]
    expect((await elsewhere.run('account logout')).exitCode).toBe(0)
    expect(await server.accounts.sessions.find(token)).toBeUndefined()
    expect(JSON.parse(readFileSync(elsewhere.sessionPath, 'utf8'))).toEqual({})
    expect((await elsewhere.run('key list')).exitCode).toBe(1)
    expect((await elsewhere.run('account logout')).exitCode).toBe(0)
    expect((await person.run('key list')).exitCode).toBe(0)
  })

  test('a wrong password is refused and no session is stored', async () => {
    await create()
    const elsewhere = createPerson(server.url)
    const login = await elsewhere.run(`account login --email ${email} --password-stdin`, { stdin: 'wrong\n' })
    expect(login.exitCode).toBe(1)
    expect(login.stderr).toContain('The e-mail address or the password is wrong')
    expect((await elsewhere.run('key list')).stderr).toContain('not signed in')
  })

  test('logout works and says so when the session had already ended', async () => {
    await create()
    const { token } = JSON.parse(readFileSync(person.sessionPath, 'utf8'))[server.url]
    const found = (await server.accounts.sessions.find(token))!
    await server.accounts.sessions.revoke(found.person, found.id)
    const { exitCode, stderr } = await person.run('key list')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('expired: run stint account login again')
    expect((await person.run('account logout')).exitCode).toBe(0)
    expect((await person.run('key list')).stderr).toContain('not signed in')
  })

  test('a password with spaces and a line ending of another system arrives as it is', async () => {
    await person.run(`account create --email ${email} --password-stdin`, { stdin: '  spaces at both ends  \r\nmore' })
    await server.accounts.people.signIn({ email, password: '  spaces at both ends  ', address: '' })
  })

  test('reports the path of a damaged session file', async () => {
    await create()
    writeFileSync(person.sessionPath, '{')
    const { exitCode, stderr } = await person.run('key list')
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`cannot read ${person.sessionPath}: invalid JSON; delete it and sign in again`)
  })
})

describe('several accounts', () => {
  test('are listed, and the session is in another one from `account use` on', async () => {
    await create()
    const other = await server.accounts.create({ email: `owner${n}@example.com`, password: PASSWORD, address: '::1' })
    const { token } = await server.accounts.invitations.create(other.seat, email, 'viewer')
    await server.accounts.invitations.join(token, (await server.accounts.people.find(email))!)
    const { stdout } = await person.run('account list')
    expect(stdout).toMatch(new RegExp(`owner +${email} +in use\\n`))
    expect(stdout).toMatch(new RegExp(`${other.account.id} +viewer +owner${n}@example.com\\n`))
    expect(await person.run(`account use owner${n}@example.com`)).toMatchObject({
      exitCode: 0,
      stderr: `Your session is in the account owner${n}@example.com now.\n`,
    })
    const { account, role } = JSON.parse((await person.run('account list --json')).stdout)
    expect({ id: account.id, role }).toEqual({ id: other.account.id, role: 'viewer' })
    expect(await person.run('account use nothing')).toMatchObject({
      exitCode: 1,
      stderr: 'stint: no account of yours is called nothing\n',
    })
  })
})

describe('an unreachable server', () => {
  test('is reported differently from a server that refuses', async () => {
    const { exitCode, stderr } = await createPerson('http://127.0.0.1:1').run(
      'account login --email a@b.cd --password-stdin',
      {
        stdin: 'x',
      },
    )
    expect(exitCode).toBe(1)
    expect(stderr).toBe(
      'stint: cannot reach Stint at http://127.0.0.1:1 (connection refused); is it running, and is STINT_URL right?\n',
    )
  })

  test.each<[string, () => Response, string]>([
    ['a proxy', () => new Response('<h1>Bad gateway</h1>', { status: 502 }), 'is not Stint (status 502)'],
    ['a web page', () => new Response('<h1>Hello</h1>'), 'is not Stint (status 200)'],
    [
      'broken JSON',
      () => new Response('{', { headers: { 'content-type': 'application/json' } }),
      'invalid JSON in the answer',
    ],
    ['a redirect', () => Response.redirect('http://127.0.0.1:1/'), 'cannot reach Stint'],
    [
      'colours and cursor movements',
      () =>
        Response.json(
          { title: '\u001b[31mNo', detail: 'a\rb', errors: [{ pointer: '/\u001b]0;x\u0007', detail: 'c\nd' }] },
          { status: 422, headers: { 'content-type': 'application/problem+json' } },
        ),
      'stint: \\x1b[31mNo. a\\rb\n  \\x1b]0;x\\x07 c\\nd\n',
    ],
  ])('%s that answers instead is recognised', async (_, answer, expected) => {
    using other = startReceiver(answer)
    const { exitCode, stderr } = await createPerson(other.url).run('account login --email a@b.cd --password-stdin', {
      stdin: 'x',
    })
    expect(exitCode).toBe(1)
    expect(stderr).toContain(expected)
  })
})
