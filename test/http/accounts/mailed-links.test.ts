// The answer to an invitation holds what the mail server said of its link, and a link that it defers is sent again for a day.
import { describe, expect, test } from 'bun:test'
import type { SMTPServerOptions } from 'smtp-server'
import { deadUrl } from '../../cli/exec/exec-cast.ts'
import { startApp } from '../../support/app.ts'
import { createCaller, PASSWORD, signInAt } from '../../support/caller.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { until } from '../../support/until.ts'

const refuse = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

async function open(options: SMTPServerOptions = {}, url?: string, signup: 'first' | 'open' = 'first') {
  const smtp = await startMailServer(options)
  const app = await startApp({ signup, env: { SMTP_URL: url ?? smtp.url, MAIL_FROM: 'Stint <stint@example.com>' } })
  const owner = await signInAt(app.url)
  return {
    ...{ smtp, app, owner },
    invite: async (email: string) => (await owner.post('/api/invitations', { email, role: 'member' })).json.invitation,
    /** Time passes, and what is due again is sent. */
    async pass(minutes: number) {
      app.clock.pass(minutes * 60e6)
      await app.rooms.watches.mails!.step()
    },
    async [Symbol.asyncDispose]() {
      await app.stop()
      smtp.close()
    },
  }
}

test('an invitation that the mail server took is mailed, with its words', async () => {
  await using stint = await open()
  expect(await stint.invite('bo@example.com')).toMatchObject({ mailed: true, mail: expect.stringMatching(/^250 /) })
  expect(stint.smtp.mails).toHaveLength(1)
})

describe('one that it did not take is not mailed, and the answer says why', () => {
  test.each<[string, SMTPServerOptions, string]>([
    ['unknown', { onRcptTo: (_, __, done) => done(refuse(550, 'no such user')) }, '550 no such user'],
    ['sender', { onMailFrom: (_, __, done) => done(refuse(553, 'not you')) }, '553 not you'],
    [
      'content',
      { onData: (stream, _, done) => stream.resume().on('end', () => done(refuse(554, 'spam'))) },
      '554 spam',
    ],
    ['busy', { onConnect: (_, done) => done(refuse(554, 'go away')) }, '554 go away'],
  ])('%s', async (_, options, said) => {
    await using stint = await open(options)
    const { mailed, mail } = await stint.invite('bo@example.com')
    expect([mailed, mail]).toEqual([false, `The mail server did not take the e-mail: ${said}`])
    await stint.pass(60 * 24)
    expect(stint.smtp.mails).toEqual([])
  })

  test('nobody listens', async () => {
    await using stint = await open({}, deadUrl().replace('http:', 'smtp:'))
    expect(await stint.invite('bo@example.com')).toMatchObject({
      mailed: false,
      mail: 'The mail server did not take the e-mail: nobody listens at the address of SMTP_URL',
    })
  })

  test('it is silent for 5 s', async () => {
    const held: (() => void)[] = []
    await using stint = await open({ onMailFrom: (_, __, done) => void held.push(() => done()) })
    expect(await stint.invite('bo@example.com')).toMatchObject({
      mailed: false,
      mail: 'The mail server has not answered within 5 s. The e-mail may still arrive',
    })
    for (const go of held) go()
    await until('it arrives', () => stint.smtp.mails.length === 1)
  }, 20_000)
})

describe('what it defers is sent again', () => {
  /** Takes nothing before `isOpen`. */
  function greylisting() {
    const state = { isOpen: false, tries: 0 }
    const options: SMTPServerOptions = {
      onRcptTo(_, __, done) {
        state.tries++
        done(state.isOpen ? null : refuse(451, 'greylisted'))
      },
    }
    return { state, options }
  }

  test('an invitation, as long as it is open', async () => {
    const { state, options } = greylisting()
    await using stint = await open(options)
    const first = await stint.invite('bo@example.com')
    expect(first).toMatchObject({
      mailed: false,
      mail: 'The mail server did not take the e-mail: 451 greylisted. It is sent again in 1 min.',
    })
    const second = await stint.invite('cy@example.com')
    await stint.owner.delete(`/api/invitations/${second.id}`)
    state.isOpen = true
    await stint.pass(2)
    expect(stint.smtp.mails.map(({ to }) => to)).toEqual([['bo@example.com']])
    expect(stint.smtp.mails[0]!.text).toContain(first.url)
    await stint.pass(60 * 24)
    expect(stint.smtp.mails).toHaveLength(1)
  })

  test('invitations of two accounts to one address, both', async () => {
    const { state, options } = greylisting()
    await using stint = await open(options, undefined, 'open')
    const { app, smtp, owner } = stint
    state.isOpen = true
    const nobody = createCaller(app.url)
    await nobody.post('/api/accounts', { email: 'bob@example.com' })
    await until('the link arrives', () => smtp.mails.length === 1)
    const token = /sign-up\?token=(\w{43})/.exec(smtp.mails[0]!.text)![1]!
    expect((await nobody.post('/api/accounts/confirm', { token, password: PASSWORD })).status).toBe(201)
    const bob = await signInAt(app.url, 'bob@example.com')
    state.isOpen = false
    for (const inviter of [owner, bob]) {
      const { json } = await inviter.post('/api/invitations', { email: 'cy@example.com', role: 'member' })
      expect(json.invitation.mail).toContain('sent again in 1 min')
    }
    state.isOpen = true
    await stint.pass(2)
    expect(smtp.mails.filter(({ to }) => to.includes('cy@example.com'))).toHaveLength(2)
  })

  test('a reset, for a day, with a link that works when it arrives', async () => {
    const { state, options } = greylisting()
    await using stint = await open(options)
    const nobody = createCaller(stint.app.url)
    expect((await nobody.post('/api/password/forgot', { email: 'ada@example.com' })).status).toBe(202)
    await until('the first attempt', () => state.tries === 1)
    await until('it is noted', () => stint.app.log.some((line) => line.includes('a link could not be mailed')))
    for (const minutes of [2, 6, 16, 31, 61]) await stint.pass(minutes)
    state.isOpen = true
    await stint.pass(3 * 60 + 1)
    const [mail] = stint.smtp.mails
    expect(mail!.to).toEqual(['ada@example.com'])
    const token = /reset\?token=(\w{43})/.exec(mail!.text)![1]!
    const body = { token, new_password: 'a new and long password' }
    expect((await nobody.post('/api/password/reset', body)).status).toBe(204)
    expect(stint.app.log.join()).not.toContain(token)
  })
})
