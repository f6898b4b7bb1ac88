// Two nodes with their watches in PostgreSQL, killed, paused and cut off from PostgreSQL.
import { describe, expect, test } from 'bun:test'
import { engineMissing } from '../support/engine.ts'
import { missing } from '../support/needs.ts'
import { callerOf, type StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { useWatchingNodes, WITHIN_MS } from './watching-nodes.ts'

describe.skipIf((engineMissing ?? missing('postgresql')) !== undefined)(
  'two nodes with their watches in PostgreSQL',
  () => {
    const { cast, received, ask, watch, runOnce, got, gets, terms, stateOf, isOnDuty } = useWatchingNodes()

    test('a failed run that the one accepts right after the first watch was made at the other is notified once, and both show it', async () => {
      const { a, b } = cast
      const id = await watch(a, 'job', { failed: {} })
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
      const { a, b } = cast
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
      const { a, b } = cast
      const open = Promise.withResolvers<void>()
      cast.gate = open.promise
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
      const { a, b } = cast
      await watch(a, 'meanwhile', { failed: {} })
      const before = received.length
      await cast.postgres.stop()
      const refused = await ask(a, 'POST', '/api/watches', { name: 'x', process: 'x', failed: {} })
      expect([refused.status, refused.json.code]).toEqual([503, 'store_unavailable'])
      await runOnce(b, 'meanwhile', true)
      await until('the duty ends', () => a.log().split('no longer judges').length > 1, WITHIN_MS)
      const health = (await (await callerOf(a.url, cast.ada).get('/api/health')).json()) as { watches: object }
      expect(health.watches).toEqual({ firing: 0, unknown: true, waiting: 0, oldest_s: 0 })
      for (const { url } of [a, b]) expect((await fetch(`${url}/metrics`)).status).toBe(200)
      expect(received).toHaveLength(before)
      await cast.postgres.start()
      await gets('alert.firing', 'meanwhile')
      await Bun.sleep(3_000)
      expect(received.slice(before)).toEqual([expect.objectContaining({ process: 'meanwhile', condition: 'failed' })])
    })

    test('a node that ends hands over at once and is not missed', async () => {
      const { a, b } = cast
      const [onDuty, other] = terms(a) + terms(b) > 0 && (await isOnDuty(a)) ? [a, b] : [b, a]
      const before = terms(other)
      expect(await onDuty.terminate()).toBe(0)
      await until('the other node judges', () => terms(other) === before + 1, WITHIN_MS)
      const id = await watch(other, 'late again', { late: { every: '2s', grace: '1s' } })
      await gets('alert.firing', 'late again')
      expect(await stateOf(other, id)).toBe('firing')
    })
  },
)
