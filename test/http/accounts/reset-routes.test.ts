// A new password, and the confirmation of an address, through a real SMTP server.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { type ApiCaller, createCaller, PASSWORD, signInAt } from '../../support/caller.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { until } from '../../support/until.ts'

describe('e-mail', () => {
  let smtp: Awaited<ReturnType<typeof startMailServer>>
  let app: TestApp
  let nobody: ApiCaller
  beforeAll(async () => {
    smtp = await startMailServer()
    app = await startApp({ env: { SMTP_URL: smtp.url, MAIL_FROM: 'Stint <stint@example.com>' } })
    nobody = createCaller(app.url)
  })
  afterAll(async () => {
    await app.stop()
    smtp.close()
  })

  test('where strangers reach the port, nothing is mailed without PUBLIC_URL: its links hold tokens', async () => {
    const env = { HOST: '0.0.0.0', SMTP_URL: smtp.url, MAIL_FROM: 'stint@example.com' }
    const forgotAt = async (more: Record<string, string>) => {
      await using open = await startApp({ env: { ...env, ...more } })
      const { status } = await open.post('/api/password/forgot', { email: 'eve@example.com' })
      return [status, open.log.some((line) => line.includes('no e-mail is sent'))]
    }
    expect(await forgotAt({})).toEqual([404, true])
    expect(await forgotAt({ PUBLIC_URL: 'https://stint.example.com' })).toEqual([202, false])
  })

  test('sets a new password by a single-use link and ends all sessions; unknown addresses get the same answer', async () => {
    const { mails } = smtp
    const signIn = async (password: string) =>
      (await nobody.post('/api/session', { email: 'ada@example.com', password })).status
    const session = await signInAt(app.url)
    const unknown = await nobody.post('/api/password/forgot', { email: 'eve@example.com' })
    const known = await nobody.post('/api/password/forgot', { email: 'ada@example.com' })
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
    expect(known.status).toBe(202)
    await until('the e-mail arrives', () => mails.length > 0)
    expect(mails.map(({ to }) => to)).toEqual([['ada@example.com']])
    const token = /reset\?token=(\w{43})/.exec(mails[0]!.text)![1]!
    const reset = async (new_password: string) =>
      (await nobody.post('/api/password/reset', { token, new_password })).status
    expect(await reset('short')).toBe(422)
    expect(await reset('another long password')).toBe(204)
    expect(await reset('a third long password')).toBe(401)
    expect([await signIn(PASSWORD), await signIn('another long password')]).toEqual([401, 201])
    expect((await session.get('/api/sessions')).status).toBe(401)
    expect(app.log.join()).not.toContain(token)
  })

  test('confirms the address of a channel by a link, and then receives alerts there', async () => {
    const { mails } = smtp
    const ada = await signInAt(app.url, 'ada@example.com', 'another long password')
    mails.length = 0
    const { channel } = (await ada.post('/api/channels', { name: 'me', kind: 'email', to: 'ops@example.com' })).json
    const path = `/api/channels/${channel.id}`
    const stateOf = async () => (await ada.get(path)).json.channel.state
    const test = () => ada.post(`${path}/test`, {})
    expect(channel.state).toBe('pending')
    expect((await test()).status).toBe(502)
    await until('the link arrives', () => mails.length > 0)
    const linkIn = (text: string) => /\/api\/channels\/confirm\?token=[\w-]{43}/.exec(text)![0]
    const link = linkIn(mails[0]!.text)
    for (const method of ['GET', 'HEAD', 'GET']) {
      const opened = await nobody.call(method, link)
      expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      if (method === 'GET') expect(opened.text).toContain('<form method="post">')
    }
    expect(await stateOf()).toBe('pending')
    const press = (link: string) =>
      fetch(app.url + link, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(app.url).origin },
        body: '',
      })
    expect((await press(link)).status).toBe(200)
    expect((await press(link)).status).toBe(404)
    expect(await stateOf()).toBe('untested')
    expect((await test()).status).toBe(200)
    await until('the test arrives', () => mails.length > 1)
    expect(mails[1]!.to).toEqual(['ops@example.com'])
    expect(await stateOf()).toBe('delivered')
    const { text } = mails[1]!
    expect(text).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    const leave = /^List-Unsubscribe:\s+<[^>]*(\/api\/channels\/unsubscribe\?token=cha_\w+\.[\w-]+)>/m.exec(text)![1]!
    expect((await fetch(app.url + leave)).status).toBe(200)
    expect(await stateOf()).toBe('delivered')
    expect((await press(leave.slice(0, -1))).status).toBe(404)
    const byProgram = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }
    expect((await fetch(app.url + leave, byProgram)).status).toBe(200)
    expect(await stateOf()).toBe('disabled')
    const refused = await test()
    expect([refused.status, refused.text]).toEqual([502, expect.stringContaining('address is not confirmed')])
    mails.length = 0
    for (const times of [1, 2]) {
      expect((await ada.patch(path, { enabled: true })).status).toBe(200)
      await until('a link arrives', () => mails.length === times)
      expect(await stateOf()).toBe('pending')
    }
    const [old, next] = mails.map(({ text }) => linkIn(text))
    const shown = await nobody.get(old!, { accept: 'text/html' })
    expect([shown.status, shown.text]).toEqual([404, expect.stringContaining('<h1>This link does not work')])
    expect((await press(next!)).status).toBe(200)
    expect(await stateOf()).not.toBe('pending')
  })
})
