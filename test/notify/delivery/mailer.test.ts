// E-mail to a real SMTP server: STARTTLS, AUTH, greylisting, refusals.
import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { SMTPServerOptions } from 'smtp-server'
import { createDeliver } from '../../../src/notify/delivery/deliver.ts'
import { createMailer } from '../../../src/notify/delivery/mailer.ts'
import { createOutbox } from '../../../src/notify/delivery/outbox.ts'
import { createRepeatMails } from '../../../src/notify/delivery/repeat-mails.ts'
import { toBody } from '../../../src/watch/engine/describe-alert.ts'
import { createConfirmationMails } from '../../../src/watch/manage/confirmation-mails.ts'
import { createManageChannels } from '../../../src/watch/manage/manage-channels.ts'
import { createCertificate } from '../../support/certificate.ts'
import { type Mail, startMailServer } from '../../support/mail-server.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import {
  ACCOUNT,
  alertOf,
  channelOf,
  notificationOf,
  opened,
  openStore,
  silent,
  watchOf,
} from '../../watch/watch-cast.ts'

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

const publicUrl = () => 'https://stint.example'
const refusal = (code: number) => Object.assign(new Error('4.7.1 no'), { responseCode: code })

const readPair = ({ certPath, keyPath }: ReturnType<typeof createCertificate>) => ({
  cert: readFileSync(certPath),
  key: readFileSync(keyPath),
})

async function startSmtp(options: SMTPServerOptions = {}) {
  const smtp = await startMailServer({
    onAuth: ({ username, password }, _, done) =>
      username === 'stint' && password === 'p@ss' ? done(null, { user: username }) : done(refusal(535)),
    ...options,
  })
  stops.push(smtp.close)
  return smtp
}

function deliverTo(port: number, user = '', host = '127.0.0.1') {
  const mailer = createMailer({
    url: `smtp://${user}${host}:${port}`,
    from: 'Stint <stint@example.com>',
    timeoutMs: 10_000,
  })
  stops.push(() => mailer.close())
  const deliver = createDeliver({ post: { allowPrivate: false }, mailer, publicUrl, nowUs: () => 0 })
  const { id, body } = notificationOf('msg_1', 'cha_1')
  const channel = channelOf('cha_1', { kind: 'email', target: 'ada@example.com', secret: 'leave' })
  return () => deliver({ channel, id, bodies: [body], isStillFiring: false })
}

test('sends text and HTML over STARTTLS with AUTH', async () => {
  const { mails, port } = await startSmtp({ authOptional: false })
  expect(await deliverTo(port, 'stint:p%40ss@')()).toMatch(/^250/)
  const [{ from, to, text, user, secure }] = mails as [Mail]
  expect({ from, to, user, secure }).toEqual({
    from: 'stint@example.com',
    to: ['ada@example.com'],
    user: 'stint',
    secure: true,
  })
  expect(text).toContain('Subject: [Stint] Firing: ale_1 is late')
  expect(text).toContain('Message-ID: <msg_1@example.com>')
  expect(text).toContain('Auto-Submitted: auto-generated')
  expect(text).toContain('Content-Type: text/plain')
  expect(text).toContain('Process: nightly <import>')
  expect(text).toContain('Content-Type: text/html')
  expect(text).toContain('nightly &lt;import&gt;')
})

test('each e-mail is sent with what SMTP_URL is by then', async () => {
  const { mails, port } = await startSmtp({ authOptional: false })
  let password = 'the one before'
  const url = () => `smtp://stint:${password}@127.0.0.1:${port}`
  const mailer = createMailer({ url, from: 'stint@example.com', timeoutMs: 10_000 })
  const mail = { to: 'ada@example.com', subject: 's', text: 't', html: 'h', id: 'msg_1' }
  await expect(mailer.send(mail)).rejects.toThrow('The mail server did not take the e-mail')
  password = 'p%40ss'
  await mailer.send(mail)
  expect(mails).toHaveLength(1)
})

test('refuses an untrusted certificate except on this machine', async () => {
  const { mails, port } = await startSmtp()
  await expect(deliverTo(port, 'stint:p%40ss@', '0.0.0.0')()).rejects.toThrow('The mail server did not take the e-mail')
  expect(mails).toEqual([])
})

test('a greylisted e-mail is accepted at a later attempt with the same id', async () => {
  let asked = 0
  const { mails, port } = await startSmtp({
    onRcptTo: (_address, _session, done) => (asked++ === 0 ? done(refusal(450)) : done()),
  })
  const deliver = deliverTo(port)
  await expect(deliver()).rejects.toThrow('450 4.7.1 no')
  await deliver()
  expect(mails.map(({ text }) => /Message-ID: (\S+)/.exec(text)?.[1])).toEqual(['<msg_1@example.com>'])
})

test('a full mailbox, a wrong password and a server that is away are failed deliveries without secrets', async () => {
  const full = await startSmtp({ onRcptTo: (_address, _session, done) => done(refusal(552)) })
  const failure = await deliverTo(full.port)().catch((error) => error)
  expect(failure.message).toBe('The mail server did not take the e-mail: 552 4.7.1 no')
  const { port } = await startSmtp()
  const wrong = await deliverTo(port, 'stint:secret@')().catch((error) => error)
  expect(wrong.message).toBe('The mail server did not take the e-mail: 535 4.7.1 no')
})

/** A name of this machine that is no loopback address: certificates and STARTTLS count as for any other host. */
const HOST = hostname()

describe('a mail server that cannot be spoken to', () => {
  const reasonOf = async (url: string, timeoutMs = 10_000): Promise<string> => {
    const mailer = createMailer({ url, from: 'Stint <stint@example.com>', timeoutMs })
    stops.push(() => mailer.close())
    const mail = { to: 'ada@example.com', subject: 's', text: 't', html: 'h', id: 'id' }
    return mailer.send(mail).then(
      () => 'sent',
      ({ message }: Error) => message.replace('The mail server did not take the e-mail: ', ''),
    )
  }
  const begin = async (options: SMTPServerOptions, host = HOST) => {
    const { port } = await startMailServerAt(host, options)
    return `${host}:${port}`
  }
  const startMailServerAt = async (host: string, options: SMTPServerOptions) => {
    const server = await startMailServer(options, host)
    stops.push(server.close)
    return server
  }

  test('is named by a sentence for each cause', async () => {
    const plain = await begin({ disabledCommands: ['STARTTLS'] })
    const tls = await begin({ secure: true, ...readPair(createCertificate(inMemoryDir(), 'mail')) })
    expect(await reasonOf('smtp://127.0.0.1:1')).toBe('nobody listens at the address of SMTP_URL')
    expect(await reasonOf('smtp://mail.invalid')).toBe('the host name of SMTP_URL does not resolve')
    expect(await reasonOf(`smtps://${tls}`)).toMatch(/unknown authority|another host name/)
    expect(await reasonOf(`smtps://${plain}`)).toContain('does not begin with TLS; set smtp://')
    expect(await reasonOf(`smtp://${tls}`, 1000)).toContain('did not answer in time')
  })

  test('without STARTTLS gets no link over a network, unless the operator says so', async () => {
    const plain = await begin({ disabledCommands: ['STARTTLS'] })
    expect(await reasonOf(`smtp://${plain}`)).toContain('offers no STARTTLS')
    expect(await reasonOf(`smtp://${plain}?insecure=true`)).toBe('sent')
    expect(await reasonOf(`smtp://${await begin({ disabledCommands: ['STARTTLS'] }, '127.0.0.1')}`)).toBe('sent')
  })
})

test('the e-mails of one alert are one thread, and that of its end says when', async () => {
  const { mails, port } = await startSmtp()
  const mailer = createMailer({ url: `smtp://127.0.0.1:${port}`, from: 'Stint <stint@example.com>' })
  stops.push(() => mailer.close())
  const deliver = createDeliver({ post: { allowPrivate: false }, mailer, publicUrl, nowUs: () => 0 })
  const channel = channelOf('cha_1', { kind: 'email', target: 'ada@example.com', secret: 'leave' })
  const watch = watchOf('wat_1')
  for (const [id, resolvedUs] of [
    ['msg_1', null],
    ['msg_2', 1_790_000_000_000_000],
  ] as const) {
    const alert = { ...alertOf('alr_1', watch.id), resolvedUs }
    const type = resolvedUs === null ? 'alert.firing' : 'alert.resolved'
    const body = toBody({ type, alert, watch, summary: 's', nowUs: 0, publicUrl: publicUrl() })
    await deliver({ channel, id, bodies: [body], isStillFiring: false })
  }
  const threads = mails.map(({ text }) => /^References: (.*)\r$/m.exec(text)?.[1])
  expect(threads).toEqual(['<alert-alr_1@example.com>', '<alert-alr_1@example.com>'])
  expect(mails.map(({ text }) => text.includes('Until: 2026-'))).toEqual([false, true])
})

async function startChannels(options: SMTPServerOptions = {}, nowUs = () => Date.now() * 1000) {
  const { mails, url } = await startSmtp(options)
  const mailer = createMailer({ url, from: 'Stint <stint@example.com>' })
  const store = openStore(inMemoryDir())
  stops.push(mailer.close, () => void store.close())
  const deliver = createDeliver({ post: { allowPrivate: true }, nowUs, publicUrl, mailer })
  const onFault = (err: unknown) => {
    throw err
  }
  const repeat = createRepeatMails({ mailer, nowUs, onFault })
  const confirmations = createConfirmationMails({ store, repeat, nowUs })
  const hash = (text: string) => `hash of ${text}`
  const strangerMails = { isLimited: false, take: async () => true }
  const manage = createManageChannels({ store, deliver, mails: confirmations, strangerMails, publicUrl, nowUs, hash })
  /** The token of the link in the newest mail. */
  const newestToken = () => /confirm\?token=([\w-]{43})/.exec(mails.at(-1)!.text)![1]!
  return { mails, store, nowUs, deliver, manage, repeat, newestToken }
}

test('a mail that is refused as one too many changes nothing: the link in the inbox stays valid', async () => {
  const { mails, store, manage, newestToken } = await startChannels()
  const refused = { code: 'rate_limited' }
  const to = 'ada@example.com'
  const {
    channel: { id },
  } = await manage.create(ACCOUNT, { name: 'mail', kind: 'email', to })
  for (const _ of [2, 3]) await manage.change(ACCOUNT, id, { enabled: true })
  const token = newestToken()
  await expect(manage.change(ACCOUNT, id, { enabled: true, name: 'other' })).rejects.toMatchObject(refused)
  await expect(manage.create(ACCOUNT, { name: 'second', kind: 'email', to })).rejects.toMatchObject(refused)
  expect((await store.channels(ACCOUNT)).map(({ name }) => name)).toEqual(['mail'])
  expect(mails).toHaveLength(3)
  expect(await manage.links.confirmable(token)).toMatchObject({ id })
})

test('a test of an address that is not confirmed says so, also while its owner keeps the channel disabled', async () => {
  const { manage } = await startChannels()
  const {
    channel: { id },
  } = await manage.create(ACCOUNT, { name: 'mail', kind: 'email', to: 'ada@example.com' })
  await expect(manage.test(ACCOUNT, id)).rejects.toThrow('not confirmed yet: open the link')
  await manage.change(ACCOUNT, id, { enabled: false })
  await expect(manage.test(ACCOUNT, id)).rejects.toThrow('disabled, and its address is not confirmed')
})

test('an address that is confirmed is notified once of the alerts that already fire', async () => {
  const { mails, store, nowUs, deliver, manage, newestToken } = await startChannels()
  const meter = { delivered() {}, failed() {}, seconds() {}, alertSeconds() {} }
  const outbox = createOutbox({ store, deliver, nowUs, log: silent, meter })

  const {
    channel: { id },
  } = await manage.create(ACCOUNT, { name: 'mail', kind: 'email', to: 'ada@example.com' })
  await store.addWatch(watchOf('wat_mine', { channels: [id] }), 9)
  await store.addWatch(watchOf('wat_quiet'), 9)
  const alerts = [
    alertOf('ale_fires', 'wat_mine'),
    alertOf('ale_over', 'wat_mine', { resolvedUs: 2 }),
    alertOf('ale_elsewhere', 'wat_quiet'),
  ]
  await store.commit(
    alerts.map((alert) => opened(alert, [notificationOf(`msg_${alert.id}`, id)])),
    nowUs(),
  )
  await outbox.step()
  expect(mails.length).toBe(1) // the one that asks for confirmation

  const token = newestToken()
  await manage.links.confirm(token)
  await expect(manage.links.confirm(token)).rejects.toThrow('was used already')
  await outbox.step()
  expect(mails.slice(1).map((mail) => [mail.to, /^Subject: (.*)\r$/m.exec(mail.text)?.[1]])).toEqual([
    [['ada@example.com'], '[Stint] Firing: ale_fires is late'],
  ])
})

describe('an e-mail that asks for a confirmation and that the mail server', () => {
  /** `codes`: its first answers; it then takes the e-mail. */
  async function ask(codes: readonly number[]) {
    const left = [...codes]
    const clock = { us: 1e15 }
    const onRcptTo: SMTPServerOptions['onRcptTo'] = (_address, _session, done) => {
      const code = left.shift()
      done(code === undefined ? null : refusal(code))
    }
    const started = await startChannels({ onRcptTo }, () => clock.us)
    const pass = async (minutes: number) => {
      clock.us += minutes * 60e6
      await started.repeat.step()
    }
    const create = () => started.manage.create(ACCOUNT, { name: 'mail', kind: 'email', to: 'ada@example.com' }, true)
    return { ...started, left, pass, create }
  }

  test('defers is sent again, with the same link, until it is taken', async () => {
    const { mails, manage, pass, create, newestToken } = await ask([450, 421])
    const { channel, test } = await create()
    const deferred = (code: number, wait: string) =>
      `The mail server did not take the e-mail: ${code} 4.7.1 no. It is sent again in ${wait}.`
    expect(test?.detail).toBe(deferred(450, '1 min'))
    expect(channel).toMatchObject({ state: 'pending', last: { ok: false, detail: deferred(450, '1 min') } })
    await pass(0.9)
    expect((await manage.show(ACCOUNT, channel.id, 'member')).last?.detail).toBe(deferred(450, '1 min'))
    await pass(0.1)
    expect((await manage.show(ACCOUNT, channel.id, 'member')).last?.detail).toBe(deferred(421, '5 min'))
    await pass(5)
    expect(mails).toHaveLength(1)
    expect((await manage.show(ACCOUNT, channel.id, 'member')).last).toMatchObject({ ok: true })
    expect(await manage.links.confirm(newestToken())).toMatchObject({ id: channel.id, state: 'ok' })
    await pass(60)
    expect(mails).toHaveLength(1)
  })

  test('refuses for good shows so at once', async () => {
    const { left, pass, create, store } = await ask([550, 250])
    await expect(create()).rejects.toThrow('550 4.7.1 no. The channel was not created.')
    expect(await store.channels(ACCOUNT)).toEqual([])
    await pass(60)
    expect(left).toEqual([250])
  })

  test('defers is not sent again after its channel was deleted, disabled or sent a newer link', async () => {
    for (const change of ['deleted', 'disabled', 'sent again']) {
      const { mails, left, manage, pass, create } = await ask([450])
      const { id } = (await create()).channel
      if (change === 'deleted') await manage.remove(ACCOUNT, id)
      else await manage.change(ACCOUNT, id, { enabled: change !== 'disabled' })
      const before = mails.length
      await pass(60)
      expect([change, left, mails.length]).toEqual([change, [], before])
      expect(before).toBe(change === 'sent again' ? 1 : 0)
    }
  })
})
