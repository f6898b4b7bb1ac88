// A node of 2.0 beside one of this version, on one PostgreSQL and the same stores: 50 groups that were ignored on 2.0 are
// ignored at both, whichever node accepts their next exceptions and whichever is asked. A fault that is new is one at both.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createCaller, signInAt, signUpAt } from '../support/caller.ts'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { lacks } from '../support/fault-trial.ts'
import { influxd, influxSettings } from '../support/influxd.ts'
import { untilShipped } from '../support/oracle.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { createStintProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { checkOut, readReleased } from '../support/released.ts'
import { until } from '../support/until.ts'

const GROUPS = 50
const WITHIN_MS = 60_000
const old = checkOut(readReleased('2.0.0').commit)
const needless = old === undefined || lacks('chdb', 'influxd', 'postgresql')
const clickhouse = createClickHouse('decisions')
let postgres: PostgresServer | undefined

beforeAll(async () => {
  if (needless) return
  postgres = await startPostgres()
  await clickhouse.start()
})
afterAll(() => Promise.all([clickhouse.kill(), postgres?.close()]))

const WHAT = 'rates ledger bank sheet vault'.split(' ')
const HOW = 'closed missing broken late full stale wrong empty locked gone'.split(' ')
const textOf = (n: number): string =>
  JSON.stringify({ level: 'error', step: `s${n}`, msg: `the ${WHAT[n % 5]} is ${HOW[Math.floor(n / 5)]}` })
const NEW_FAULT = JSON.stringify({ level: 'error', step: 's0', msg: 'the disk is full' })

test.skipIf(needless)(
  `${GROUPS} groups that were ignored on 2.0 are ignored by it and by this version, side by side`,
  async () => {
    const settings = {
      ...{ DATABASE_URL: await postgres!.createDatabase(), SIGNUP: 'open', NOTIFY_PRIVATE: 'true' },
      ...influxSettings(await (await influxd()).freshBucket()),
      ...clickhouse.settings,
    }
    const before = createStintProcess({ ...settings, NODE_ID: '1' }, { entry: join(old!, 'src/main.ts') })
    const mine = createStintProcess({ ...settings, NODE_ID: '2' })
    const nodes = [before, mine]
    using receiver = startReceiver()
    try {
      await before.start()
      const { bySession, secret } = await signUpAt(before.url)
      const send = async (url: string, text: string) => {
        const byKey = createCaller(url, { key: secret })
        expect((await byKey.post('/v1/exception', { process: 'job', exception: text })).status).toBe(201)
      }
      for (let n = 0; n < GROUPS; n++) await send(before.url, textOf(n))
      await untilShipped(before.url, WITHIN_MS)
      const listed = await bySession.get('/api/exceptions/groups?from=-1h&limit=100')
      expect(listed.json.groups).toHaveLength(GROUPS)
      for (const { fingerprint } of listed.json.groups)
        await bySession.patch(`/api/exceptions/groups/${fingerprint}`, { status: 'ignored' })
      const channel = { name: 'on call', kind: 'webhook', url: receiver.url }
      const channels = [(await bySession.post('/api/channels', channel)).json.channel.id]
      const watch = { name: 'jobs', process: 'job', failed: { exceptions: true }, channels }
      expect((await bySession.post('/api/watches', watch)).status).toBe(201)

      await mine.start()
      await until('this version knows the key', async () => {
        const asked = await createCaller(mine.url, { key: secret }).post('/v1/metrics', {
          process: 'm',
          items: { n: 1 },
        })
        return asked.status === 201
      })
      const sessions = await Promise.all(nodes.map((node) => signInAt(node.url)))
      const groupsAt = async () => {
        const answers = await Promise.all(sessions.map((it) => it.get('/api/exceptions/groups?from=-1h&limit=100')))
        return answers.map(({ json }) => json.groups.map(({ example }: { example: string }) => example))
      }
      for (let n = 0; n < GROUPS; n++) for (const node of nodes) await send(node.url, textOf(n))
      for (const node of nodes) await untilShipped(node.url, WITHIN_MS)
      expect(await groupsAt()).toEqual([[], []])

      await send(mine.url, NEW_FAULT)
      await until('the new fault is an alert', () => receiver.requests.length > 0, WITHIN_MS)
      await untilShipped(mine.url, WITHIN_MS)
      expect(await groupsAt()).toEqual([[NEW_FAULT], [NEW_FAULT]])
      // Events are judged in order at each node: what came before the new fault was no alert.
      expect(receiver.requests.map(({ text }) => JSON.parse(text).data.exception)).toHaveLength(1)

      const [of] = (await sessions[1]!.get('/api/exceptions/groups?from=-1h')).json.groups
      expect((await sessions[1]!.patch(`/api/exceptions/groups/${of.fingerprint}`, { status: 'ignored' })).status).toBe(
        200,
      )
      await until('a decision of this version is known to 2.0', async () => (await groupsAt()).flat().length === 0)
    } finally {
      await Promise.all(nodes.map((node) => node.close()))
    }
  },
  300_000,
)
