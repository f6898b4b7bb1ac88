// Invalid fields of a body: 422 with a JSON pointer for every fault at once, never a value of the caller's, and nothing is stored.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const EMOJI = '😀'
const STRIPPED_AWAY = 'must not be empty after stripping'
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

describe('process, on every endpoint', () => {
  const rest: Record<string, object> = {
    '/v1/start': {},
    '/v1/end': {},
    '/v1/metrics': { items: { a: 1 } },
    '/v1/exception': { exception: 'e' },
  }
  const cases: [string, object, string][] = [
    ['absent', {}, REQUIRED],
    ['null', { process: null }, NOT_A_STRING],
    ['a number', { process: 5 }, NOT_A_STRING],
    ['a list', { process: ['p'] }, NOT_A_STRING],
    ['an object', { process: {} }, NOT_A_STRING],
    ['empty', { process: '' }, 'must not be empty'],
    ['stripped to nothing', { process: `'"%\u0000\\` }, STRIPPED_AWAY],
    ['of 251', { process: 'a'.repeat(251) }, 'must have at most 250 characters'],
    ['of 251 emoji', { process: EMOJI.repeat(251) }, 'must have at most 250 characters'],
    ['of 251 before stripping', { process: `a${'%'.repeat(250)}` }, 'must have at most 250 characters'],
  ]
  for (const [path, body] of Object.entries(rest))
    test.each(cases)(`${path}: %s`, (_, field, detail) => refused(path, { ...body, ...field }, [['/process', detail]]))
})

describe('meta', () => {
  test.each<[string, unknown, string]>([
    ['null', null, NOT_A_STRING],
    ['a boolean', false, NOT_A_STRING],
    ['an object', { a: 1 }, NOT_A_STRING],
    ['of 501', 'a'.repeat(501), 'must have at most 500 characters'],
    ['of 501 emoji', EMOJI.repeat(501), 'must have at most 500 characters'],
  ])('%s', (_, meta, detail) => refused('/v1/end', { process: 'p', meta }, [['/meta', detail]]))
})

describe('uid', () => {
  test.each<[string, unknown, string]>([
    ['null', null, NOT_A_STRING],
    ['a number', 1, NOT_A_STRING],
    ['of 51', 'a'.repeat(51), 'must have at most 50 characters'],
    ['with a capital', 'A', 'may only hold a-z, 0-9, - and _'],
    ['with a space', 'a b', 'may only hold a-z, 0-9, - and _'],
    ['with a line break at its end', 'a\n', 'may only hold a-z, 0-9, - and _'],
    ['with a letter of another alphabet', 'ä', 'may only hold a-z, 0-9, - and _'],
    ['a UUID in capitals', '3F2A9C1E-1B2C-4D5E-8F90-123456789ABC', 'may only hold a-z, 0-9, - and _'],
  ])('%s', (_, uid, detail) => refused('/v1/start', { process: 'p', uid }, [['/uid', detail]]))
})

describe('items', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `m${i}`, value: i }))
  const NOT_ITEMS = 'must be an object of numbers or a list of metrics'
  const NO_ENTRY = 'must be {"name": …, "value": …} or a single name with its number'
  const NOT_FINITE = 'must be a finite number'
  test.each<[string, unknown, Faults]>([
    ['null', null, [['/items', NOT_ITEMS]]],
    ['a number', 5, [['/items', NOT_ITEMS]]],
    ['text', 'a', [['/items', NOT_ITEMS]]],
    ['none in an object', {}, [['/items', 'must hold at least one metric']]],
    ['none in a list', [], [['/items', 'must hold at least one metric']]],
    [
      '51 in an object',
      Object.fromEntries(many(51).map((m) => [m.name, 1])),
      [['/items', 'must hold at most 50 metrics']],
    ],
    ['51 in a list', many(51), [['/items', 'must hold at most 50 metrics']]],
    ['a number as text', { a: '1' }, [['/items/a', NOT_FINITE]]],
    ['a boolean', [{ a: true }], [['/items/0/a', NOT_FINITE]]],
    ['null for a number', [{ name: 'a', value: null }], [['/items/0/value', NOT_FINITE]]],
    ['an empty name', { '': 1 }, [['/items/', 'a metric name must not be empty']]],
    [
      'a name of 251',
      { ['a'.repeat(251)]: 1 },
      [[`/items/${'a'.repeat(251)}`, 'a metric name must have at most 250 characters']],
    ],
    ['a quote in a name', { "it's": 1 }, [["/items/it's", NAME_HOLDS]]],
    ['a control character in a name', [{ name: 'a\n', value: 1 }], [['/items/0/name', NAME_HOLDS]]],
    ['a backslash at the end of a name', { 'a\\': 1 }, [['/items/a\\', 'a metric name must not end in a backslash']]],
    ['a slash and a tilde in a name', { 'a/b~': 'x' }, [['/items/a~1b~0', NOT_FINITE]]],
    ['a number as a name', [{ name: 5, value: 1 }], [['/items/0/name', NOT_A_STRING]]],
    ['a name twice', [{ a: 1 }, { name: 'a', value: 1 }], [['/items/1/name', 'names a metric twice']]],
    ['an empty entry', [{}], [['/items/0', NO_ENTRY]]],
    ['a third member', [{ name: 'a', value: 1, unit: 's' }], [['/items/0', NO_ENTRY]]],
    ['two metrics in an entry', [{ a: 1, b: 2 }], [['/items/0', NO_ENTRY]]],
    ['a list in a list', [[{ a: 1 }]], [['/items/0', NO_ENTRY]]],
    ['null in a list', [null, { a: 1 }], [['/items/0', NO_ENTRY]]],
  ])('%s', (_, items, faults) => refused('/v1/metrics', { process: 'p', items }, faults))

  test('absent', () => refused('/v1/metrics', { process: 'p' }, [['/items', REQUIRED]]))

  test.each(['1e400', '-1e400', '1e999999'])('%s is beyond every number', (number) =>
    refused('/v1/metrics', `{"process":"p","items":{"a":${number}}}`, [['/items/a', NOT_FINITE]]),
  )
})

describe('exception', () => {
  test.each<[string, object, string]>([
    ['absent', {}, REQUIRED],
    ['null', { exception: null }, NOT_A_STRING],
    ['an object', { exception: { message: 'e' } }, NOT_A_STRING],
    ['of 15,001', { exception: 'a'.repeat(15_001) }, 'must have at most 15000 characters'],
    ['of 15,001 emoji', { exception: EMOJI.repeat(15_001) }, 'must have at most 15000 characters'],
  ])('%s', (_, field, detail) => refused('/v1/exception', { process: 'p', ...field }, [['/exception', detail]]))
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
      ['/at', 'must be an RFC 3339 time with at most nine digits of a second'],
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
