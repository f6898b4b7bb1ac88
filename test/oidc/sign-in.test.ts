// Signing in at a real provider: who gets in where, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '../../src/wire/roles.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createCaller, PASSWORD, signUpAt } from '../support/caller.ts'
import { CLIENT, createBrowser, type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { ownerOf } from '../support/people.ts'
import { takePort } from '../support/ports.ts'

let provider: IdentityProvider
let app: TestApp
let url: string
const strictPort = takePort()
const open = async (port: number, env: Record<string, string> = {}) =>
  startApp({
    signup: 'open',
    env: {
      PORT: String(port),
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_NAME: 'Example Ltd',
      ...env,
    },
  })

beforeAll(async () => {
  const port = takePort()
  url = `http://127.0.0.1:${port}`
  const callbacks = [port, strictPort].map((port) => `http://127.0.0.1:${port}/auth/oidc/callback`)
  provider = await startIdentityProvider(takePort(), callbacks)
  app = await open(port, { OIDC_ROLES: 'groups:admins=owner, groups:staff=viewer' })
})
afterAll(async () => {
  await app.stop()
  await provider.stop()
})

type Browser = ReturnType<typeof createBrowser>

/** To the callback and through it. */
async function signIn(browser: Browser, returnTo = '/'): Promise<Response> {
  const begin = `${url}/auth/oidc?return_to=${encodeURIComponent(returnTo)}`
  return browser.visit(await browser.follow(begin, new URL(url).host, '/auth/oidc/callback'))
}
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code]
async function session(browser: Browser) {
  const answer = await browser.visit(`${url}/api/session`)
  const state = (await answer.json()) as {
    signed_in: boolean
    person: { email: string }
    role: string
    account: { id: string; email: string }
  }
  return state.signed_in ? state : undefined
}

const idOf = async (name: string) =>
  (await app.rooms.accounts.members.list(app.account)).find(({ email }) => email === `${name}@example.com`)!.id

const invite = async (email: string, role: Role) =>
  app.rooms.accounts.invitations.create(await ownerOf(app), email, role)

describe('someone new', () => {
  test('whom nobody invited is refused', async () => {
    provider.user = { sub: 'new-1', email: 'new@example.com', email_verified: true }
    const browser = createBrowser()
    expect(await codeOf(await signIn(browser))).toEqual([403, 'not_invited'])
    expect(await session(browser)).toBeUndefined()
    expect(await app.rooms.accounts.people.find('new@example.com')).toBeUndefined()
  })

  test('with an unverified address is refused, invited or not', async () => {
    await invite('unverified@example.com', 'member')
    for (const email_verified of [false, undefined]) {
      provider.user = {
        sub: 'unv',
        email: 'unverified@example.com',
        ...(email_verified !== undefined && { email_verified }),
      }
      expect(await codeOf(await signIn(createBrowser()))).toEqual([403, 'email_unverified'])
    }
  })

  test('who was invited joins with the role of the invitation, and lands where the sign-in began', async () => {
    await invite('bob@example.com', 'member')
    provider.user = { sub: 'bob', email: 'Bob@Example.com', email_verified: true }
    const browser = createBrowser()
    const response = await signIn(browser, '/#/runs?process=a')
    expect([response.status, response.headers.get('location')]).toEqual([302, '/#/runs?process=a'])
    expect(await session(browser)).toMatchObject({
      person: { email: 'bob@example.com', password: false },
      role: 'member',
      account: { id: app.account },
    })
    expect(await app.rooms.accounts.invitations.list(app.account)).not.toContainEqual(
      expect.objectContaining({ email: 'bob@example.com' }),
    )
  })

  test('whose claims give a role joins the account of the operator', async () => {
    provider.user = { sub: 'carol', email: 'carol@example.com', email_verified: true, groups: ['x', 'staff'] }
    const browser = createBrowser()
    expect((await signIn(browser)).status).toBe(302)
    expect(await session(browser)).toMatchObject({ role: 'viewer' })
  })
})

describe('someone known', () => {
  test('is recognised by issuer and subject, whatever the address is now', async () => {
    provider.user = { sub: 'bob', email: 'robert@example.com', email_verified: true }
    const browser = createBrowser()
    expect((await signIn(browser)).status).toBe(302)
    expect(await session(browser)).toMatchObject({ person: { email: 'bob@example.com' } })
  })

  test('gets the role of the claims at each sign-in', async () => {
    provider.user = { sub: 'carol', email: 'carol@example.com', email_verified: true, groups: ['staff', 'admins'] }
    const browser = createBrowser()
    await signIn(browser)
    expect(await session(browser)).toMatchObject({ role: 'owner' })
    provider.user = { sub: 'carol', email: 'carol@example.com', email_verified: true, groups: ['staff'] }
    await signIn(browser)
    expect(await session(browser)).toMatchObject({ role: 'viewer' })
  })

  test('follows the claims down to a viewer when no rule matches any more', async () => {
    const enterAs = async (groups: string[]) => {
      provider.user = { sub: 'carol', email: 'carol@example.com', email_verified: true, groups }
      const browser = createBrowser()
      await signIn(browser)
      return (await session(browser))?.role
    }
    expect([await enterAs(['admins']), await enterAs([]), await enterAs(['admins'])]).toEqual([
      'owner',
      'viewer',
      'owner',
    ])
    await app.rooms.accounts.members.changeRole({ account: app.account, person: await idOf('carol') }, 'member')
    expect([await enterAs([]), await enterAs([])]).toEqual(['member', 'member']) // given by hand
  })

  test('keeps a role by invitation that no claim gave', async () => {
    provider.user = { sub: 'bob', email: 'bob@example.com', email_verified: true, groups: ['guests'] }
    const browser = createBrowser()
    await signIn(browser)
    expect(await session(browser)).toMatchObject({ role: 'member' })
  })

  test('stays an owner as the last one, whatever the claims say', async () => {
    const seat = await ownerOf(app)
    const { email } = (await app.rooms.accounts.members.list(app.account)).find(({ id }) => id === seat.person)!
    provider.user = { sub: 'first', email, email_verified: true, groups: ['staff'] }
    const browser = createBrowser()
    await signIn(browser)
    expect(await session(browser)).toMatchObject({ role: 'owner', person: { email } })
    for (const groups of [['admins'], []]) {
      provider.user = { sub: 'first', email, email_verified: true, groups }
      await signIn(browser)
    }
    expect(await session(browser)).toMatchObject({ role: 'owner' })
  })

  test('whose address a stranger may have claimed chooses what becomes of the account; the claim has ended', async () => {
    const dora = await signUpAt(url, 'dora@example.com')
    provider.user = { sub: 'dora', email: 'dora@example.com', email_verified: true }
    const browser = createBrowser()
    expect((await signIn(browser)).status).toBe(302)
    expect(await session(browser)).toMatchObject({
      person: { email: 'dora@example.com' },
      account: { id: dora.account },
    })
    expect((await dora.bySession.get('/api/sessions')).status).toBe(401)
    expect((await dora.byKey.get('/api/timings')).json.code).toBe('account_disputed')
    expect((await dora.byKey.post('/v1/start', { process: 'p' })).status).toBe(201)
    const again = { email: 'dora@example.com', password: PASSWORD }
    expect((await createCaller(url).post('/api/session', again)).status).toBe(401)
    await signIn(createBrowser()) // linked now: nothing ends any more
    expect(await session(browser)).toBeDefined()
  })

  test('is not linked by an address that the provider has not verified', async () => {
    await signUpAt(url, 'eve-target@example.com')
    provider.user = { sub: 'eve', email: 'eve-target@example.com', email_verified: false }
    expect(await codeOf(await signIn(createBrowser()))).toEqual([403, 'email_unverified'])
  })
})

describe('a callback', () => {
  const callbackOf = (browser: Browser) => browser.follow(`${url}/auth/oidc`, new URL(url).host, '/auth/oidc/callback')
  beforeAll(() => {
    provider.user = { sub: 'bob', email: 'bob@example.com', email_verified: true }
  })

  test('is good once', async () => {
    const browser = createBrowser()
    const callback = await callbackOf(browser)
    const cookies = new Map(browser.cookies(url))
    expect((await browser.visit(callback)).status).toBe(302)
    expect(await codeOf(await browser.visit(callback))).toEqual([400, 'sign_in_expired'])
    for (const [name, value] of cookies) browser.cookies(url).set(name, value)
    expect(await codeOf(await browser.visit(callback))).toEqual([401, 'sign_in_refused'])
  })

  test('is refused in another browser, without state, and with the state of another sign-in', async () => {
    const [one, other] = [createBrowser(), createBrowser()]
    const [mine, theirs] = [await callbackOf(one), await callbackOf(other)]
    expect(await codeOf(await createBrowser().visit(mine))).toEqual([400, 'sign_in_expired'])
    expect(await codeOf(await one.visit(theirs))).toEqual([400, 'sign_in_expired'])
    const third = createBrowser()
    const bare = new URL(await callbackOf(third))
    bare.searchParams.delete('state')
    expect(await codeOf(await third.visit(bare))).toEqual([400, 'sign_in_expired'])
  })

  test('is refused after ten minutes, and with a changed cookie', async () => {
    const [late, forged] = [createBrowser(), createBrowser()]
    const callback = await callbackOf(forged)
    const jar = forged.cookies(url)
    const value = jar.get('stint_sign_in')!
    jar.set('stint_sign_in', `${Buffer.from('{}').toString('base64url')}.${value.split('.')[1]}`)
    expect(await codeOf(await forged.visit(callback))).toEqual([400, 'sign_in_expired'])
    const slow = await callbackOf(late)
    app.clock.step(601_000_000)
    expect(await codeOf(await late.visit(slow))).toEqual([400, 'sign_in_expired'])
    app.clock.step(-601_000_000)
  })

  test('by POST is no callback', async () => {
    const callback = await callbackOf(createBrowser())
    const { status } = await fetch(callback, { method: 'POST', body: new URLSearchParams(new URL(callback).search) })
    expect(status).toBe(405)
  })

  test('says that the user refused at the provider, and shows a browser a page', async () => {
    provider.user = undefined
    const browser = createBrowser()
    const callback = await callbackOf(browser)
    const page = await browser.visit(callback, 'text/html,*/*')
    expect([page.status, page.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
    const text = await page.text()
    expect(text).toContain('Example Ltd did not confirm who you are')
    expect(text).not.toContain('access_denied')
    provider.user = { sub: 'bob', email: 'bob@example.com', email_verified: true }
  })

  test.each(['/\\evil.example', 'https://evil.example', '/a\r\nb: c'])(
    'never leads to another site: %j',
    async (returnTo) => {
      expect((await signIn(createBrowser(), returnTo)).headers.get('location')).toBe('/')
    },
  )
})

test('a session from the provider ends after twelve hours', async () => {
  provider.user = { sub: 'bob', email: 'bob@example.com', email_verified: true }
  const browser = createBrowser()
  await signIn(browser)
  app.clock.step(11 * 3_600_000_000)
  expect(await session(browser)).toBeDefined()
  app.clock.step(2 * 3_600_000_000)
  expect(await session(browser)).toBeUndefined()
  app.clock.step(-13 * 3_600_000_000)
})

test('new keys of the provider need no restart', async () => {
  await provider.rotateKeys()
  const browser = createBrowser()
  expect((await signIn(browser)).status).toBe(302)
  expect(await session(browser)).toBeDefined()
})

test('a browser that came by another name is sent to the public address first', async () => {
  const { headers } = await fetch(`${url.replace('127.0.0.1', 'localhost')}/auth/oidc?return_to=%2F`, {
    redirect: 'manual',
  })
  expect(headers.get('location')).toBe(`${url}/auth/oidc?return_to=%2F&moved`)
})

test('the sign-in page shows the name of the provider', async () => {
  const { json } = await app.fetch('/api/sign-up')
  expect(json).toMatchObject({ passwords: true, provider: { name: 'Example Ltd' } })
})

test('no token and no secret reach the log', () => {
  const log = app.log.join('')
  expect(log).not.toContain(CLIENT.secret)
  expect(log).not.toMatch(/code=|eyJ|stint_sign_in/)
})

test('with PASSWORD_SIGN_IN=false passwords are refused; a role from claims falls to OIDC_JOIN', async () => {
  const settings = { PASSWORD_SIGN_IN: 'false', OIDC_ROLES: 'groups:admins=owner', OIDC_JOIN: 'member' }
  await using strict = await open(strictPort, settings)
  const body = { email: 'a@example.com', password: PASSWORD }
  expect((await createCaller(strict.url).post('/api/session', body)).json.code).toBe('password_sign_in_off')
  const enterAs = async (groups: string[]) => {
    provider.user = { sub: 'gil', email: 'gil@example.com', email_verified: true, groups }
    const browser = createBrowser()
    await browser.visit(
      await browser.follow(`${strict.url}/auth/oidc`, new URL(strict.url).host, '/auth/oidc/callback'),
    )
    const shown = await browser.visit(`${strict.url}/api/session`)
    return ((await shown.json()) as { role: Role }).role
  }
  expect([await enterAs(['admins']), await enterAs([])]).toEqual(['owner', 'member'])
})

test('a provider that is away gets a clear answer, and passwords still work', async () => {
  const port = takePort()
  const away = await open(port, { OIDC_ISSUER: `http://127.0.0.1:${takePort()}`, OIDC_JOIN: 'viewer' })
  const page = await fetch(`${away.url}/auth/oidc`, { headers: { accept: 'text/html' }, redirect: 'manual' })
  expect(page.status).toBe(503)
  expect(await page.text()).toContain('Example Ltd cannot be reached. Passwords still work')
  await away.stop()
})
