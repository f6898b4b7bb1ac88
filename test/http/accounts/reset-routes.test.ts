// A new password, and the confirmation of an address, through a real SMTP server.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SMTPServer } from 'smtp-server'
import { missing } from '../../support/needs.ts'
import { createStintProcess, type StintProcess } from '../../support/process.ts'
import { until } from '../../support/until.ts'

const mails: { to: string; text: string }[] = []
const smtp = new SMTPServer({
  authOptional: true,
  onData(stream, { envelope }, done) {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
    stream.on('end', () => {
      const text = Buffer.concat(chunks).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=')
      mails.push({ to: envelope.rcptTo[0]!.address, text })
      done()
    })
  },
})
describe.skipIf(missing('chdb') !== undefined)('e-mail', () => {
  let stint: StintProcess
  const ask = (path: string, body: object, cookie = '') =>
    fetch(stint.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
  beforeAll(async () => {
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', () => resolve()))
    const { port } = smtp.server.address() as { port: number }
    stint = createStintProcess({ SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Stint <stint@example.com>' })
    await stint.start()
    await stint.signUp('ada@example.com')
  })
  afterAll(async () => {
    await stint.close()
    smtp.close()
  })

  test('sets a new password by a single-use link and ends all sessions; unknown addresses get the same answer', async () => {
    const signIn = (password: string) => ask('/api/session', { email: 'ada@example.com', password })
    const before = await signIn('a long enough password of a test')
    const cookie = before.headers.get('set-cookie')!.split(';')[0]!
    const unknown = await ask('/api/password/forgot', { email: 'eve@example.com' })
    const known = await ask('/api/password/forgot', { email: 'ada@example.com' })
    expect([unknown.status, await unknown.text()]).toEqual([known.status, await known.text()])
    expect(known.status).toBe(202)
    await until('the e-mail arrives', () => mails.length > 0)
    expect(mails.map(({ to }) => to)).toEqual(['ada@example.com'])
    const token = /reset\?token=(\w{43})/.exec(mails[0]!.text)![1]!
    const reset = (new_password: string) => ask('/api/password/reset', { token, new_password })
    expect((await reset('short')).status).toBe(422)
    expect((await reset('another long password')).status).toBe(204)
    expect((await reset('a third long password')).status).toBe(401)
    expect((await signIn('a long enough password of a test')).status).toBe(401)
    expect((await signIn('another long password')).status).toBe(201)
    expect((await fetch(`${stint.url}/api/session`, { headers: { cookie } })).status).toBe(401)
    expect(stint.log()).not.toContain(token)
  })

  test('confirms the address of a channel by a link, and then receives alerts there', async () => {
    const signedIn = await ask('/api/session', { email: 'ada@example.com', password: 'another long password' })
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
    mails.length = 0
    const made = await ask('/api/channels', { name: 'me', kind: 'email', to: 'ops@example.com' }, cookie)
    const { channel } = (await made.json()) as { channel: { id: string; state: string } }
    expect(channel.state).toBe('pending')
    expect((await ask(`/api/channels/${channel.id}/test`, {}, cookie)).status).toBe(502)
    await until('the link arrives', () => mails.length > 0)
    const path = /\/api\/channels\/confirm\?token=[\w-]{43}/.exec(mails[0]!.text)![0]
    for (const method of ['GET', 'HEAD', 'GET']) {
      const opened = await fetch(stint.url + path, { method })
      expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      if (method === 'GET') expect(await opened.text()).toContain('<form method="post">')
    }
    const stateOf = async () => {
      const answer = await fetch(`${stint.url}/api/channels/${channel.id}`, { headers: { cookie } })
      return ((await answer.json()) as { channel: { state: string } }).channel.state
    }
    expect(await stateOf()).toBe('pending')
    const press = (link: string) =>
      fetch(stint.url + link, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(stint.url).origin },
        body: '',
      })
    expect((await press(path)).status).toBe(200)
    expect((await press(path)).status).toBe(404)
    expect(await stateOf()).toBe('untested')
    expect((await ask(`/api/channels/${channel.id}/test`, {}, cookie)).status).toBe(200)
    await until('the test arrives', () => mails.length > 1)
    expect(mails[1]!.to).toBe('ops@example.com')
    expect(await stateOf()).toBe('delivered')
    const text = mails[1]!.text.replace(/=\r?\n/g, '').replaceAll('=3D', '=')
    expect(text).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    const leave = /^List-Unsubscribe:\s+<[^>]*(\/api\/channels\/unsubscribe\?token=cha_\w+\.[\w-]+)>/m.exec(text)![1]!
    expect((await fetch(stint.url + leave)).status).toBe(200)
    expect(await stateOf()).toBe('delivered')
    expect((await press(leave.slice(0, -1))).status).toBe(404)
    const byProgram = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }
    expect((await fetch(stint.url + leave, byProgram)).status).toBe(200)
    expect(await stateOf()).toBe('disabled')
    const refused = await ask(`/api/channels/${channel.id}/test`, {}, cookie)
    expect([refused.status, await refused.text()]).toEqual([502, expect.stringContaining('address is not confirmed')])
    mails.length = 0
    for (const times of [1, 2]) {
      const enabled = await fetch(`${stint.url}/api/channels/${channel.id}`, {
        method: 'PATCH',
        headers: { cookie, 'content-type': 'application/json', origin: new URL(stint.url).origin },
        body: '{"enabled":true}',
      })
      expect(enabled.status).toBe(200)
      await until('a link arrives', () => mails.length === times)
      expect(await stateOf()).toBe('pending')
    }
    const [old, next] = mails.map(({ text }) => /\/api\/channels\/confirm\?token=[\w-]{43}/.exec(text)![0])
    const shown = await fetch(stint.url + old, { headers: { accept: 'text/html' } })
    expect([shown.status, await shown.text()]).toEqual([404, expect.stringContaining('<h1>This link does not work')])
    expect((await press(next!)).status).toBe(200)
    expect(await stateOf()).not.toBe('pending')
  })
})
