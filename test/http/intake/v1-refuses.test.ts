// Invalid fields of a body: 422 with a JSON pointer for every fault at once, never a value of the caller's, and nothing is stored.
import { describe, expect, test } from 'bun:test'
import { useApp } from '../../support/app.ts'

const app = await useApp()

const EMOJI = '😀'
const NOT_A_STRING = 'must be a string'
const REQUIRED = 'is required'
const UNKNOWN = 'is not a field of this endpoint'
const ILL_FORMED = 'must be well-formed Unicode'
const NOT_AN_OBJECT = 'must be a JSON object'
const NAME_HOLDS = `a metric name must not hold ', ", % or control characters`

type Faults = [pointer: string, detail: string][]

async function refused(path: string, body: unknown, faults: Faults): Promise<void> {
  const before = (await app.events()).length
  const answer = await app.post(path, body)
  expect(answer.json).toEqual({
    type: 'urn:stint:problem:fields_invalid',
    title: 'The body is not valid',
    status: 422,
    code: 'fields_invalid',
    detail: faults.length === 1 ? 'The body has 1 error.' : `The body has ${faults.length} errors.`,
    errors: faults.map(([pointer, detail]) => ({ pointer, detail })),
  })
  expect(answer.status).toBe(422)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect((await app.events()).length).toBe(before)
}

describe('a body that is not an object', () => {
  test.each(['null', '5', '0', '"text"', '""', 'true', 'false', '[]', '[{"process":"p"}]', '[[]]'])('%s', (body) =>
    refused('/v1/start', body, [['', NOT_AN_OBJECT]]),
  )
})

// All forms of items: test/event/fields.test.ts.
describe('a field of an endpoint', () => {
  const rows: [path: string, body: object, pointer: string, detail: string][] = [
    ['/v1/start', {}, '/process', REQUIRED],
    ['/v1/end', { process: null }, '/process', NOT_A_STRING],
    ['/v1/metrics', { process: '', items: { a: 1 } }, '/process', 'must not be empty'],
    ['/v1/exception', { process: `'"%\u0000\\`, exception: 'e' }, '/process', 'must not be empty after stripping'],
    ['/v1/start', { process: EMOJI.repeat(251) }, '/process', 'must have at most 250 characters'],
    ['/v1/end', { process: 'p', meta: EMOJI.repeat(501) }, '/meta', 'must have at most 500 characters'],
    ['/v1/start', { process: 'p', uid: 'ä' }, '/uid', 'may only hold a-z, 0-9, - and _'],
    ['/v1/end', { process: 'p', uid: 'A' }, '/uid', 'may only hold a-z, 0-9, - and _'],
    ['/v1/end', { process: 'p', uid: 'a\n' }, '/uid', 'may only hold a-z, 0-9, - and _'],
    ['/v1/start', { process: 'p', uid: 'a'.repeat(51) }, '/uid', 'must have at most 50 characters'],
    ['/v1/metrics', { process: 'p', items: { a: 1 }, uid: null }, '/uid', NOT_A_STRING],
    ['/v1/start', { process: 5 }, '/process', NOT_A_STRING],
    ['/v1/start', { process: `a${"'".repeat(250)}` }, '/process', 'must have at most 250 characters'],
    ['/v1/end', { process: 'p', meta: [] }, '/meta', NOT_A_STRING],
    ...[null, 'true', 1, 0, [], {}].map((failed): (typeof rows)[0] => [
      '/v1/end',
      { process: 'p', failed },
      '/failed',
      'must be true or false',
    ]),
    ['/v1/metrics', { process: 'p' }, '/items', REQUIRED],
    ['/v1/metrics', { process: 'p', items: 'a' }, '/items', 'must be an object of numbers or a list of metrics'],
    ['/v1/metrics', { process: 'p', items: { 'a/b~': 'x' } }, '/items/a~1b~0', 'must be a finite number'],
    ['/v1/metrics', { process: 'p', items: [{ a: 1 }, { name: "it's", value: 1 }] }, '/items/1/name', NAME_HOLDS],
    ...(
      [
        ['', 'a metric name must not be empty'],
        [EMOJI.repeat(251), 'a metric name must have at most 250 characters'],
        ['100%', NAME_HOLDS],
        ['a\u007f', NAME_HOLDS],
        ['a\\', 'a metric name must not end in a backslash'],
      ] as const
    ).map(([name, detail]): (typeof rows)[0] => [
      '/v1/metrics',
      { process: 'p', items: { [name]: 1 } },
      `/items/${name}`,
      detail,
    ]),
    ['/v1/exception', { process: 'p' }, '/exception', REQUIRED],
    ['/v1/exception', { process: 'p', exception: { message: 'e' } }, '/exception', NOT_A_STRING],
    [
      '/v1/exception',
      { process: 'p', exception: EMOJI.repeat(15_001) },
      '/exception',
      'must have at most 15000 characters',
    ],
  ]
  for (const [path, body, pointer, detail] of rows)
    test(`${path}: ${pointer} ${detail} ${JSON.stringify(body).slice(0, 60)}`, () =>
      refused(path, body, [[pointer, detail]]))

  test.each(['1e400', '-1e400', '1e999999'])('%s is beyond every number', (number) =>
    refused('/v1/metrics', `{"process":"p","items":{"a":${number}}}`, [['/items/a', 'must be a finite number']]),
  )
})

describe('lone surrogates', () => {
  test.each<[string, string, string, string]>([
    ['in process', '/v1/start', String.raw`{"process":"a\ud800"}`, '/process'],
    ['in meta', '/v1/start', String.raw`{"process":"p","meta":"\udc00\ud800"}`, '/meta'],
    ['in exception', '/v1/exception', String.raw`{"process":"p","exception":"\ud83d"}`, '/exception'],
  ])('%s', (_, path, body, pointer) => refused(path, body, [[pointer, ILL_FORMED]]))

  test('in a name: the pointer is still well-formed', () =>
    refused('/v1/metrics', String.raw`{"process":"p","items":{"a\ud800":1}}`, [
      ['/items/a\ufffd', 'a metric name must be well-formed Unicode'],
    ]))

  test('in the name of a field', () =>
    refused('/v1/start', String.raw`{"process":"p","\ud800":1}`, [['/\ufffd', UNKNOWN]]))
})

describe('fields of other endpoints', () => {
  test.each<[string, string, Faults]>([
    ['/v1/start', '{"process":"p","items":{"a":1}}', [['/items', UNKNOWN]]],
    ['/v1/end', '{"process":"p","exception":"e"}', [['/exception', UNKNOWN]]],
    ['/v1/start', '{"process":"p","failed":true}', [['/failed', UNKNOWN]]],
    ['/v1/metrics', '{"process":"p","items":{"a":1},"failed":true}', [['/failed', UNKNOWN]]],
    ['/v1/exception', '{"process":"p","exception":"e","failed":true}', [['/failed', UNKNOWN]]],
    ['/v1/start', '{"process":"p","kind":"start"}', [['/kind', UNKNOWN]]],
    ['/v1/start', '{"process":"p","Process":"p"}', [['/Process', UNKNOWN]]],
    ['/v1/start', '{"process":"p","a/b~c":null}', [['/a~1b~0c', UNKNOWN]]],
    ['/v1/start', '{"process":"p","":1}', [['/', UNKNOWN]]],
    ['/v1/start', '{"process":"p","__proto__":{"uid":"a"}}', [['/__proto__', UNKNOWN]]],
    [
      '/v1/start',
      '{"__proto__":{"process":"p"}}',
      [
        ['/process', REQUIRED],
        ['/__proto__', UNKNOWN],
      ],
    ],
    ['/v1/start', '{"process":"p","constructor":{"prototype":{"x":1}}}', [['/constructor', UNKNOWN]]],
    ['/v1/start', '{"process":"p","toString":1}', [['/toString', UNKNOWN]]],
  ])('%s %s', refused)

  test('leave no trace on objects', () => {
    expect(({} as Record<string, unknown>).x).toBeUndefined()
    expect(({} as Record<string, unknown>).uid).toBeUndefined()
  })
})

describe('all faults at once', () => {
  test('of a mark', () =>
    refused('/v1/start', { process: '', meta: 5, uid: 'A', at: 'today', extra: 1, proces: 'p' }, [
      ['/process', 'must not be empty'],
      ['/meta', NOT_A_STRING],
      ['/uid', 'may only hold a-z, 0-9, - and _'],
      ['/at', 'must be an RFC 3339 time such as 2026-11-20T21:52:42Z, with at most nine digits of a second'],
      ['/extra', UNKNOWN],
      ['/proces', UNKNOWN],
    ]))

  test('of metrics', () =>
    refused(
      '/v1/metrics',
      { meta: null, items: [{ name: 'a%', value: 'x' }, 5, { a: 1 }, { a: 1 }], failed: true, uid: 'U' },
      [
        // in the order of the fields
        ['/process', REQUIRED],
        ['/meta', NOT_A_STRING],
        ['/uid', 'may only hold a-z, 0-9, - and _'],
        ['/items/0/name', NAME_HOLDS],
        ['/items/0/value', 'must be a finite number'],
        ['/items/1', 'must be {"name": …, "value": …} or a single name with its number'],
        ['/items/3/a', 'names a metric twice'],
        ['/failed', UNKNOWN],
      ],
    ))

  test('at most a hundred: a body full of unknown fields has a short answer', async () => {
    const body = Object.fromEntries(Array.from({ length: 4900 }, (_, i) => [`field-${i}`, i]))
    const answer = await app.post('/v1/start', body)
    expect(answer.status).toBe(422)
    expect(answer.json.errors).toHaveLength(100)
    expect(answer.json.detail).toBe('The body has 4901 errors. The first 100 are listed, and 4801 more are not.')
    expect(answer.json.errors[0]).toEqual({ pointer: '/process', detail: REQUIRED })
  })
})

describe('answers do not echo what the caller sent', () => {
  const SECRET = 'hunter2-do-not-repeat'
  test.each<[string, unknown]>([
    ['/v1/start', { process: 5, meta: [SECRET], uid: `${SECRET}!` }],
    ['/v1/start', { process: 'p', meta: `${SECRET}${'x'.repeat(500)}` }],
    ['/v1/metrics', { process: SECRET, items: { a: SECRET } }],
    ['/v1/metrics', { process: SECRET, items: [SECRET, [SECRET]] }],
    ['/v1/exception', { process: SECRET, exception: { SECRET } }],
    ['/v1/start', `{"process":"${SECRET}"`],
    ['/v1/start', `"${SECRET}"`],
    ['/v1/start', { process: 'p', at: SECRET }],
  ])('%s %j', async (path, body) => {
    const answer = await app.post(path, body)
    expect(answer.status).toBe(422)
    expect(answer.text).not.toContain('hunter2')
    expect(answer.text).not.toMatch(/\bat .*\.ts:|node_modules|Error:/)
    expect(app.log.join()).not.toContain('hunter2')
  })
})
