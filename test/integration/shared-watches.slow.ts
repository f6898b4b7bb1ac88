// Two nodes with their watches in PostgreSQL: real processes, killed, paused and cut off from PostgreSQL. A real receiver counts what arrives.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createCaller, signUpAt } from '../support/caller.ts'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { engineMissing } from '../support/engine.ts'
import { missing } from '../support/needs.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Caller, callerOf, createStintProcess, type StintProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const WITHIN_MS = 90_000
const BEGINS = 'this node judges the watches'

interface Received {
  readonly id: string
  readonly type: string
  readonly process: string
  readonly condition: string
}

describe.skipIf((engineMissing ?? missing('postgresql')) !== undefined)(
  'two nodes with their watches in PostgreSQL',
  () => {
    const received: Received[] = []
    /** Answers wait for this. */
    let gate: Promise<void> = Promise.resolve()
    const receiver = startReceiver(async ({ headers, text }) => {
      const { type, data } = JSON.parse(text)
      received.push({ id: headers.get('webhook-id')!, type, process: data.process, condition: data.condition })
      await gate
      return new Response('taken')
    })
    let postgres: PostgresServer
    const clickhouse = createClickHouse('shared_watches')
    let a: StintProcess
    let b: StintProcess
    let ada: Caller
    let cookie = ''
    let channel = ''

    const ask = ({ url }: StintProcess, method: string, path: string, body?: unknown) =>
      createCaller(url, { cookie }).call(method, path, body)
    const watch = async (node: StintProcess, process: string, conditions: object) => {
      const made = await ask(node, 'POST', '/api/watches', {
        name: process,
        process,
        channels: [channel],
        ...conditions,
      })
      expect(made.status).toBe(201)
      return made.json.watch.id as string
    }
    const send = async (node: StintProcess, path: string, body: object) =>
      expect((await callerOf(node.url, ada).post(`/v1/${path}`, body)).status).toBe(201)
    const runOnce = async (node: StintProcess, process: string, failed: boolean) => {
      await send(node, 'start', { process })
      await send(node, 'end', { process, ...(failed && { failed }) })
    }
    const got = (type: string, process: string) => received.filter((it) => it.type === type && it.process === process)
    const gets = (type: string, process: string) =>
      until(`${type} of ${process}`, () => got(type, process).length > 0, WITHIN_MS)
    const terms = (node: StintProcess) => node.log().split(BEGINS).length - 1
    const stateOf = async (node: StintProcess, id: string) =>
      (await ask(node, 'GET', `/api/watches/${id}`)).json.watch.state as string

    beforeAll(async () => {
      postgres = await startPostgres()
      await clickhouse.start()
      const settings = { DATABASE_URL: await postgres.createDatabase(), ...clickhouse.settings, NOTIFY_PRIVATE: 'true' }
      a = createStintProcess({ ...settings, NODE_ID: '1' })
      b = createStintProcess({ ...settings, NODE_ID: '2' })
      await a.start()
      await until('the first node judges', () => terms(a) === 1)
      await b.start()
      const signedUp = await signUpAt(a.url)
      ada = callerOf(a.url, signedUp)
      cookie = signedUp.cookie
      const hook = { name: 'hook', kind: 'webhook', url: `${receiver.url}/` }
      channel = (await ask(b, 'POST', '/api/channels', hook)).json.channel.id
      await until('the key is known at both', async () => (await callerOf(b.url, ada).get('/api/health')).ok)
    })

    afterAll(async () => {
      await Promise.all([a?.close(), b?.close(), clickhouse.kill(), receiver.close()])
      await postgres?.close()
    })

    test('a failed run that was sent to the one is notified once, by the other, and both show the alert', async () => {
      const id = await watch(b, 'job', { failed: {} })
      await runOnce(b, 'job', true)
      await gets('alert.firing', 'job')
      for (const node of [a, b]) {
        expect(await stateOf(node, id)).toBe('firing')
        expect((await ask(node, 'GET', '/api/health')).json.watches.firing).toBe(1)
      }
      const firing = async ({ url }: StintProcess) =>
        /^stint_alerts_firing (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
      expect([await firing(a), await firing(b)]).toEqual(['1', '0'])
      await Bun.sleep(3_000) // several steps of both outboxes
      expect(received).toHaveLength(1)
      expect([terms(a), terms(b)]).toEqual([1, 0])
    })

    test('a node that is killed is replaced within the lease, its open alert neither repeats nor is lost, and `late` waits for it', async () => {
      await a.kill()
      await until('the other node judges', () => terms(b) === 1, WITHIN_MS)
      const silent = () => b.log().includes('a node is silent')
      await until('the killed node is silent', silent, WITHIN_MS)
      const id = await watch(b, 'late job', { late: { every: '2s', grace: '1s' } })
      await watch(b, 'other job', { failed: {} })
      await runOnce(b, 'other job', true)
      await runOnce(b, 'job', false)
      await Promise.all([gets('alert.resolved', 'job'), gets('alert.firing', 'other job')])
      expect(got('alert.firing', 'job')).toHaveLength(1)
      await until('what is late is unknown', async () => (await stateOf(b, id)) === 'unknown', WITHIN_MS)
      expect(got('alert.firing', 'late job')).toEqual([])
      await a.start()
      await gets('alert.firing', 'late job')
      await ask(a, 'DELETE', `/api/watches/${id}`)
      expect([terms(a), terms(b)]).toEqual([1, 1])
    })

    test('a node that stands still in the middle of a delivery delivers nothing after another took over', async () => {
      const open = Promise.withResolvers<void>()
      gate = open.promise
      const names = ['held 1', 'held 2', 'held 3']
      for (const name of names) await watch(a, name, { failed: {} })
      for (const name of names) await runOnce(a, name, true)
      await until('all are in the outbox', async () => (await ask(a, 'GET', '/api/health')).json.watches.firing === 4)
      await until('one is in flight', () => names.some((name) => got('alert.firing', name).length > 0), WITHIN_MS)
      const inFlight = names.find((name) => got('alert.firing', name).length > 0)!
      process.kill(b.pid(), 'SIGSTOP')
      try {
        await until('the other node judges', () => terms(a) === 2, WITHIN_MS)
        open.resolve()
        for (const name of names.filter((it) => it !== inFlight)) await gets('alert.firing', name)
        await until('the one in flight again', () => got('alert.firing', inFlight).length === 2, WITHIN_MS)
        await watch(a, 'standstill', { failed: {} })
        await runOnce(a, 'standstill', true)
        await gets('alert.firing', 'standstill')
      } finally {
        process.kill(b.pid(), 'SIGCONT')
      }
      await until('it knows that it no longer judges', () => b.log().includes('no longer judges'), WITHIN_MS)
      await Bun.sleep(5_000) // what it had begun would be delivered by now
      const firing = received.filter(({ type }) => type === 'alert.firing')
      expect(names.map((name) => got('alert.firing', name).length).sort()).toEqual([1, 1, 2])
      expect(new Set(got('alert.firing', inFlight).map(({ id }) => id)).size).toBe(1)
      expect(got('alert.firing', 'standstill')).toHaveLength(1)
      expect(firing.filter(({ condition }) => condition === 'late')).toHaveLength(1)
      expect([terms(a), terms(b)]).toEqual([2, 1])
    })

    test('without PostgreSQL changes are answered 503, nothing is alerted, and what happened meanwhile is notified once afterwards', async () => {
      await watch(a, 'meanwhile', { failed: {} })
      const before = received.length
      await postgres.stop()
      const refused = await ask(a, 'POST', '/api/watches', { name: 'x', process: 'x', failed: {} })
      expect([refused.status, refused.json.code]).toEqual([503, 'store_unavailable'])
      await runOnce(b, 'meanwhile', true)
      await until('the duty ends', () => a.log().split('no longer judges').length > 1, WITHIN_MS)
      const health = (await (await callerOf(a.url, ada).get('/api/health')).json()) as { watches: object }
      expect(health.watches).toEqual({ firing: 0, unknown: true, waiting: 0 })
      for (const { url } of [a, b]) expect((await fetch(`${url}/metrics`)).status).toBe(200)
      expect(received).toHaveLength(before)
      await postgres.start()
      await gets('alert.firing', 'meanwhile')
      await Bun.sleep(3_000)
      expect(received.slice(before)).toEqual([expect.objectContaining({ process: 'meanwhile', condition: 'failed' })])
    })

    test('a node that ends hands over at once and is not missed', async () => {
      const [onDuty, other] = terms(a) + terms(b) > 0 && (await isOnDuty(a)) ? [a, b] : [b, a]
      const before = terms(other)
      expect(await onDuty.terminate()).toBe(0)
      await until('the other node judges', () => terms(other) === before + 1, WITHIN_MS)
      const id = await watch(other, 'late again', { late: { every: '2s', grace: '1s' } })
      await gets('alert.firing', 'late again')
      expect(await stateOf(other, id)).toBe('firing')
    })

    test('a judging node that is killed around due moments and starts again hides no missed start and invents none', async () => {
      await Promise.all([a, b].map((node) => fetch(`${node.url}/readyz`).catch(() => node.start())))
      const OFFSETS_S = [-12, -6, -2, 0, 2, 6, 12]
      const LIMIT = { late: { every: '30s', grace: '10s' } }
      const healthy = ['well 1', 'well 2', 'well 3', 'well 4']
      const dead = OFFSETS_S.map((offset) => `dead ${offset}`)
      await watch(a, 'fires', { late: { every: '2s', grace: '1s' } })
      await gets('alert.firing', 'fires')
      for (const name of [...dead, ...healthy]) await watch(a, name, LIMIT)
      const onDuty = (await isOnDuty(a)) ? a : b
      const other = onDuty === a ? b : a
      const killMs = Date.now() + 45_000
      let isOver = false
      // by its own time, so that a retry after a refused connection is the same event
      const start = async (name: string) => {
        const body = { process: name, at: new Date().toISOString() }
        for (;;) {
          const node = [other, onDuty][Math.floor(Math.random() * 2)]!
          const sent = await callerOf(node.url, ada)
            .post('/v1/start', body)
            .catch(() => undefined)
          if (sent?.status === 201) return
          await Bun.sleep(200)
        }
      }
      const beating = healthy.map(async (name, i) => {
        await Bun.sleep(i * 4_000)
        for (; !isOver; await Bun.sleep(15_000)) await start(name)
      })
      // the last start of each is due around the kill
      const ending = OFFSETS_S.map(async (offset, i) => {
        await start(dead[i]!)
        await Bun.sleep(killMs + offset * 1000 - 30_000 - Date.now())
        await start(dead[i]!)
      })
      await Promise.all(ending)
      await Bun.sleep(killMs - Date.now())
      await onDuty.kill()
      await Bun.sleep(3_000)
      await onDuty.start()
      for (const name of dead) await gets('alert.firing', name)
      await Bun.sleep(20_000) // anything false would have come
      isOver = true
      await Promise.all(beating)
      for (const name of dead) expect(got('alert.firing', name)).toHaveLength(1)
      for (const name of healthy) expect(got('alert.firing', name)).toEqual([])
      const names = [...dead, ...healthy]
      expect(received.filter(({ type, process }) => type !== 'alert.firing' && names.includes(process))).toEqual([])
    })

    /** The gauge of firing alerts is zero at every other node. */
    async function isOnDuty({ url }: StintProcess): Promise<boolean> {
      return /^stint_alerts_firing [1-9]/m.test(await (await fetch(`${url}/metrics`)).text())
    }
  },
)
