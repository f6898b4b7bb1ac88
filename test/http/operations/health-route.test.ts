// GET /api/health: whose business what is.
import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { createMounts } from '../../../src/http/mount.ts'
import { mountHealth } from '../../../src/http/operations/ops-routes.ts'
import { useApp } from '../../support/app.ts'

const NOW_US = 1_763_673_600_000_000

/** `x-who` says whose request it is. */
const app = new Elysia()
const mounts = createMounts(app, {
  authorize: async (request) => {
    const account = request.headers.get('x-who') ?? ''
    return { account, role: 'owner', isOperator: account === 'ada' }
  },
  isOwnHost: () => true,
  noteDone: async () => {},
})
mountHealth(mounts, {
  spools: {
    points: {
      stats: () => ({ records: 3, bytes: 4096, oldestUs: NOW_US - 1_500_000, damaged: 0, unreadable: undefined }),
    },
    exceptions: { stats: () => ({ records: 0, bytes: 0, oldestUs: undefined, damaged: 0, unreadable: undefined }) },
  },
  sinks: { points: { store: 'influxdb' }, exceptions: { store: 'clickhouse' } },
  shippers: {
    points: { status: () => ({ state: 'parked', reason: 'it quotes somebody’s event', sinceUs: NOW_US }) },
    exceptions: { status: () => ({ state: 'idle', sinceUs: NOW_US }) },
  },
  deadLetters: {
    count: (account) => (account === 'ada' ? 2 : 0),
    stats: () => ({ total: 5, bytes: 500, byDestination: {} }),
    refusedPings: {
      ...{ note: () => {}, forget: () => {}, flush: () => {} },
      list: (account) => (account === 'ada' ? [{ process: 'nightly', name: 'sate', atUs: NOW_US }] : []),
    },
  },
  watches: async (account) => ({ firing: account === 'ada' ? 1 : 0, unknown: false, outbox: { waiting: 4 } }),
  node: 7,
  isOperators: (account) => account === 'ada',
  use: { bytesOf: (account) => (account === 'ada' ? 700 : 0) },
  quota: { limitBytes: 1000, notice: () => undefined },
  nodes: () => [],
  warnings: () => [{ code: 'events_split', detail: 'Set CLICKHOUSE_URL on every node.' }],
  dismissLostWatches: async () => {},
  version: { version: '1.2.3' },
  nowUs: () => NOW_US,
})
const askAs = async (who: string) =>
  (await app.handle(new Request('http://localhost/api/health', { headers: { 'x-who': who } }))).json()

const SINCE = '2025-11-20T21:20:00.000000000Z'
const SPOOLS = {
  points: { records: 3, bytes: 4096, oldest_s: 1.5 },
  exceptions: { records: 0, bytes: 0, oldest_s: 0 },
}
const IDLE = { store: 'clickhouse', state: 'idle', since: SINCE }

const WARNINGS = [{ code: 'events_split', detail: 'Set CLICKHOUSE_URL on every node.' }]

test('the operator sees why delivery is paused and the total number of dead letters', async () => {
  expect(await askAs('ada')).toEqual({
    version: '1.2.3',
    node: 7,
    watches: { firing: 1, unknown: false, waiting: 4, oldest_s: 0 },
    spools: SPOOLS,
    destinations: {
      points: { store: 'influxdb', state: 'parked', reason: 'it quotes somebody’s event', since: SINCE },
      exceptions: IDLE,
    },
    dead: { own: 2, total: 5 },
    use: { bytes_24h: 700, quota_bytes: 1000 },
    refused_pings: [{ process: 'nightly', name: 'sate', at: SINCE.replace('000000Z', 'Z') }],
    nodes: [],
    warnings: WARNINGS,
  })
})

test('other accounts see that delivery is paused and their own dead letters', async () => {
  expect(await askAs('eve')).toEqual({
    version: '1.2.3',
    node: 7,
    watches: { firing: 0, unknown: false, waiting: 4, oldest_s: 0 },
    spools: SPOOLS,
    destinations: { points: { store: 'influxdb', state: 'parked', since: SINCE }, exceptions: IDLE },
    dead: { own: 0 },
    use: { bytes_24h: 0, quota_bytes: 1000 },
    refused_pings: [],
    nodes: [],
    warnings: WARNINGS,
  })
})

const whole = await useApp()

test('refuses parameters after checking the key', async () => {
  const ask = (path: string, key: 'reader' | 'revoked') => whole.fetch(`${path}?x=1&a~b=&x=2`, { key: whole.keys[key] })
  const answer = await ask('/api/health', 'reader')
  expect(answer.status).toBe(422)
  const { errors, code } = answer.json as { errors: unknown; code: string }
  expect({ errors, code }).toEqual({
    code: 'question_invalid',
    errors: ['/x', '/a~0b'].map((pointer) => ({ pointer, detail: 'this question takes no parameters' })),
  })
  expect((await ask('/api/series', 'reader')).json).toMatchObject({ errors, code })
  expect((await ask('/api/health', 'revoked')).status).toBe(401)
})
