import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
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

  test('makes a key for this machine, unless one is set, and tells when it cannot be saved', async () => {
    expect((await create()).stderr).toContain(`a key for this machine is saved in ${person.home}/.config/stint.json`)
    const listed = await person.run('key list --json')
    expect(listed).toMatchObject({ exitCode: 0, stderr: '' })
    email = `again${n}@example.com`
    expect((await create()).stderr).toContain('the key that is set stays')
    const other = createPerson(server.url)
    writeFileSync(join(other.home, '.config'), 'a file')
    const line = ['account', 'create', '--email', `other${n}@example.com`, '--password-stdin']
    const made = await other.run(line, { stdin: PASSWORD })
    expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^stint_/) })
    expect(made.stderr).toContain('stint login makes a key for this machine: cannot save the key')
  })

  test('prints the whole answer with --json', async () => {
    const { stdout } = await create(' --json')
    expect(JSON.parse(stdout)).toMatchObject({
      account: { email },
      key: { name: 'first key', scopes: ['write', 'read'] },
    })
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

  test('sends the setup code', async () => {
    const guarded = serveAccounts({ setupCodeRequired: true, setupCode: 'open sesame' })
    const owner = createPerson(guarded.url)
    const line = ['account', 'create', '--email', email, '--password-stdin']
    expect((await owner.run(line, { stdin: PASSWORD })).stderr).toContain('The setup code is missing or wrong')
    expect((await owner.run([...line, '--setup-code', 'open sesame'], { stdin: PASSWORD })).exitCode).toBe(0)
    guarded.stop()
  })

  test('asks for the address and twice for the password on a terminal', async () => {
    const made = await person.run('account create', { typed: [` ${email} `, PASSWORD, PASSWORD] })
    expect(made.stderr).toStartWith('E-mail address: New password: New password again: Account ')
    expect(made.exitCode).toBe(0)
    const differs = await person.run('account create', { typed: [email, PASSWORD, 'another'] })
    expect(differs).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('the two passwords differ') })
  })

  test.each([
    ['account create --password-stdin', '--email'],
    ['account create --email a@b.cd', '--password-stdin'],
  ])('is a usage error without a terminal: %s', async (line, flag) => {
    expect(await person.run(line)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`not a terminal; pass ${flag}`),
    })
  })

  test('a password with spaces and a line ending of another system arrives as it is', async () => {
    await person.run(`account create --email ${email} --password-stdin`, { stdin: '  spaces at both ends  \r\nmore' })
    await server.accounts.people.signIn({ email, password: '  spaces at both ends  ', address: '' })
  })

  test('warns when the password goes over the wire in the clear', async () => {
    const env = { STINT_URL: 'http://stint.invalid:1' }
    const line = `account create --email ${email} --password-stdin`
    expect((await person.run(line, { stdin: PASSWORD, env })).stderr).toContain('is not https')
    expect((await create()).stderr).not.toContain('https')
  })
})

describe('an unreachable server', () => {
  test('is reported differently from a server that refuses', async () => {
    const { exitCode, stderr } = await createPerson('http://127.0.0.1:1').run('login --email a@b.cd --password-stdin', {
      stdin: 'x',
    })
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
    const { exitCode, stderr } = await createPerson(other.url).run('login --email a@b.cd --password-stdin', {
      stdin: 'x',
    })
    expect(exitCode).toBe(1)
    expect(stderr).toContain(expected)
  })
})
