import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { describeRoute, type OpenApiSchema, restoreBodies, toOpenApi } from '../../../src/http/docs/describe-route.ts'
import { jsonBody, type Route } from '../../../src/wire/route.ts'
import { choice, closed, orNull } from '../../../src/wire/shapes.ts'

describe('schemas', () => {
  test.each<[string, object, object]>([
    ['a constant', Type.Literal('a'), { type: 'string', enum: ['a'] }],
    ['a choice', choice(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['null or a string', orNull(Type.String({ maxLength: 5 })), { type: 'string', nullable: true, maxLength: 5 }],
    ['null or a choice', orNull(choice(['a', 'b'])), { type: 'string', enum: ['a', 'b'], nullable: true }],
    [
      'a union',
      Type.Union([Type.String(), Type.Integer()], { description: 'd' }),
      { anyOf: [{ type: 'string' }, { type: 'integer' }], description: 'd' },
    ],
    ['examples', Type.String({ examples: ['a', 'b'] }), { type: 'string', example: 'a' }],
    ['an example of its own', Type.String({ example: 'x', examples: ['a'] }), { type: 'string', example: 'x' }],
    [
      'a record',
      Type.Record(Type.String(), Type.Literal(1), { minProperties: 1 }),
      { type: 'object', minProperties: 1, additionalProperties: { type: 'number', enum: [1] } },
    ],
    [
      'a record of named members that is closed',
      Type.Record(Type.String({ pattern: '^[a-z]$' }), Type.String(), { additionalProperties: false }),
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    ['a list', Type.Array(orNull(Type.String())), { type: 'array', items: { type: 'string', nullable: true } }],
    ['the words of a fault', Type.String({ fault: 'must be short' }), { type: 'string' }],
    [
      'members called like keywords',
      closed({ const: Type.String(), examples: Type.String(), type: Type.Optional(Type.Literal('a')) }),
      {
        type: 'object',
        properties: {
          const: { type: 'string' },
          examples: { type: 'string' },
          type: { type: 'string', enum: ['a'] },
        },
        required: ['const', 'examples'],
        additionalProperties: false,
      },
    ],
  ])('%s', (_, schema, expected) => {
    expect(toOpenApi(schema)).toEqual(expected as OpenApiSchema)
  })

  test('stay unchanged', () => {
    const schema = orNull(Type.Object({ a: choice(['a', 'b']) }))
    const before = structuredClone(schema)
    toOpenApi(schema)
    expect(structuredClone(schema)).toEqual(before)
  })
})

const ROUTE: Route = {
  method: 'POST',
  path: '/x',
  tag: 'keys',
  access: 'self',
  summary: 's',
  answers: { 204: { description: 'Done' } },
  problems: ['not_found', 'rate_limited', 'internal', 'disk_failed'],
}

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape; the tests look at its members
const described = (route: Partial<Route> = {}): any => describeRoute({ ...ROUTE, ...route }).detail

describe('a route', () => {
  test('has its access, its answers and one answer per status of its problems', () => {
    const { security, responses, ...rest } = described()
    expect(rest).toEqual({ tags: ['keys'], summary: 's', description: 'For the session of any member.' })
    expect(security).toEqual([{ session: [] }])
    expect(Object.keys(responses)).toEqual(['204', '404', '429', '500'])
    expect(responses[204]).toEqual({ description: 'Done' })
    expect(responses[429].headers).toHaveProperty('retry-after')
    expect(Object.keys(responses[500].content['application/problem+json'].examples)).toEqual([
      'internal',
      'disk_failed',
    ])
  })

  test('has parameters of the query, none of them required', () => {
    expect(described({ parameters: ['limit'] }).parameters).toEqual([
      {
        name: 'limit',
        in: 'query',
        required: false,
        description: expect.any(String),
        schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
      },
    ])
  })

  test('accepts only JSON, required unless every member is optional', () => {
    const required = described({ body: jsonBody(closed({ a: Type.String() }), { a: 'x' }) })['x-request']
    expect([required.required, Object.keys(required.content)]).toEqual([true, ['application/json']])
    expect(described({ body: jsonBody(closed({ a: Type.Optional(Type.String()) }), {}) })['x-request'].required).toBe(
      false,
    )
    const list = { 'application/json': { schema: Type.Array(Type.Unknown()) } }
    expect(described({ body: list })['x-request'].required).toBe(true)
  })

  test('accepts each documented content type, with examples', () => {
    const examples = { one: { value: 'a' } }
    const body = { 'application/json': { schema: closed({}) }, 'text/x': { schema: Type.Literal('a'), examples } }
    expect(described({ body })['x-request'].content).toEqual({
      'application/json': { schema: { type: 'object', properties: {}, additionalProperties: false } },
      'text/x': { schema: { type: 'string', enum: ['a'] }, examples },
    })
  })
})

test('restores bodies that the plugin overwrote', () => {
  const detail = described({ body: jsonBody(closed({}), {}) })
  const { 'x-request': requestBody, ...rest } = detail
  const document = {
    openapi: '3.0.3',
    paths: { '/a.b/c': { post: { ...detail, requestBody: {} }, get: { tags: [] } } },
  }
  expect(restoreBodies(document as Parameters<typeof restoreBodies>[0])).toEqual({
    openapi: '3.0.3',
    paths: { '/a.b/c': { post: { ...rest, requestBody }, get: { tags: [] } } },
  } as unknown as ReturnType<typeof restoreBodies>)
})
