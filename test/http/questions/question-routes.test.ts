import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { FoundSession } from '../../../src/account/sessions.ts'
import type { Event } from '../../../src/event/event.ts'
import { toRecord } from '../../../src/event/record.ts'
import { parseStampNs } from '../../../src/event/stamp.ts'
import { problemResponse } from '../../../src/http/answers.ts'
import { type AuthorizeDeps, createAuthorize } from '../../../src/http/authorize.ts'
import { describeRoute } from '../../../src/http/docs/describe-route.ts'
import { errorToProblem } from '../../../src/http/error-to-problem.ts'
import { createMounts } from '../../../src/http/mount.ts'
import { type BuriedEvent, mountDeadLetters } from '../../../src/http/questions/dead-letter-routes.ts'
import { questionRoutes } from '../../../src/http/questions/question-routes.ts'
import { createSharedAnswers } from '../../../src/http/questions/shared-answers.ts'
import { Problem } from '../../../src/problem.ts'
import { createChanges } from '../../../src/query/changes.ts'
import { QUESTION_ROUTES, type QuestionKind } from '../../../src/query/question.ts'
import { createQuestions } from '../../../src/query/questions.ts'
import type { Role } from '../../../src/wire/roles.ts'
import { createMemorySource } from '../../support/memory-source.ts'

const S = 1_000_000_000n
const NOW = 1_763_673_600n * S
const common = (agoS: number, meta = '') => ({
  account: 'ada',
  process: 'p',
  meta,
  stamp: parseStampNs(NOW - BigInt(agoS) * S),
})
const EVENTS: Event[] = [
  { ...common(30, 'm'), kind: 'start', uid: 'u' },
  { ...common(20, 'm'), kind: 'end', uid: 'u' },
  { ...common(15), kind: 'metrics', items: [['n', 1.5]] },
  { ...common(10), kind: 'exception', exception: 'Error: x' },
  { ...common(5), kind: 'start', uid: '' },
]

const KEYS: Record<string, { account: string; read: boolean; write: boolean }> = {
  reads: { account: 'ada', read: true, write: false },
  writes: { account: 'ada', read: false, write: true },
  stranger: { account: 'eve', read: true, write: true },
  operator: { account: 'olga', read: true, write: true },
}

const sessionOf = (account: string, role: Role): FoundSession => ({
  ...{ id: 'ses', account, person: 'per', email: 'x@example.com', proof: 'password', createdMs: 0, endsMs: null },
  role,
})
const SESSIONS: Record<string, FoundSession> = {
  ada: sessionOf('ada', 'owner'),
  olga: sessionOf('olga', 'owner'),
  olgasMember: sessionOf('olga', 'member'),
}

const AS_OPERATOR = { cookie: 'stint_session=olga' }

function open() {
  const letters: (BuriedEvent & { account: string })[] = EVENTS.map((event, i) => ({
    id: String(i),
    account: 'ada',
    reason: `reason ${i}`,
    record: toRecord(event),
    buriedAtUs: Number(NOW / 1000n) + i,
  }))
  const replayed: string[] = []
  const find = (account: string | undefined, id: string) =>
    letters.findIndex((l) => l.account === (account ?? l.account) && l.id === id)
  const remove = (account: string | undefined, id: string) => {
    const i = find(account, id)
    if (i >= 0) letters.splice(i, 1)
    return i >= 0
  }
  const deps: AuthorizeDeps = {
    keyHeader: 'x-stint-api-key',
    keyInvalid: new Problem('key_invalid', 'Send a key.'),
    findKey: (secret) => KEYS[secret] && { keyId: secret, ping: false, manage: false, role: 'member', ...KEYS[secret] },
    findSession: async (token) => SESSIONS[token],
    isOperator: (account) => account === 'olga',
    isOwnHost: () => true,
  }
  const authorize = createAuthorize(deps)
  const questions = createQuestions({
    ...createMemorySource(EVENTS),
    nowNs: () => NOW,
    maxRunNs: 86_400n * S,
    maxMarks: 100,
    series: (account) => ({ used: account.length, max: 10 }),
    firing: async () => [],
  })
  const dead = {
    list: (account: string | undefined, { limit, before }: { limit: number; before?: string }) =>
      letters
        .filter((l) => l.account === (account ?? l.account) && (before === undefined || l.id > before))
        .slice(0, limit),
    replay: async (account: string | undefined, id: string) => {
      if (remove(account, id)) replayed.push(id)
      else return false
      return true
    },
    remove,
    buryHeld(reason: string) {
      replayed.push(reason)
      return ['metrics' as const]
    },
  }
  const app = new Elysia({ normalize: false })
    .onError(({ error }) => {
      const problem = errorToProblem(error)
      if (problem === undefined) throw error
      return problemResponse(problem)
    })
    .use(questionRoutes({ authorize, questions }))
  const mounts = createMounts(app, { authorize, isOwnHost: () => true, noteDone: async () => {} })
  mountDeadLetters(mounts, { nowNs: () => NOW, dead })
  const call = (path: string, { key = 'reads', method = 'GET', headers = {}, body = '' } = {}) =>
    app.handle(
      new Request(`http://localhost${path}`, {
        method,
        ...(body !== '' && { body }),
        headers: { ...(key !== '' && { 'x-stint-api-key': key }), ...headers },
      }),
    )
  return { call, letters, replayed, ask: async (path: string) => (await call(path)).json() }
}

const PATHS: Record<Exclude<QuestionKind, 'deadAction'>, string> = {
  timings: '/api/timings',
  latest: '/api/timings/latest',
  summary: '/api/timings/summary',
  metrics: '/api/metrics',
  exceptions: '/api/exceptions',
  groups: '/api/exceptions/groups',
  export: '/api/exceptions/export',
  processes: '/api/processes',
  series: '/api/series',
  prometheus: '/api/prometheus',
  dead: '/api/dead',
}
const kinds = Object.keys(PATHS) as (keyof typeof PATHS)[]

describe.each(kinds)('%s', (kind) => {
  const { call } = open()
  const path = PATHS[kind]

  test('returns JSON, or text for Prometheus and files, that is not cached', async () => {
    const response = await call(path)
    expect(response.status).toBe(200)
    const type = {
      prometheus: 'text/plain; version=0.0.4; charset=utf-8',
      export: 'text/csv; charset=utf-8; header=present',
    }
    expect(response.headers.get('content-type')).toBe({ ...type }[kind as string] ?? 'application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('takes the key as a bearer token, too', async () => {
    const bearer = (token: string) => call(path, { key: '', headers: { authorization: token } })
    for (const [token, status] of [
      ['Bearer reads', 200],
      ['bearer  reads', 200],
      ['Bearer writes', 403],
      ['Bearer unknown', 401],
      ['Bearer', 401],
      ['Basic reads', 401],
    ] as const)
      expect([token, (await bearer(token)).status]).toEqual([token, status])
  })

  test('is answered for a session', async () => {
    expect((await call(path, { key: '', headers: { cookie: 'stint_session=ada' } })).status).toBe(200)
  })

  test('refuses unknown parameters, with pointers', async () => {
    const response = await call(`${path}?nonsense=1&nonsense=2`)
    expect(response.status).toBe(422)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toMatchObject({ code: 'question_invalid', errors: [{ pointer: '/nonsense' }] })
  })

  test('answers and example fit the schema', async () => {
    if (kind === 'prometheus' || kind === 'export') return // their texts have tests of their own
    const { schema, example } = describedAnswer(kind)
    expect(misfits(schema, example)).toEqual([])
    expect(misfits(schema, await (await call(path)).json())).toEqual([])
  })

  test('documents each parameter', () => {
    const described = (describeQuestion(kind).parameters ?? []) as { name: string; in: string; description: string }[]
    expect(described.map(({ name }) => name)).toEqual([...QUESTION_ROUTES[kind].parameters])
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
    const body = await open().ask(PATHS[kind] + query)
    expect(body.rows.length).toBeGreaterThan(0)
    expect(misfits(describedAnswer(kind).schema, body)).toEqual([])
  })
})

test('the answers contain what was sent', async () => {
  const { ask } = open()
  const at = (agoS: number) => new Date(Number(NOW / 1_000_000n) - agoS * 1000).toISOString().replace('Z', '000000Z')
  expect(await ask('/api/timings?limit=1&meta=m')).toEqual({
    timings: [
      {
        process: 'p',
        meta: 'm',
        uid: 'u',
        state: 'completed',
        started_at: at(30),
        ended_at: at(20),
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
    points: [{ at: at(15), process: 'p', meta: null, name: 'n', value: 1.5 }],
    next: null,
  })
  expect(await ask('/api/exceptions')).toMatchObject({
    exceptions: [{ at: at(10), exception: 'Error: x' }],
    next: null,
  })
  expect(await ask('/api/exceptions/groups')).toMatchObject({ groups: [{ count: 1, example: 'Error: x' }] })
  expect(await ask('/api/processes')).toEqual({
    processes: [
      {
        process: 'p',
        metas: [null, 'm'],
        more_metas: false,
        last_at: at(5),
        kinds: ['mark', 'metric', 'exception'],
      },
    ],
    next: null,
  })
})

describe('a dead letter', () => {
  test('shows the event, the reason and when it was buried', async () => {
    const { ask } = open()
    const { dead } = await ask('/api/dead')
    expect(dead[0]).toEqual({
      id: '0',
      kind: 'start',
      process: 'p',
      meta: 'm',
      at: '2025-11-20T21:19:30.000000000Z',
      reason: 'reason 0',
      buried_at: '2025-11-20T21:20:00.000000000Z',
      event: { process: 'p', meta: 'm', uid: 'u', at: '2025-11-20T21:19:30.000000000Z' },
    })
    expect(dead.map((d: { event: object }) => d.event)).toMatchObject([
      { uid: 'u' },
      { uid: 'u' },
      { meta: null, items: { n: 1.5 } },
      { exception: 'Error: x' },
      { uid: null },
    ])
  })

  test('can be replayed once', async () => {
    const { call, replayed } = open()
    expect((await call('/api/dead/2/replay', { key: 'writes', method: 'POST' })).status).toBe(204)
    expect(replayed).toEqual(['2'])
    expect((await call('/api/dead/2/replay', { key: 'writes', method: 'POST' })).status).toBe(404)
  })

  test('can be deleted once', async () => {
    const { call, letters } = open()
    expect((await call('/api/dead/2', { key: 'writes', method: 'DELETE' })).status).toBe(204)
    expect(letters.map(({ id }) => id)).toEqual(['0', '1', '3', '4'])
    expect(await (await call('/api/dead/2', { key: 'writes', method: 'DELETE' })).json()).toMatchObject({
      code: 'not_found',
    })
  })

  test('is inaccessible to other accounts', async () => {
    const { call, letters } = open()
    for (const key of ['', 'unknown', 'reads', 'stranger']) {
      const status = { reads: 403, stranger: 404 }[key] ?? 401
      expect((await call('/api/dead/2', { key, method: 'DELETE' })).status).toBe(status)
      expect((await call('/api/dead/2/replay', { key, method: 'POST' })).status).toBe(status)
    }
    expect(letters).toHaveLength(5)
  })
})

const describeQuestion = (kind: QuestionKind) => describeRoute(QUESTION_ROUTES[kind]).detail

describe('the dead letters of all accounts', () => {
  test('are listed for the operator, with their account', async () => {
    const { call } = open()
    const { dead } = await (await call('/api/dead?all=true', { key: '', headers: AS_OPERATOR })).json()
    expect(dead.map(({ account, id }: { account: string; id: string }) => [account, id])).toEqual(
      EVENTS.map((_, i) => ['ada', String(i)]),
    )
    expect(misfits(describedAnswer('dead').schema, { dead, next: null })).toEqual([])
    expect((await (await call('/api/dead', { key: '', headers: AS_OPERATOR })).json()).dead).toEqual([])
    const refused = await call('/api/dead?all=true')
    expect([refused.status, (await refused.json()).code]).toEqual([403, 'operator_only'])
  })

  test('are replayed and deleted by the operator', async () => {
    const { call, letters, replayed } = open()
    expect((await call('/api/dead/1/replay?all=true', { key: '', headers: AS_OPERATOR, method: 'POST' })).status).toBe(
      204,
    )
    expect((await call('/api/dead/2', { key: '', headers: AS_OPERATOR, method: 'DELETE' })).status).toBe(404)
    expect((await call('/api/dead/2?all=true', { key: 'writes', method: 'DELETE' })).status).toBe(403)
    expect((await call('/api/dead/2?all=true', { key: '', headers: AS_OPERATOR, method: 'DELETE' })).status).toBe(204)
    expect([replayed, letters.map(({ id }) => id)]).toEqual([['1'], ['0', '3', '4']])
  })
})

test('only the operator buries events that are held back, with a reason', async () => {
  const { call, replayed } = open()
  const bury = (who: { key?: string; cookie?: string }, body: object) =>
    call('/api/dead/held', {
      key: who.key ?? '',
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...(who.cookie && { cookie: `stint_session=${who.cookie}` }) },
    })
  for (const [who, code] of [
    [{ key: 'reads' }, 'operator_only'],
    [{ key: 'operator', cookie: 'olga' }, 'operator_only'],
    [{ cookie: 'ada' }, 'operator_only'],
    [{ cookie: 'olgasMember' }, 'role_missing'],
  ] as const) {
    const refused = await bury(who, { reason: 'r' })
    expect([refused.status, (await refused.json()).code]).toEqual([403, code])
  }
  expect((await bury({ cookie: 'olga' }, { reason: '' })).status).toBe(422)
  const buried = await bury({ cookie: 'olga' }, { reason: 'another tool owns it' })
  expect([buried.status, await buried.json()]).toEqual([202, { families: ['metrics'] }])
  expect(replayed).toEqual(['another tool owns it'])
})

test('a dead letter of a kind that only a newer version knows is listed and deleted', async () => {
  const { call, letters, ask } = open()
  letters.splice(1, 4)
  letters[0] = { ...letters[0]!, record: '["z",1,0,"ada","p","",{"new":true}]' }
  const answer = await ask('/api/dead')
  expect(answer.dead).toMatchObject([{ id: '0', kind: 'unknown', process: null, meta: null, at: null, event: null }])
  expect(misfits(describedAnswer('dead').schema, answer)).toEqual([])
  expect((await call('/api/dead/0', { key: 'writes', method: 'DELETE' })).status).toBe(204)
})

function describedAnswer(kind: QuestionKind) {
  const answer = describeQuestion(kind).responses!['200'] as { content?: unknown }
  return (answer.content as { 'application/json': { schema: Schema; example: unknown } })['application/json']
}

interface Schema {
  readonly type?: string
  readonly nullable?: boolean
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Record<string, Schema>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
}

/** Where a value is not of its schema: a member that is undescribed, missing or of another type. */
function misfits(schema: Schema, value: unknown, at = ''): string[] {
  if (schema.anyOf !== undefined) {
    const tries = schema.anyOf.map((one) => misfits(one, value, at))
    return tries.find((found) => found.length === 0) ?? tries.flat()
  }
  if (value === null) return schema.nullable ? [] : [`${at} is null`]
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${at} is not one of its values`]
  if (schema.type === 'array')
    return Array.isArray(value)
      ? value.flatMap((item, i) => misfits(schema.items!, item, `${at}/${i}`))
      : [`${at} is no list`]
  if (schema.type === 'integer') return Number.isInteger(value) ? [] : [`${at} is no integer`]
  if (typeof value !== schema.type) return [`${at} is no ${schema.type}`]
  if (schema.type !== 'object' || schema.additionalProperties) return []
  const { properties = {}, required = [] } = schema
  const members = Object.entries(value as object)
  return [
    ...required.filter((name) => !Object.hasOwn(value as object, name)).map((name) => `${at}/${name} is missing`),
    ...members.flatMap(([name, member]) =>
      properties[name] === undefined
        ? [`${at}/${name} is undescribed`]
        : misfits(properties[name], member, `${at}/${name}`),
    ),
  ]
}

test('aborts a question whose client disconnected', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<AbortSignal>()
  const { points, exceptions } = createMemorySource([])
  const never = new Promise<never>(() => {})
  const questions = createQuestions({
    points,
    exceptions: {
      ...exceptions,
      findExceptions({ signal }) {
        resolve(signal!)
        return never
      },
    },
    nowNs: () => NOW,
    maxRunNs: S,
    maxMarks: 1,
    series: () => ({ used: 0, max: 0 }),
    firing: async () => [],
  })
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

test('a shared answer stays until something of its account is stored, at most ten seconds', async () => {
  let nowMs = 0
  let asked = 0
  const changes = createChanges(() => 0, false)
  const routes = questionRoutes({
    authorize: async () => ({ account: 'ada', role: 'member', isOperator: false }),
    questions: { timings: async () => ({ timings: [], next: `${++asked}` }) } as never,
    shared: createSharedAnswers(() => nowMs),
    changes,
  })
  const ask = async () => {
    const headers = { 'cache-control': 'max-age=2' }
    return (await (await routes.handle(new Request('http://localhost/api/timings', { headers }))).json()).next
  }
  expect([await ask(), await ask()]).toEqual(['1', '1'])
  nowMs = 3_000
  expect(await ask()).toBe('1')
  changes.note([EVENTS[0]!])
  expect(await ask()).toBe('2')
  nowMs = 13_001
  expect(await ask()).toBe('3')
})
