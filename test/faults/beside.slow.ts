// Two nodes of 2.0 and one of this version on one PostgreSQL, as in the middle of an upgrade: accounts, keys, sessions and
// invitations of each hold at the others. A suspension is this version's: nodes of 2.0 still take the account's events.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createCaller, PASSWORD, signInAt, signUpAt } from '../support/caller.ts'
import { lacks } from '../support/fault-trial.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { createStintProcess } from '../support/process.ts'
import { checkOut, readReleased } from '../support/released.ts'
import { until } from '../support/until.ts'

const old = checkOut(readReleased('2.0.0').commit)
const needless = old === undefined || lacks('chdb', 'postgresql')
let postgres: PostgresServer | undefined

beforeAll(async () => {
  if (!needless) postgres = await startPostgres()
})
afterAll(() => postgres?.close())

test.skipIf(needless)(
  'two nodes of 2.0 beside one of this version: what one makes holds at the others',
  async () => {
    const settings = { DATABASE_URL: await postgres!.createDatabase(), SIGNUP: 'open' }
    const node = (id: number, code?: string) =>
      createStintProcess(
        { ...settings, NODE_ID: `${id}` },
        code === undefined ? {} : { entry: join(code, 'src/main.ts') },
      )
    const nodes = [node(1, old), node(2, old), node(3)]
    const [first, second, mine] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]]
    const statusAt = async (of: typeof mine, key: string) =>
      (await createCaller(of.url, { key }).post('/v1/start', { process: 'p' })).status
    const everywhere = async (key: string, status: number) => {
      for (const of of nodes) await until(`${status} at each node`, async () => (await statusAt(of, key)) === status)
    }
    try {
      await first.start()
      const ada = await signUpAt(first.url)
      await second.start()
      await mine.start()

      // accounts: made at each, at once, because there are nodes of 2.0
      const people = [ada]
      for (const [i, of] of nodes.entries()) people.push(await signUpAt(of.url, `person${i}@example.com`))
      for (const { secret } of people) await everywhere(secret, 201)
      for (const i of people.keys())
        for (const of of nodes) {
          const me = await signInAt(of.url, i === 0 ? 'ada@example.com' : `person${i - 1}@example.com`)
          expect((await me.get('/api/session')).json.account.id).toBe(people[i]!.account)
        }

      // sessions: those of 2.0 hold at every node
      for (const of of nodes)
        expect((await createCaller(of.url, { cookie: ada.cookie }).get('/api/session')).json.account.id).toBe(
          ada.account,
        )

      // keys: made and revoked at each
      for (const of of nodes) {
        const me = await signInAt(of.url)
        const { key } = (await me.post('/api/keys', { name: 'k', scopes: ['write'] })).json
        await everywhere(key.secret, 201)
        expect((await me.delete(`/api/keys/${key.id}`)).status).toBe(204)
        await everywhere(key.secret, 401)
      }

      // invitations: made by each version, accepted at the other
      for (const [from, to, email] of [
        [mine, first, 'cy@example.com'],
        [first, mine, 'di@example.com'],
      ] as const) {
        const { invitation } = (await (await signInAt(from.url)).post('/api/invitations', { email, role: 'viewer' }))
          .json
        const body = { token: invitation.url.split('token=')[1], password: PASSWORD }
        expect((await createCaller(to.url).post('/api/invitations/accept', body)).status).toBe(201)
        for (const of of nodes)
          expect((await (await signInAt(of.url, email)).get('/api/session')).json).toMatchObject({ role: 'viewer' })
      }

      // a suspension, which 2.0 does not know, and a deletion, which it does
      const operator = await signInAt(mine.url)
      const [, , , bob] = people as [typeof ada, typeof ada, typeof ada, typeof ada]
      const path = `/api/operator/accounts/${bob.account}`
      expect((await operator.post(`${path}/suspend`, undefined)).status).toBe(200)
      expect([await statusAt(mine, bob.secret), await statusAt(first, bob.secret)]).toEqual([403, 201])
      expect((await operator.post(`${path}/resume`, undefined)).status).toBe(200)
      await everywhere(bob.secret, 201)
      expect((await operator.call('DELETE', path, { id: bob.account })).status).toBe(204)
      await everywhere(bob.secret, 401)
      await everywhere(ada.secret, 201)
    } finally {
      await Promise.all(nodes.map((of) => of.kill()))
    }
  },
  300_000,
)
