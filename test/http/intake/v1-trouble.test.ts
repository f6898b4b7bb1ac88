// When Stint itself cannot: a full spool, a full or broken disk, a spent budget, a fault nobody thought of. Never a 201, never silence,
// nothing of the inside in the answer, and back to work by itself.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Rooms } from '../../../src/service/open-rooms.ts'
import { systemDisk } from '../../../src/spool/disk.ts'
import { SpoolError } from '../../../src/spool/spool-error.ts'
import { type AppOptions, startApp, type TestApp } from '../../support/app.ts'
import { createFailingDisk } from '../../support/failing-disk.ts'
import { until } from '../../support/until.ts'

const MARK = { process: 'p' }
const EXCEPTION = { process: 'p', exception: 'e' }

async function withApp(options: AppOptions, work: (app: TestApp) => Promise<void>): Promise<void> {
  await using app = await startApp(options)
  await work(app)
}

describe('a full spool', () => {
  test('refuses its kinds with 503 and retry-after, accepts the others, and accepts all again after delivery', () =>
    withApp({ spoolMaxBytes: 1 }, async (app) => {
      expect((await app.post('/v1/start', MARK)).status).toBe(201)
      for (const path of ['/v1/start', '/v1/end', '/v1/metrics']) {
        const answer = await app.post(path, path === '/v1/metrics' ? { ...MARK, items: { a: 1 } } : MARK)
        expect(answer.status).toBe(503)
        expect(answer.headers.get('content-type')).toBe('application/problem+json')
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
        expect(answer.json).toEqual({
          type: 'urn:stint:problem:spool_full',
          title: 'The spool is full',
          status: 503,
          code: 'spool_full',
          detail: 'The spool for this kind of event is full; its store is behind.',
        })
      }
      expect((await app.post('/v1/exception', EXCEPTION)).status).toBe(201)
      const { points } = app.spools
      await points.advance((await points.read(10, 1e6)).next)
      expect((await app.post('/v1/start', MARK)).status).toBe(201)
    }))
})

test('a disk with too little room refuses every kind with 503 and retry-after', () => {
  const full = { ...systemDisk, space: async () => ({ freeBytes: 1000, totalBytes: 1e9 }) }
  return withApp({ disk: { points: full, exceptions: full } }, async (app) => {
    for (const [path, body] of [
      ['/v1/start', MARK],
      ['/v1/exception', EXCEPTION],
    ] as const) {
      const answer = await app.post(path, body)
      expect([answer.status, answer.json.code]).toEqual([503, 'disk_low'])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
  })
})

describe('a broken disk', () => {
  const TRIED =
    'Writing to the disk failed; the event may or may not have been accepted. Send it again; with `at` it is stored once.'
  const REFUSED = 'Writing to the disk failed; the event was not accepted. Send it again.'

  test('is answered 500 without details of the disk, and intake recovers with the disk', () => {
    const points = createFailingDisk()
    return withApp({ disk: { points } }, async (app) => {
      expect((await app.post('/v1/start', MARK)).status).toBe(201)
      points.isBroken = true
      for (let i = 0; i < 3; i++) {
        const answer = await app.post('/v1/start', MARK)
        expect(answer.status).toBe(500)
        expect(answer.headers.get('content-type')).toBe('application/problem+json')
        const { detail, ...problem } = answer.json
        expect(problem).toEqual({
          type: 'urn:stint:problem:disk_failed',
          title: 'The event could not be written to disk',
          status: 500,
          code: 'disk_failed',
        })
        // in between the spool tries to write again, and what it tries with may be kept
        expect(i === 0 ? [TRIED] : [TRIED, REFUSED]).toContain(detail)
        expect(answer.text).not.toMatch(/EIO|secret|path/)
      }
      expect(app.log.join()).toContain('EIO')
      expect(app.log.filter((line) => line.includes('did not take what was sent'))).toHaveLength(1) // not one a request
      expect((await app.post('/v1/exception', EXCEPTION)).status).toBe(201)
      points.isBroken = false
      await until('a start is accepted again', async () => {
        const { status, json } = await app.post('/v1/start', MARK)
        if (status === 201) expect(json.at).toBeString()
        return status === 201
      })
    })
  })

  const SAID = { process: 'p', uid: 'u', output: '12 rows' }
  const KEPT = 'Send the event again; with `at` the output is stored once.'

  test('of the exceptions alone refuses an end with output whole: the output is written first', () => {
    const exceptions = createFailingDisk()
    return withApp({ disk: { exceptions } }, async (app) => {
      exceptions.isBroken = true
      expect((await app.post('/v1/end', SAID)).status).toBe(500)
      const batch = [
        { kind: 'start', process: 'p', uid: 'u' },
        { kind: 'end', ...SAID },
      ]
      const { status, json } = await app.post('/v1/batch', batch)
      expect([status, json.accepted, json.items[1].code]).toEqual([207, 1, 'disk_failed'])
      expect((await app.events()).map(({ kind }) => kind)).toEqual(['start'])
      exceptions.isBroken = false
      await until('it is accepted again', async () => (await app.post('/v1/end', SAID)).status === 201)
      expect((await app.events()).map(({ kind }) => kind)).toEqual(['start', 'end', 'output'])
    })
  })

  test('of the points alone says that the output of an end was stored, never that nothing was', () => {
    const points = createFailingDisk()
    return withApp({ disk: { points } }, async (app) => {
      points.isBroken = true
      await app.post('/v1/start', MARK)
      const one = await app.post('/v1/end', SAID)
      expect([one.status, one.json.detail]).toEqual([
        500,
        `Writing to the disk failed; the output was stored, the end was not. ${KEPT}`,
      ])
      const refused = { kind: 'start', process: 'p', uid: 'u' }
      const all = await app.post('/v1/batch', [refused, { kind: 'end', ...SAID }])
      expect([all.status, all.json.detail]).toEqual([500, one.json.detail])
      expect(all.text).not.toContain('othing')
      expect(new Set((await app.events()).map(({ kind }) => kind))).toEqual(new Set(['output']))
    })
  })

  test('says of a ping with several parts that some may be stored', () => {
    const exceptions = createFailingDisk()
    return withApp({ disk: { exceptions } }, async (app) => {
      const { secret } = await app.rooms.accounts.keys.create(app.account, 'ping', ['ping'])
      exceptions.isBroken = true
      await app.post('/v1/exception', EXCEPTION) // the first one may be kept
      const { status, json } = await app.fetch(`/ping/${secret}/job/fail`, { method: 'POST', body: 'no rows' })
      expect([status, json.detail]).toEqual([
        500,
        'Writing to the disk failed; a part of it may have been accepted. Send it again.',
      ])
    })
  })

  test('affects also the file of moved stamps', () =>
    withApp(
      {
        replace: (rooms) => ({
          ...rooms,
          ownStamps: {
            claim: () => ({
              stamp: { us: 1, sub: 1 },
              kept: Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })),
            }),
          },
        }),
      },
      async (app) => {
        const answer = await app.post('/v1/start', { ...MARK, at: new Date(app.clock.wallUs() / 1000).toISOString() })
        expect([answer.status, answer.json.code]).toEqual([500, 'disk_failed'])
        expect(answer.text).not.toContain('device')
        expect(await app.events()).toEqual([])
      },
    ))
})

test.each([
  ['spool_full', 503, '5'],
  ['disk_low', 503, '5'],
  ['disk_failed', 500, null],
] as const)('a dead letter that cannot be replayed reports %s', (code, status, retryAfter) => {
  const replace = (rooms: Rooms): Rooms => {
    rooms.spools.points.append = () => Promise.reject(new SpoolError(code))
    return rooms
  }
  return withApp({ replace }, async (app) => {
    const record = 'never read'
    app.rooms.deadLetters.bury([{ destination: 'points', account: app.account, reason: 'refused', record }])
    const answer = await app.fetch('/api/dead/1/replay', { method: 'POST', key: app.keys.owner })
    expect([answer.status, answer.json.code]).toEqual([status, code])
    expect(answer.headers.get('retry-after')).toBe(retryAfter)
  })
})

describe('the budget of series', () => {
  test('accepts known series and refuses whole requests beyond it', () =>
    withApp({ seriesMax: 3 }, async (app) => {
      const metrics = (items: object) => app.post('/v1/metrics', { process: 'p', items })
      expect((await app.post('/v1/start', { process: 'p' })).status).toBe(201)
      expect((await metrics({ a: 1 })).status).toBe(201)
      const beyond = await metrics({ b: 1, c: 1 })
      expect(beyond.status).toBe(422)
      expect(beyond.json).toMatchObject({ code: 'series_budget_spent', status: 422 })
      expect(beyond.json.errors).toHaveLength(1)
      expect((await metrics({ b: 1 })).status).toBe(201)
      expect((await metrics({ c: 1 })).status).toBe(422)
      expect((await app.post('/v1/start', { process: 'p', meta: 'new' })).status).toBe(422)
      for (let i = 0; i < 3; i++) {
        expect((await metrics({ a: i, b: i })).status).toBe(201)
        expect((await app.post('/v1/end', { process: 'p', uid: `u${i}` })).status).toBe(201)
      }
    }))

  test('is not used by exceptions, which are never refused', () =>
    withApp({ seriesMax: 1 }, async (app) => {
      const exception = (meta: string) => app.post('/v1/exception', { process: 'p', meta, exception: 'x' })
      expect((await exception('a')).status).toBe(201)
      expect((await app.post('/v1/start', { process: 'p' })).status).toBe(201)
      expect((await app.post('/v1/start', { process: 'q' })).status).toBe(422)
      expect((await exception('b')).status).toBe(201)
    }))
})

describe('an unexpected error', () => {
  const withStatus = (status: unknown, code: unknown) => Object.assign(new Error('inside'), { status, code })
  const thrown: [string, unknown][] = [
    ['an error', new Error('inside')],
    ['an error with a status of its own', withStatus(404, 'NOT_FOUND')],
    ['an error that looks like a validation', withStatus(422, 'VALIDATION')],
    ['an error that looks like a parse error', withStatus(400, 'PARSE')],
    ['an error of a driver', withStatus(200, '60')],
    ['an error that says all is well', withStatus(201, 'OK')],
    [
      'an error that answers for itself',
      Object.assign(new Error('inside'), { toResponse: () => new Response('inside') }),
    ],
    ['an answer', new Response('inside', { status: 201 })],
    ['text', 'inside'],
    ['a number', 201],
    ['an object', { status: 201, message: 'inside' }],
    ['undefined', undefined],
    ['null', null],
  ]

  let thrownNow: unknown
  let app: TestApp
  beforeAll(async () => {
    const admitSeries = ({ process }: { process: string }) => {
      if (process === 'throws') throw thrownNow
      return true
    }
    app = await startApp({
      replace(rooms) {
        const { accounts, spools } = rooms
        const admit: typeof accounts.series.admit = (_, process) => admitSeries({ process })
        const append = () => Promise.reject(thrownNow)
        spools.points.append = append
        return { ...rooms, accounts: { ...accounts, series: { ...accounts.series, admit } } }
      },
    })
  })
  afterAll(() => app.stop())

  test.each(thrown)('a thrown or rejected %s is a plain 500', async (_, error) => {
    thrownNow = error
    const answer = await app.post('/v1/start', { process: 'throws' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'application/problem+json'])
    expect(answer.json).toEqual({
      type: 'urn:stint:problem:internal',
      title: 'Something failed inside Stint',
      status: 500,
      code: 'internal',
      detail: 'An unexpected fault; the log holds the details.',
    })
    const rejected = await app.post('/v1/start', { process: 'rejects' })
    expect([rejected.status, rejected.json.status]).toEqual([500, 500])
    expect(rejected.text).not.toContain('inside')
  })
})
