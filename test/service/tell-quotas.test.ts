// The owners of an account hear of its quota: once at 80 %, once at the limit, by e-mail, in /api/health, and nobody else does.
import { expect, test } from 'bun:test'
import { createTellQuotas } from '../../src/service/tell-quotas.ts'
import { ADA, BOB, databases } from '../account/accounts-cast.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { startMailServer } from '../support/mail-server.ts'

const QUOTA = 10_000
const DAY_US = 86_400 * 1e6

const sendUntil = async (app: TestApp, bytes: number) => {
  while (app.rooms.accounts.use.bytesOf(app.account) < bytes)
    await app.post('/v1/start', { process: 'p', meta: 'm'.repeat(300) })
}
const warningsOf = async (app: TestApp, key = app.keys.reader): Promise<string[]> =>
  (await app.fetch('/api/health', { key })).json.warnings.filter((it: { code: string }) => it.code === 'quota')

test('at 80 % and at the limit, a sentence each', async () => {
  const smtp = await startMailServer()
  const env = { QUOTA_BYTES: String(QUOTA), SMTP_URL: smtp.url, MAIL_FROM: 'stint@example.com' }
  await using app = await startApp({ env, signup: 'open' })
  const { accounts, quota, watches, log } = app.rooms
  const own = { publicUrl: () => app.url, nowUs: app.clock.wallUs }
  const tellQuotas = createTellQuotas({ accounts, quota, mails: watches.mails!, log, ...own })
  const toldOf = async () => {
    await tellQuotas.step()
    return smtp.mails.map(({ to, text }) => [to.join(), /subject: (.*)/i.exec(text)![1]!.trim()])
  }
  expect([await toldOf(), await warningsOf(app)]).toEqual([[], []])

  await sendUntil(app, 8000)
  const at80 = ['ada@example.com', '[Stint] 80 % of the quota is sent']
  expect([await toldOf(), await toldOf()]).toEqual([[at80], [at80]])
  expect(await warningsOf(app)).toMatchObject([
    { detail: expect.stringMatching(/^This account has sent 8\d % of the bytes/) },
  ])

  await sendUntil(app, QUOTA)
  const at100 = ['ada@example.com', '[Stint] The quota is spent']
  expect([await toldOf(), await toldOf()]).toEqual([
    [at80, at100],
    [at80, at100],
  ])
  expect(await warningsOf(app)).toMatchObject([{ detail: expect.stringContaining('all its events are refused until') }])
  const { use } = (await app.fetch('/api/health', { key: app.keys.reader })).json
  expect(use).toEqual({ bytes_24h: app.rooms.accounts.use.bytesOf(app.account), quota_bytes: QUOTA })

  const bob = await app.rooms.accounts.create({ ...ADA, email: 'bob@example.com' })
  expect(await warningsOf(app, bob.key.secret)).toEqual([])
  app.clock.pass(2 * DAY_US)
  expect([await toldOf(), await warningsOf(app)]).toEqual([[at80, at100], []])
  smtp.close()
})

test.each(databases())('once in 24 hours over all nodes and restarts, with $database', async ({ open }) => {
  await using accounts = await open()
  const { account } = await accounts.create(ADA)
  const { quotaNotices } = accounts
  expect(await quotaNotices.take(account.id, 80)).toEqual([ADA.email])
  expect(await quotaNotices.take(account.id, 80)).toEqual([])
  expect(await quotaNotices.take(account.id, 100)).toEqual([ADA.email])
  expect(await quotaNotices.take(account.id, 80)).toEqual([])
  accounts.clock.passS(86_400)
  expect(await quotaNotices.take(account.id, 80)).toEqual([ADA.email])
  expect(await quotaNotices.take('acc_gone', 80)).toEqual([])
})

test.each(databases())(
  'of an owner without a proof, a part of three e-mails a day, with $database',
  async ({ open }) => {
    await using accounts = await open({ isMailed: true })
    const { account } = await accounts.create(ADA)
    const [owner] = await accounts.members.list(account.id)
    const { token } = await accounts.invitations.create({ account: account.id, person: owner!.id }, BOB.email, 'owner')
    await accounts.invitations.joinAsNew(token, 'the hash of the inviter’s password')
    const { quotaNotices, strangerMails } = accounts
    expect(await quotaNotices.take(account.id, 80)).toEqual([ADA.email, BOB.email])
    await strangerMails.take(BOB.email)
    await strangerMails.take(BOB.email)
    expect(await quotaNotices.take(account.id, 100)).toEqual([ADA.email])
  },
)

test('an account whose owners could not be asked for is tried again', async () => {
  const asked: string[] = []
  const tell = createTellQuotas({
    accounts: {
      use: { all: () => new Map([['acc_a', 9]]).entries() },
      quotaNotices: {
        take: async (account: string) => {
          asked.push(account)
          throw new Error('the database is away')
        },
      },
    } as never,
    quota: { notice: () => ({ level: 80, text: 'x' }) },
    mails: { send: async () => ({ ok: true, detail: '' }) },
    publicUrl: () => 'https://stint.example',
    nowUs: () => 0,
    log: { warn() {} } as never,
  })
  await tell.step()
  await tell.step()
  expect(asked).toEqual(['acc_a', 'acc_a'])
})
