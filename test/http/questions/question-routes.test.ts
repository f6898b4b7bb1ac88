// The questions and dead letters over HTTP, as the keys and sessions of an account, of the operator and of strangers ask.
import { beforeAll, describe, expect, test } from 'bun:test'
import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Event } from '../../../src/event/event.ts'
import { toRecord } from '../../../src/event/record.ts'
import { parseStampNs } from '../../../src/event/stamp.ts'
import { describeRoute, toOpenApi } from '../../../src/http/docs/describe-route.ts'
import { createAnswerTags } from '../../../src/http/questions/answer-tags.ts'
import { questionRoutes } from '../../../src/http/questions/question-routes.ts'
import { createKeptAnswers } from '../../../src/query/kept-answers.ts'
import { readersOf } from '../../../src/query/parameters.ts'
import { QUESTION_ROUTES, type QuestionKind } from '../../../src/query/question.ts'
import type { Answer as Answered } from '../../../src/wire/route.ts'
import { choice, orNull } from '../../../src/wire/shapes.ts'
import { useApp } from '../../support/app.ts'
import { type Answer, createCaller, type SignedUp, signInAt, signUpAt } from '../../support/caller.ts'
import { deskOf, memoryQuestions } from '../../support/memory-questions.ts'
import { createMemorySource } from '../../support/memory-source.ts'
import { misfits } from '../../support/misfits.ts'
import { enter, join, ownerOf } from '../../support/people.ts'
import { until } from '../../support/until.ts'

const S = 1_000_000_000n
const stored: Event[] = []
/** Its owner is the operator. */
const app = await useApp({ signup: 'open', stored })
const NOW = BigInt(app.clock.wallUs()) * 1000n
const timeAt = (agoS: number) => new Date(Number(NOW / 1_000_000n) - agoS * 1000).toISOString().replace('Z', '000000Z')
const operator = await signInAt(app.url)

function eventsOf(account: string): Event[] {
  const common = (agoS: number, meta = '') => ({
    ...{ account, process: 'p', meta, stamp: parseStampNs(NOW - BigInt(agoS) * S) },
  })
  return [
    { ...common(30, 'm'), kind: 'start', uid: 'u' },
    { ...common(20, 'm'), kind: 'end', uid: 'u' },
    { ...common(15), kind: 'metrics', items: [['n', 1.5]] },
    { ...common(10), kind: 'exception', exception: 'Error: x' },
    { ...common(5), kind: 'start', uid: '' },
  ]
}

let people = 0
const newcomer = () => signUpAt(app.url, `p${++people}@example.com`)
const keyOf = async (account: string, scope: 'write' | 'read') =>
  createCaller(app.url, { key: (await app.rooms.accounts.keys.create(account, scope, [scope])).secret })

let ada: SignedUp
beforeAll(async () => {
  ada = await newcomer()
  stored.push(...eventsOf(ada.account))
})
const ask = async (path: string) => (await ada.byKey.get(path)).json

const PATHS: Record<Exclude<QuestionKind, 'deadAction'>, string> = {
  timings: '/api/timings',
  latest: '/api/timings/latest',
  summary: '/api/timings/summary',
  metrics: '/api/metrics',
  exceptions: '/api/exceptions',
  outputs: '/api/outputs',
  groups: '/api/exceptions/groups',
  export: '/api/exceptions/export',
  processes: '/api/processes',
  series: '/api/series',
  prometheus: '/api/prometheus',
  dead: '/api/dead',
}
const kinds = Object.keys(PATHS) as (keyof typeof PATHS)[]

describe.each(kinds)('%s', (kind) => {
  const path = PATHS[kind]

  test('returns JSON, or text for Prometheus and files, that is not cached', async () => {
    const { status, headers } = await ada.byKey.get(path)
    expect(status).toBe(200)
    const type = {
      prometheus: 'text/plain; version=0.0.4; charset=utf-8',
      export: 'text/csv; charset=utf-8; header=present',
    }
    expect(headers.get('content-type')).toBe({ ...type }[kind as string] ?? 'application/json')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('takes the key as a bearer token, too', async () => {
    const { reader, writer } = app.keys
    for (const [token, status] of [
      [`Bearer ${reader}`, 200],
      [`bearer  ${reader}`, 200],
      [`Bearer ${writer}`, 403],
      ['Bearer unknown', 401],
      ['Bearer', 401],
      [`Basic ${reader}`, 401],
    ] as const)
      expect([token, (await createCaller(app.url).get(path, { authorization: token })).status]).toEqual([token, status])
  })

  test('refuses unknown parameters, with pointers', async () => {
    const { status, headers, json } = await ada.byKey.get(`${path}?nonsense=1&nonsense=2`)
    expect([status, headers.get('content-type')]).toEqual([422, 'application/problem+json'])
    expect(json).toMatchObject({ code: 'question_invalid', errors: [{ pointer: '/nonsense' }] })
  })

  test('answers fit the schema', async () => {
    if (kind === 'prometheus' || kind === 'export') return // their texts have tests of their own
    expect(misfits(answerOf(kind).schema, await ask(path))).toEqual([])
  })

  test('documents each parameter', () => {
    const described = (describeRoute(QUESTION_ROUTES[kind]).detail.parameters ?? []) as {
      name: string
      in: string
      description: string
    }[]
    expect(described.map(({ name }) => name)).toEqual(Object.keys(readersOf(QUESTION_ROUTES[kind])))
    for (const parameter of described) {
      expect(parameter.in).toBe('query')
      expect(parameter.description).toEndWith('.')
    }
  })
})

describe('the other forms of an answer fit their schemas:', () => {
  test.each([
    ['summary', '?by=meta&every=1m'],
    ['metrics', '?every=1m'],
  ] as const)('%s%s', async (kind, query) => {
    const body = await ask(PATHS[kind] + query)
    expect(body.rows.length).toBeGreaterThan(0)
    expect(misfits(answerOf(kind).schema, body)).toEqual([])
  })
})

test('the answers contain what was sent', async () => {
  expect(await ask('/api/timings?limit=1&meta=m')).toEqual({
    timings: [
      {
        process: 'p',
        meta: 'm',
        uid: 'u',
        state: 'completed',
        started_at: timeAt(30),
        ended_at: timeAt(20),
        duration_ms: 10_000,
        exceptions: 0,
      },
    ],
    next: null,
  })
  const running = { meta: null, uid: null, state: 'running', ended_at: null, duration_ms: null }
  expect(await ask('/api/timings?meta=')).toMatchObject({ timings: [running] })
  expect(await ask('/api/timings/summary')).toMatchObject({
    rows: [{ process: 'p', count: 1, p50_ms: 10_000, running: 1 }],
  })
  expect(await ask('/api/metrics')).toMatchObject({
    points: [{ at: timeAt(15), process: 'p', meta: null, name: 'n', value: 1.5 }],
    next: null,
  })
  expect(await ask('/api/exceptions')).toMatchObject({
    exceptions: [{ at: timeAt(10), exception: 'Error: x' }],
    next: null,
  })
  expect(await ask('/api/exceptions/groups')).toMatchObject({ groups: [{ count: 1, example: 'Error: x' }] })
  expect(await ask('/api/processes')).toEqual({
    processes: [
      {
        process: 'p',
        metas: [null, 'm'],
        more_metas: false,
        last_at: timeAt(5),
        kinds: ['mark', 'metric', 'exception'],
      },
    ],
    next: null,
  })
})

/** A newcomer with five dead letters, newest first. */
async function bury(records?: string[]) {
  const person = await newcomer()
  const all = records ?? eventsOf(person.account).map(toRecord)
  const letters = all.map((record, i) => ({ account: person.account, reason: `reason ${i}`, record }))
  app.rooms.deadLetters.bury(letters.map((letter) => ({ ...letter, destination: 'points' })))
  const list = async () => (await person.byKey.get('/api/dead')).json.dead as { id: string; event: object }[]
  const ids = (await list()).map(({ id }) => id)
  const path = `/api/dead/${ids[2]}`
  return { ...person, list, ids, path, writes: await keyOf(person.account, 'write') }
}
const code = ({ status, json }: Answer) => `${status} ${json?.code}`

describe('a dead letter', () => {
  test('shows the event, the reason and when it was buried', async () => {
    const dead = await (await bury()).list()
    expect(dead.at(-1)).toEqual({
      id: expect.any(String),
      ...{ kind: 'start', process: 'p', meta: 'm', at: timeAt(30), reason: 'reason 0', buried_at: timeAt(0) },
      event: { process: 'p', meta: 'm', uid: 'u', at: timeAt(30) },
    })
    expect(dead.map(({ event }) => event)).toMatchObject([
      { uid: null },
      { exception: 'Error: x' },
      { meta: null, items: { n: 1.5 } },
      { uid: 'u' },
      { uid: 'u' },
    ])
  })

  test('can be replayed or deleted once', async () => {
    const { list, ids, path, writes } = await bury()
    const other = `/api/dead/${ids[1]}`
    expect(code(await writes.post(`${path}/replay`, undefined))).toBe('204 undefined')
    expect((await app.events()).at(-1)).toMatchObject({ kind: 'metrics', items: [['n', 1.5]] })
    expect(code(await writes.post(`${path}/replay`, undefined))).toBe('404 not_found')
    expect(code(await writes.delete(other))).toBe('204 undefined')
    expect((await list()).map(({ id }) => id)).toEqual([ids[0]!, ...ids.slice(3)])
    expect(code(await writes.delete(other))).toBe('404 not_found')
  })

  test('is inaccessible to other accounts', async () => {
    const { account, list, path } = await bury()
    for (const [caller, status] of [
      [createCaller(app.url), 401],
      [createCaller(app.url, { key: 'unknown' }), 401],
      [await keyOf(account, 'read'), 403],
      [ada.byKey, 404],
    ] as const) {
      expect((await caller.delete(path)).status).toBe(status)
      expect((await caller.post(`${path}/replay`, undefined)).status).toBe(status)
    }
    expect(await list()).toHaveLength(5)
  })

  test('of a kind that only a newer version knows is listed and deleted', async () => {
    const { byKey, list, ids, writes } = await bury(['["z",1,0,"ada","p","",{"new":true}]'])
    expect(await list()).toMatchObject([{ kind: 'unknown', process: null, meta: null, at: null, event: null }])
    expect(misfits(answerOf('dead').schema, (await byKey.get('/api/dead')).json)).toEqual([])
    expect((await writes.delete(`/api/dead/${ids[0]}`)).status).toBe(204)
  })
})

test('the operator lists, replays and deletes the dead letters of all accounts', async () => {
  const { account, byKey, list, ids, path, writes } = await bury()
  const answer = (await operator.get('/api/dead?all=true&limit=5')).json
  expect(answer.dead.map((one: { account: string; id: string }) => [one.account, one.id])).toEqual(
    ids.map((id) => [account, id]),
  )
  expect(misfits(answerOf('dead').schema, answer)).toEqual([])
  expect((await operator.get('/api/dead')).json.dead).toEqual([])
  expect(code(await byKey.get('/api/dead?all=true'))).toBe('403 operator_only')
  expect((await operator.post(`/api/dead/${ids[1]}/replay?all=true`, undefined)).status).toBe(204)
  expect((await operator.delete(path)).status).toBe(404)
  expect((await writes.delete(`${path}?all=true`)).status).toBe(403)
  expect((await operator.delete(`${path}?all=true`)).status).toBe(204)
  expect((await list()).map(({ id }) => id)).toEqual([ids[0]!, ...ids.slice(3)])
})

test('only the operator buries events that are held back, with a reason', async () => {
  const reasons: string[] = []
  const { points, exceptions } = app.rooms.shippers
  points.buryHeld = (reason) => {
    reasons.push(reason)
    return ['metrics']
  }
  exceptions.buryHeld = () => []
  const member = await enter(app, await join(app, 'member'))
  const owner = await enter(app, (await ownerOf(app)).person)
  const bury = (body: object, caller = operator) => caller.post('/api/dead/held', body)
  for (const [caller, expected] of [
    [ada.byKey, '403 operator_only'],
    [createCaller(app.url, { key: app.keys.owner, cookie: owner }), '403 operator_only'],
    [ada.bySession, '403 operator_only'],
    [createCaller(app.url, { cookie: member }), '403 role_missing'],
  ] as const)
    expect(code(await bury({ reason: 'r' }, caller))).toBe(expected)
  expect((await bury({ reason: '' })).status).toBe(422)
  const buried = await bury({ reason: 'another tool owns it' })
  expect([buried.status, buried.json]).toEqual([202, { families: ['metrics'] }])
  expect(reasons).toEqual(['another tool owns it'])
})

function answerOf(kind: QuestionKind) {
  const { body } = Object.values(QUESTION_ROUTES[kind].answers)[0] as Answered
  if (typeof body !== 'object') throw new Error('a text')
  return body
}

test.each<[TSchema, object]>([
  [orNull(Type.Integer(), 5), { type: 'integer', nullable: true, example: 5 }],
  [orNull(choice(['a', 'b'])), { type: 'string', enum: ['a', 'b'], nullable: true }],
  [Type.Object({ a: orNull(Type.Object({})) }), { properties: { a: { type: 'object', nullable: true } } }],
])('%j in the words of OpenAPI 3.0', (schema, expected) => {
  expect<object>(toOpenApi(schema)).toMatchObject(expected)
})

test('aborts a question whose client disconnected', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<AbortSignal>()
  const { exceptions } = createMemorySource([])
  const findExceptions: typeof exceptions.findExceptions = ({ signal }) => {
    resolve(signal!)
    return new Promise<never>(() => {})
  }
  const desk = deskOf({ deadlineMs: 1e9, maxAtOnce: 1, maxRunning: 1 }) // a deadline would abort it, too
  const questions = memoryQuestions([], { exceptions: { ...exceptions, findExceptions }, desk })
  const failures: unknown[] = []
  const app = new Elysia()
    .onError(({ error }) => void failures.push(error))
    .use(questionRoutes({ authorize: async () => ({ account: 'ada', role: 'owner', isOperator: false }), questions }))
    .listen({ hostname: '127.0.0.1', port: 0 })
  const client = new AbortController()
  const answer = fetch(`http://127.0.0.1:${app.server!.port}/api/exceptions`, { signal: client.signal })
  const signal = await asked
  expect(signal.aborted).toBe(false)
  const givenUp = new Promise((resolve) => signal.addEventListener('abort', resolve))
  client.abort()
  await expect(answer).rejects.toThrow()
  await givenUp
  await app.stop(true)
  expect(failures).toEqual([])
})

test('a question that is being answered is asked once for all who ask it, of one account', async () => {
  const asked: string[] = []
  const { promise: answered, resolve } = Promise.withResolvers<void>()
  const routes = questionRoutes({
    authorize: async ({ headers }) => ({ account: headers.get('account')!, role: 'member', isOperator: false }),
    questions: {
      timings: async (account: string) => {
        asked.push(account)
        await answered
        return { timings: [], next: `${account} ${asked.length}` }
      },
    } as never,
    kept: createKeptAnswers(() => 0),
  })
  const ask = async (account: string, query = '') => {
    const answer = await routes.handle(new Request(`http://localhost/api/timings${query}`, { headers: { account } }))
    return (await answer.json()).next
  }
  const first = [ask('ada'), ask('ada'), ask('eve'), ask('ada'), ask('ada', '?limit=7')]
  await until('all asked', () => asked.length === 3)
  resolve()
  expect(await Promise.all(first)).toEqual(['ada 3', 'ada 3', 'eve 3', 'ada 3', 'ada 3'])
  expect(asked).toEqual(['ada', 'eve', 'ada'])
  expect(await ask('ada')).toBe('ada 4') // afresh
})

test('a shared answer stays until something of its account is stored, at most ten seconds', async () => {
  let nowMs = 0
  let asked = 0
  let version = '1'
  const routes = questionRoutes({
    authorize: async () => ({ account: 'ada', role: 'member', isOperator: false }),
    questions: { timings: async () => ({ timings: [], next: `${++asked}` }) } as never,
    kept: createKeptAnswers(() => nowMs),
    tags: createAnswerTags({ start: '', versionOf: () => version, watchChanges: () => 0, nowMs: () => nowMs }),
  })
  const ask = async () => {
    const headers = { 'cache-control': 'max-age=2' }
    return (await (await routes.handle(new Request('http://localhost/api/timings', { headers }))).json()).next
  }
  expect([await ask(), await ask()]).toEqual(['1', '1'])
  nowMs = 3_000
  expect(await ask()).toBe('1')
  version = '2'
  expect(await ask()).toBe('2')
  nowMs = 13_001
  expect(await ask()).toBe('3')
})
