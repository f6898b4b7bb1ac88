// SIGNUP=open with e-mail: an address is proved before there is an account, and nobody is sent more than three e-mails.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { type Answer, type ApiCaller, createCaller, PASSWORD, signInAt } from '../../support/caller.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { until } from '../../support/until.ts'

let smtp: Awaited<ReturnType<typeof startMailServer>>
let app: TestApp
let nobody: ApiCaller
beforeAll(async () => {
  smtp = await startMailServer()
  const env = { SMTP_URL: smtp.url, MAIL_FROM: 'Stint <stint@example.com>', PUBLIC_URL: 'http://stint.test' }
  app = await startApp({ signup: 'open', env: { ...env, TRUST_PROXY: '1' } })
  nobody = createCaller(app.url)
})
beforeEach(() => {
  smtp.mails.length = 0
})
afterAll(async () => {
  await app.stop()
  smtp.close()
})

let networks = 0
/** From a network of its own. */
const from = () => ({ 'x-forwarded-for': `10.${++networks}.0.1` })
const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email))
const tokenIn = (text: string, page: string) => new RegExp(`#/${page}\\?token=(\\w{43})`).exec(text)![1]!
/** Once so many e-mails with links to this page have arrived. */
async function newestLink(email: string, page: string, count = 1): Promise<string> {
  const found = () => mailsTo(email).filter(({ text }) => text.includes(`#/${page}?`))
  await until('the link arrives', () => found().length === count)
  return tokenIn(found().at(-1)!.text, page)
}
const signUp = (email: string, more: object = {}, headers = from()) =>
  nobody.post('/api/accounts', { email, ...more }, headers)

async function proved(email: string): Promise<ApiCaller> {
  await signUp(email)
  const token = await newestLink(email, 'sign-up')
  expect((await nobody.post('/api/accounts/confirm', { token, password: PASSWORD }, from())).status).toBe(201)
  smtp.mails.length = 0
  return signInAt(app.url, email)
}

/** As 2.0 made it: the address was never proved, and nothing says who vouched for it. */
async function claimedBy2_0(email: string) {
  const made = await app.rooms.accounts.create({ email, password: PASSWORD, address: '203.0.113.9' })
  return { ...made, bySession: await signInAt(app.url, email), byKey: createCaller(app.url, { key: made.key.secret }) }
}

test('known and unknown addresses get the same answer, and an account begins with the link', async () => {
  const [unknown, known] = [
    await signUp('bob@example.com', { password: 'typed by a stranger' }),
    await signUp('ada@example.com'),
  ]
  expect([unknown.status, unknown.text, [...unknown.headers.keys()]]).toEqual([
    ...[known.status, known.text, [...known.headers.keys()]],
  ])
  expect([unknown.status, unknown.json]).toEqual([202, { sent: true }])
  const token = await newestLink('bob@example.com', 'sign-up')
  expect(
    tokenIn((await newestLink('ada@example.com', 'reset')) && mailsTo('ada@example.com')[0]!.text, 'reset'),
  ).toBeString()
  expect(
    (await nobody.post('/api/session', { email: 'bob@example.com', password: 'typed by a stranger' })).status,
  ).toBe(401)
  expect(await app.rooms.accounts.people.find('bob@example.com')).toBeUndefined()
  const made = await nobody.post('/api/accounts/confirm', { token, password: PASSWORD })
  expect([made.status, made.json.account.email, made.json.account.operator]).toEqual([201, 'bob@example.com', false])
  expect(made.headers.get('set-cookie')).toStartWith('stint_session')
  expect((await createCaller(app.url, { key: made.json.key.secret }).get('/api/timings')).status).toBe(200)
  expect((await nobody.post('/api/accounts/confirm', { token, password: PASSWORD })).json.code).toBe(
    'credentials_invalid',
  )
  expect((await signUp('no address')).status).toBe(422)
})

test('a fourth link a day is answered like the others, sends nothing and ends no link', async () => {
  const answers: Answer[] = []
  for (let i = 0; i < 5; i++) answers.push(await signUp('cy@example.com'))
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  const token = await newestLink('cy@example.com', 'sign-up', 3)
  expect((await nobody.post('/api/accounts/confirm', { token, password: PASSWORD })).status).toBe(201)
  expect(mailsTo('cy@example.com')).toHaveLength(3)
})

test('a site gets twenty links a day, whichever of its networks asks', async () => {
  const ask = (i: number) => signUp(`n${i}@example.com`, {}, { 'x-forwarded-for': `2001:db8:5:${i}::1` })
  const statuses = (await Promise.all(Array.from({ length: 22 }, (_, i) => ask(i)))).map(({ status }) => status)
  expect(statuses.filter((status) => status === 429)).toHaveLength(2)
  expect((await signUp('other@example.com')).status).toBe(202)
  app.clock.pass(12 * 3_600e6)
  const refused = await ask(30)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(12 * 3600)])
  app.clock.pass(12 * 3_600e6)
  expect((await ask(31)).status).toBe(202)
})

test('an invitation holds no text of a stranger, three go to an address, and each link stays valid', async () => {
  const dan = await proved('dan@example.com')
  await dan.patch('/api/account', { name: 'See http://evil.example' })
  const invite = async () =>
    (await dan.post('/api/invitations', { email: 'flo@example.com', role: 'viewer' })).json.invitation
  const urls: string[] = []
  for (const mailed of [true, true, true, false]) {
    const made = await invite()
    expect(made.mailed).toBe(mailed)
    if (!mailed) expect(made.mail).toContain('three e-mails')
    urls.push(made.url)
  }
  await until('three arrive', () => mailsTo('flo@example.com').length === 3)
  const text = mailsTo('flo@example.com')[0]!.text
  expect(text).not.toContain('evil')
  expect(text).toContain('dan@example.com invites you')
  const lookAt = async (url: string) =>
    (await nobody.post('/api/invitations/look', { token: url.split('=')[1] }, from())).status
  expect([await lookAt(urls[2]!), await lookAt(urls[3]!)]).toEqual([200, 200])
})

test('invitations that are refused use up no e-mail of the address', async () => {
  const ned = await proved('ned@example.com')
  const invite = (email: string) => ned.post('/api/invitations', { email, role: 'viewer' })
  for (let i = 0; i < 3; i++) expect((await invite('ned@example.com')).json.code).toBe('already_member')
  await signUp('ned@example.com')
  await newestLink('ned@example.com', 'reset')
})

test('a claim invites nobody until its address is confirmed, and its person is asked to choose then', async () => {
  const gil = await claimedBy2_0('gil@example.com')
  const refused = await gil.bySession.post('/api/invitations', { email: 'flo2@example.com', role: 'viewer' })
  expect([refused.status, refused.json.code]).toEqual([403, 'address_unproved'])
  expect((await gil.bySession.get('/api/session')).json.person.unconfirmed).toBe(true)
  expect((await gil.bySession.post('/api/address/confirmation', undefined)).status).toBe(202)
  const token = await newestLink('gil@example.com', 'confirm')
  const confirmed = await nobody.post('/api/address/confirm', { token })
  expect([confirmed.status, confirmed.json]).toEqual([200, { email: 'gil@example.com', password_ended: true }])
  expect((await nobody.post('/api/address/confirm', { token })).json.code).toBe('credentials_invalid')
})

/** The inviter opens the link that the answer shows, and sets a password of theirs. */
async function acceptAs(email: string, inviter: ApiCaller, role = 'member') {
  const { url } = (await inviter.post('/api/invitations', { email, role })).json.invitation
  const joined = await nobody.post('/api/invitations/accept', { token: url.split('=')[1], password: PASSWORD }, from())
  expect([joined.status, joined.json.person.unconfirmed]).toEqual([201, true])
  return createCaller(app.url, { cookie: joined.headers.get('set-cookie')!.split(';')[0] })
}
const signInWith = (email: string, password: string) => nobody.post('/api/session', { email, password }, from())

test('a person by invitation is asked to confirm, and loses nothing by it where they are signed in', async () => {
  const hal = await proved('hal@example.com')
  const ida = await acceptAs('ida@example.com', hal)
  const token = await newestLink('ida@example.com', 'confirm')
  expect((await ida.post('/api/address/confirm', { token })).json).toEqual({
    email: 'ida@example.com',
    password_ended: false,
  })
  expect((await ida.get('/api/session')).json.person.unconfirmed).toBe(false)
})

describe('an inviter who accepts in place of the invited keeps nothing', () => {
  test('after a confirmation in another browser', async () => {
    const hal = await proved('hal2@example.com')
    const other = await acceptAs('ian@example.com', hal)
    const token = await newestLink('ian@example.com', 'confirm')
    expect((await hal.post('/api/address/confirm', { token })).json).toEqual({
      email: 'ian@example.com',
      password_ended: true,
    })
    expect((await other.get('/api/session')).json.signed_in).not.toBe(true)
    expect((await signInWith('ian@example.com', PASSWORD)).status).toBe(401)
  })

  test('after a mailed password', async () => {
    const hal = await proved('hal3@example.com')
    const other = await acceptAs('jil@example.com', hal)
    await nobody.post('/api/password/forgot', { email: 'jil@example.com' }, from())
    const token = await newestLink('jil@example.com', 'reset')
    await nobody.post('/api/password/reset', { token, new_password: 'a password of Jil' }, from())
    expect((await other.get('/api/session')).json.signed_in).not.toBe(true)
    expect((await signInWith('jil@example.com', PASSWORD)).status).toBe(401)
  })

  test('after a sign-up: the account is a new one, not the one with keys of the inviter', async () => {
    const eve = await proved('eve@example.com')
    const early = (await signUp('kit@example.com')) && (await newestLink('kit@example.com', 'sign-up'))
    const asKit = await acceptAs('kit@example.com', eve, 'owner')
    const { person, account } = (await eve.get('/api/session')).json
    await asKit.delete(`/api/members/${person.id}?keys=take`)
    smtp.mails.length = 0
    app.clock.pass(24 * 3_600e6)
    await signUp('kit@example.com')
    const token = await newestLink('kit@example.com', 'sign-up')
    expect((await nobody.post('/api/accounts/confirm', { token: early, password: PASSWORD })).status).toBe(401)
    const made = await nobody.post('/api/accounts/confirm', { token, password: 'a password of Kit' }, from())
    expect([made.status, made.json.account.email]).toEqual([201, 'kit@example.com'])
    const cookie = made.headers.get('set-cookie')!.split(';')[0]!
    const kit = (await createCaller(app.url, { cookie }).get('/api/session')).json
    expect(kit).toMatchObject({ account: { id: made.json.account.id }, role: 'owner', person: { unconfirmed: false } })
    expect(kit.accounts.map(({ id }: { id: string }) => id).sort()).toEqual([account.id, kit.account.id].sort())
    expect(kit.account.id).not.toBe(account.id)
    expect((await asKit.get('/api/session')).json.signed_in).not.toBe(true)
    expect((await signInWith('kit@example.com', PASSWORD)).status).toBe(401)
    expect((await signInWith('kit@example.com', 'a password of Kit')).json.account.id).toBe(made.json.account.id)
  })
})

test('a disputed account answers nobody but its person, and that only the choice; keys that write go on', async () => {
  const jo = await claimedBy2_0('jo@example.com')
  await jo.bySession.post('/api/channels', { name: 'hook', kind: 'webhook', url: 'https://evil.example/hook' })
  const { watch } = (await jo.bySession.post('/api/watches', { name: 'w', process: 'p', failed: {}, channels: [] }))
    .json
  const { badge } = (await jo.bySession.post(`/api/watches/${watch.id}/badge`, undefined)).json.watch
  expect((await nobody.get(`${badge}.json`)).status).toBe(200)
  expect((await nobody.post('/api/password/forgot', { email: 'jo@example.com' }, from())).status).toBe(202)
  const token = await newestLink('jo@example.com', 'reset')
  expect((await nobody.post('/api/password/reset', { token, new_password: 'a password of Jo' }, from())).status).toBe(
    204,
  )
  expect((await jo.bySession.get('/api/sessions')).status).toBe(401)
  for (const path of ['/api/timings', '/api/watches', '/api/channels', '/api/prometheus'])
    expect((await jo.byKey.get(path)).json.code).toBe(
      path === '/api/watches' || path === '/api/channels' ? 'scope_missing' : 'account_disputed',
    )
  expect((await jo.byKey.post('/v1/start', { process: 'p' })).status).toBe(201)
  for (const form of ['json', 'svg']) expect((await nobody.get(`${badge}.${form}`)).status).toBe(404)
  const me = await signInAt(app.url, 'jo@example.com', 'a password of Jo')
  expect((await me.get('/api/session')).json).toMatchObject({ disputed: true, role: 'owner' })
  for (const path of ['/api/keys', '/api/members', '/api/exceptions', '/api/audit'])
    expect((await me.get(path)).json.code).toBe('account_disputed')
  const { json } = await me.get('/api/dispute')
  expect(json.made).toEqual([
    expect.objectContaining({
      ...{ what: 'key', name: 'first key', by: 'jo@example.com' },
      ...{ last_used_at: expect.any(String), used_from: '127.0.0.1' },
    }),
    expect.objectContaining({
      what: 'channel',
      name: 'hook (webhook)',
      by: 'jo@example.com',
      address: expect.any(String),
    }),
  ])
  const left = await me.post('/api/dispute', { choice: 'leave' })
  expect([left.status, left.json.account.email]).toEqual([200, 'jo@example.com'])
  expect((await me.get('/api/keys')).json.keys).toHaveLength(1)
  expect((await me.get('/api/channels')).json.channels).toEqual([])
  expect((await me.get('/api/dispute')).status).toBe(404)
  expect((await jo.byKey.post('/v1/start', { process: 'p' })).status).toBe(401)
  const actions = (await me.get('/api/audit')).json.entries.map(({ action }: { action: string }) => action)
  expect(actions).toContain('claim_left')
})

test('kept, the account is as it was', async () => {
  const kim = await claimedBy2_0('kim@example.com')
  await nobody.post('/api/password/forgot', { email: 'kim@example.com' }, from())
  const token = await newestLink('kim@example.com', 'reset')
  await nobody.post('/api/password/reset', { token, new_password: 'a password of Kim' }, from())
  const me = await signInAt(app.url, 'kim@example.com', 'a password of Kim')
  expect((await me.post('/api/dispute', { choice: 'keep' })).json).toMatchObject({
    account: { id: kim.account.id },
    key: null,
  })
  expect((await kim.byKey.get('/api/timings')).status).toBe(200)
  const entries = (await me.get('/api/audit')).json.entries as { action: string }[]
  expect(entries.map(({ action }) => action)).toEqual(expect.arrayContaining(['claim_ended', 'claim_kept']))
})

test('the confirmation of a channel holds no text of a stranger, and a fourth sends nothing and ends no link', async () => {
  const leo = await proved('leo@example.com')
  const body = { name: 'see http://evil.example', kind: 'email', to: 'mia@example.com' }
  const { channel } = (await leo.post('/api/channels', body)).json
  for (let i = 0; i < 2; i++) await leo.patch(`/api/channels/${channel.id}`, { enabled: true })
  await until('three arrive', () => mailsTo('mia@example.com').length === 3)
  app.clock.pass(3600e6)
  expect((await leo.patch(`/api/channels/${channel.id}`, { enabled: true })).status).toBe(200)
  expect(
    mailsTo('mia@example.com')
      .map(({ text }) => text)
      .join(),
  ).not.toContain('evil')
  const link = /\/api\/channels\/confirm\?token=[\w-]{43}/.exec(mailsTo('mia@example.com')[2]!.text)![0]
  expect((await nobody.get(link)).status).toBe(200)
  expect(mailsTo('mia@example.com')).toHaveLength(3)
})

test('without mail SIGNUP=open makes accounts at once, and the start warns', async () => {
  await using plain = await startApp({ signup: 'open' })
  const answer = await createCaller(plain.url).post('/api/accounts', { email: 'bob@example.com', password: PASSWORD })
  expect(answer.status).toBe(201)
  expect(plain.log.join()).toContain('addresses of others')
  const missing = await createCaller(plain.url).post('/api/accounts', { email: 'cy@example.com' })
  expect(missing.json).toMatchObject({ status: 422, errors: [{ pointer: '/password', detail: 'is required' }] })
})
