// ETags of the questions that open pages repeat, over HTTP with the real stores: 304 costs no store anything, and never
// hides a change.
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import pino from 'pino'
import { readConfig } from '../../../src/config.ts'
import { startService } from '../../../src/service.ts'
import { openStores } from '../../../src/store/open-stores.ts'
import { type ApiCaller, createCaller, type SignedUp, signUpAt } from '../../support/caller.ts'
import { engineMissing, enginePath } from '../../support/engine.ts'
import { seededRandom } from '../../support/random.ts'
import { createStepClock } from '../../support/step-clock.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'

const HALF_MINUTE_US = 30e6
const PATHS = [
  '/api/overview',
  '/api/overview?process=job',
  '/api/timings?from=-1h',
  '/api/timings/latest?from=-1h&each=5',
  '/api/timings/summary?from=-1h',
  '/api/metrics?from=-1h',
  '/api/exceptions?from=-1h',
  '/api/exceptions/groups?from=-1h',
  '/api/outputs?from=-1h',
  '/api/processes?from=-1h',
  '/api/watches',
  '/api/channels',
  '/api/maintenance',
  '/api/alerts',
]

/** Calls to the sources. */
let asked = 0
function counted<T extends object>(source: T): T {
  return new Proxy(source, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        asked++
        return value.apply(target, args)
      }
    },
  })
}

const clock = createStepClock(Math.floor((Date.now() * 1000) / HALF_MINUTE_US) * HALF_MINUTE_US)
/** So that a tag holds until the next call. */
const startHalfMinute = () => clock.pass(HALF_MINUTE_US - (clock.wallUs() % HALF_MINUTE_US) + 1e6)

const service = engineMissing
  ? undefined
  : await startService(
      { ...readConfig({ PORT: '0', SIGNUP: 'open', DATA_DIR: join(tempDir('tags'), 'data') }), host: '127.0.0.1' },
      clock,
      pino({ level: 'silent' }),
      {
        async openStores(options) {
          const stores = await openStores({ ...options, embeddedPath: enginePath() })
          return { ...stores, points: counted(stores.points), exceptions: counted(stores.exceptions) }
        },
      },
    )
afterAll(() => service?.stop())

const untilStored = () =>
  until('everything stored', () => {
    clock.pass(1_000)
    const { points, exceptions } = service!.rooms.spools
    return points.stats().records + exceptions.stats().records === 0
  })

let people = 0
const newcomer = (): Promise<SignedUp> => signUpAt(service!.url, `tags${++people}@example.com`)
const tagOf = async (by: ApiCaller, path: string, headers = {}) => (await by.get(path, headers)).headers.get('etag')

/** With its tag; the overview has none while it is behind. */
async function untilTagged(by: ApiCaller, path: string): Promise<string> {
  let tag: string | null = null
  await until(`${path} has a tag`, async () => {
    tag = await tagOf(by, path)
    if (tag === null) clock.pass(2_100_000)
    return tag !== null
  })
  return tag!
}

describe.skipIf(engineMissing !== undefined)('the answer to a question that is repeated', () => {
  test('unchanged it is 304, for half a minute, without a store', async () => {
    const { byKey, bySession, secret } = await newcomer()
    await byKey.post('/v1/batch', [
      { kind: 'start', process: 'job', uid: 'a' },
      { kind: 'end', process: 'job', uid: 'a' },
    ])
    await untilStored()
    startHalfMinute()
    for (const path of ['/api/overview', '/api/overview?process=job']) await untilTagged(bySession, path)
    startHalfMinute()
    const tags = await Promise.all(PATHS.map((path) => untilTagged(bySession, path)))
    const before = asked
    for (const [i, path] of PATHS.entries()) {
      const again = await bySession.get(path, { 'if-none-match': `"other", ${tags[i]}` })
      expect([path, again.status, again.text, again.headers.get('etag')]).toEqual([path, 304, '', tags[i]!])
      expect(again.headers.get('cache-control')).toBe('no-store')
      const refused = createCaller(service!.url, { key: `${secret}x` })
      expect((await refused.get(path, { 'if-none-match': tags[i]! })).status).toBe(401)
    }
    expect(asked).toBe(before)
    expect((await bySession.get('/api/timings', { 'if-none-match': '"other"' })).status).toBe(200)
    startHalfMinute()
    for (const [i, path] of PATHS.entries())
      expect([path, (await bySession.get(path, { 'if-none-match': tags[i]! })).status]).toEqual([path, 200])
  })

  test('each kind of change changes it, and a change of another account does not', async () => {
    const { byKey, bySession } = await newcomer()
    const other = await newcomer()
    const run = { process: 'job', uid: 'a' }
    const ids: Record<string, string> = {}
    const make = async (name: string, path: string, body: object) => {
      const { json } = await bySession.post(path, body)
      ids[name] = json[name].id
    }
    const timeIn = (hours: number) => new Date(clock.wallUs() / 1000 + hours * 3_600_000).toISOString()
    const alert = async () => (await bySession.get('/api/alerts')).json.alerts[0]
    const channel = { name: 'hook', kind: 'webhook', url: 'https://hooks.example.com/x' }
    const watch = { name: 'w', process: 'job', failed: { after: 1, exceptions: true }, channels: [] }
    const changes: [what: string, make: () => Promise<unknown>][] = [
      ['a start', () => byKey.post('/v1/start', run)],
      ['metrics', () => byKey.post('/v1/metrics', { ...run, items: { rows: 1 } })],
      ['an exception', () => byKey.post('/v1/exception', { ...run, exception: 'Error: x' })],
      ['a channel', () => make('channel', '/api/channels', channel)],
      ['its name', () => bySession.patch(`/api/channels/${ids.channel}`, { name: 'other' })],
      ['a watch', () => make('watch', '/api/watches', watch)],
      ['its badge', () => bySession.post(`/api/watches/${ids.watch}/badge`, {})],
      ['an end with an output', () => byKey.post('/v1/end', { ...run, failed: true, output: 'said' })],
      ['an alert acknowledged', async () => bySession.post(`/api/alerts/${(await alert()).id}/ack`, {})],
      ['and not', async () => bySession.delete(`/api/alerts/${(await alert()).id}/ack`)],
      ['an alert resolved', async () => bySession.post(`/api/alerts/${(await alert()).id}/resolve`, {})],
      ['a watch paused', () => bySession.patch(`/api/watches/${ids.watch}`, { paused_until: '2099-01-01T00:00:00Z' })],
      [
        'a maintenance',
        () => make('maintenance', '/api/maintenance', { process: '*', from: timeIn(-1), to: timeIn(1) }),
      ],
      ['its end', () => bySession.delete(`/api/maintenance/${ids.maintenance}`)],
      [
        'a group of exceptions',
        async () => {
          const { groups } = (await bySession.get('/api/exceptions/groups?from=-1h')).json
          await bySession.patch(`/api/exceptions/groups/${groups[0].fingerprint}`, { status: 'resolved' })
        },
      ],
      ['a watch deleted', () => bySession.delete(`/api/watches/${ids.watch}`)],
      ['a channel deleted', () => bySession.delete(`/api/channels/${ids.channel}`)],
    ]
    let quiet = 0
    for (const [what, change] of changes) {
      await untilStored()
      if (what === 'an end with an output') quiet = service!.rooms.watches.changes()
      if (what === 'an alert acknowledged') {
        await until('it fires', async () => (await alert()) !== undefined)
        expect(service!.rooms.watches.changes()).toBeGreaterThan(quiet) // also without an event
      }
      startHalfMinute()
      const before = await untilTagged(bySession, '/api/timings')
      await change()
      await untilStored()
      expect([what, await tagOf(bySession, '/api/timings')]).not.toEqual([what, before])
    }
    startHalfMinute()
    const before = await untilTagged(bySession, '/api/overview')
    await other.byKey.post('/v1/start', run)
    await untilStored()
    expect((await bySession.get('/api/overview', { 'if-none-match': before })).status).toBe(304)
  })

  test('another person, key or role of the account has other tags', async () => {
    const { account, byKey, bySession } = await newcomer()
    const key = await service!.rooms.accounts.keys.create(account, 'reader', ['read'])
    const byOther = createCaller(service!.url, { key: key.secret })
    startHalfMinute()
    const path = '/api/timings'
    const tags = await Promise.all([byKey, bySession, byOther].map((by) => untilTagged(by, path)))
    expect(new Set(tags).size).toBe(3)
    expect((await byOther.get(path, { 'if-none-match': tags[0]! })).status).toBe(200)
  })

  test('whatever is sent, a caller that repeats its tags ends with the answer of one that has none', async () => {
    const { byKey, bySession } = await newcomer()
    const random = seededRandom(7)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    const held = new Map<string, { tag: string; json: unknown }>()
    let known = 0
    const repeat = async (path: string) => {
      const answer = await bySession.get(path, held.has(path) ? { 'if-none-match': held.get(path)!.tag } : {})
      if (answer.status === 304) {
        known++
        return held.get(path)!.json
      }
      const tag = answer.headers.get('etag')
      if (tag === null) held.delete(path)
      else held.set(path, { tag, json: answer.json })
      return answer.json
    }
    const process = () => pick(['job', 'other'])
    const writes: (() => Promise<unknown>)[] = [
      () => byKey.post('/v1/start', { process: process(), uid: pick(['a', 'b']) }),
      () => byKey.post('/v1/end', { process: process(), uid: pick(['a', 'b']), failed: random() < 0.5 }),
      () => byKey.post('/v1/metrics', { process: process(), items: { rows: random() } }),
      () => byKey.post('/v1/exception', { process: process(), exception: `Error: ${pick(['x', 'y'])}` }),
      () => bySession.post('/api/watches', { name: 'w', process: process(), failed: { after: 1 }, channels: [] }),
      async () => {
        const [watch] = (await bySession.get('/api/watches')).json.watches
        if (watch !== undefined) await bySession.delete(`/api/watches/${watch.id}`)
      },
      async () => {
        const [group] = (await bySession.get('/api/exceptions/groups?from=-1h')).json.groups
        const status = pick(['resolved', 'unresolved'])
        if (group !== undefined) await bySession.patch(`/api/exceptions/groups/${group.fingerprint}`, { status })
      },
    ]
    const withoutNow = (json: unknown) => ({ ...(json as object), at: undefined })
    startHalfMinute()
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 4; i++) {
        await pick(writes)()
        await repeat(pick(PATHS))
        clock.pass(100_000)
      }
      await untilStored()
      for (const path of PATHS) await untilTagged(bySession, path)
      for (const path of PATHS) {
        const repeated = await repeat(path)
        expect([path, withoutNow(repeated)]).toEqual([path, withoutNow((await bySession.get(path)).json)])
      }
      for (const path of PATHS) await repeat(path)
    }
    expect(known).toBeGreaterThan(PATHS.length)
  })
})
