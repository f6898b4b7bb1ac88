import { describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { correctOpenApi } from '../../../src/http/docs/correct-openapi.ts'

type Json = Record<string, unknown>

const document = (operation: object, components: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 't', version: '1' },
  paths: { '/a.b/c': { post: operation } },
  components,
})
// biome-ignore lint/suspicious/noExplicitAny: a document of any shape; what it holds is what the tests look at
const corrected = (operation: object): any => (correctOpenApi(document(operation)) as any).paths['/a.b/c'].post
const schemaAfter = (schema: object): Json =>
  corrected({ requestBody: { content: { 'application/json': { schema } } } }).requestBody.content['application/json']
    .schema

async function faults(doc: object): Promise<unknown> {
  const result = await new Validator().validate(structuredClone(doc) as Record<string, unknown>)
  return result.valid ? 'valid' : result.errors
}

const BROKEN = document(
  {
    parameters: [{ name: 'id', in: 'query', schema: { const: 5 }, examples: ['x'] }],
    requestBody: {
      content: Object.fromEntries(
        ['application/json', 'multipart/form-data', 'text/plain'].map((type) => [
          type,
          { schema: { type: 'object', patternProperties: { '^.*$': { type: 'number' } }, error: 'invalid' } },
        ]),
      ),
    },
    responses: { 200: {}, 404: { content: { 'text/plain': { schema: { type: ['string', 'null'] } } } } },
  },
  { schemas: { A: { anyOf: [{ const: 'a' }, { type: 'null' }] } } },
)

test('what the plugin writes is invalid, and valid when corrected', async () => {
  expect(await faults(BROKEN)).not.toBe('valid')
  expect(await faults(correctOpenApi(BROKEN))).toBe('valid')
})

test('the document that is handed in stays as it was', () => {
  const before = structuredClone(BROKEN)
  correctOpenApi(BROKEN)
  expect(BROKEN).toEqual(before)
})

describe('answers', () => {
  test('have a description, and keep the one they had', () => {
    const { responses } = corrected({ responses: { 200: {}, 404: { description: 'Nothing there' } } })
    expect(responses).toEqual({ 200: { description: 'Status 200' }, 404: { description: 'Nothing there' } })
  })

  test('keep their content, headers and references', () => {
    const responses = {
      200: {
        description: 'd',
        headers: { 'retry-after': { description: 'r', schema: { type: 'integer' } } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/A' }, example: { const: 1 } } },
      },
      500: { $ref: '#/components/responses/E' },
    }
    expect(corrected({ responses }).responses).toEqual(responses)
  })

  test('are there even when the plugin names none', () => {
    expect(corrected({}).responses).toEqual({ default: { description: 'The answer' } })
  })
})

describe('bodies', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const requestBody = { required: true, content: { 'application/json': { schema }, 'text/plain': { schema } } }

  test('are JSON alone unless the route says otherwise', () => {
    expect(corrected({ requestBody }).requestBody).toEqual({
      required: true,
      content: { 'application/json': { schema } },
    })
  })

  test('may be left away where every field is optional', () => {
    const optional = { content: { 'application/json': { schema: { ...schema, required: [] } } } }
    expect(corrected({ requestBody: optional }).requestBody.required).toBe(false)
    const list = { content: { 'application/json': { schema: { type: 'array', items: {} } } } }
    expect(corrected({ requestBody: list }).requestBody.required).toBe(true)
  })

  test('are what the route says, which then leaves no trace', () => {
    const examples = { one: { value: { a: 1 } } }
    const operation = corrected({
      requestBody,
      'x-request': { 'application/json': { examples }, 'application/x-ndjson': { schema: { const: 'a' } } },
    })
    expect(operation.requestBody.content).toEqual({
      'application/json': { schema, examples },
      'application/x-ndjson': { schema: { enum: ['a'] } },
    })
    expect(operation).not.toHaveProperty('x-request')
  })
})

describe('schemas', () => {
  test.each<[object, object]>([
    [{ const: 'a' }, { enum: ['a'] }],
    [{ type: 'null' }, { nullable: true, enum: [null] }],
    [
      { type: ['string', 'null'], maxLength: 5 },
      { type: 'string', nullable: true, maxLength: 5 },
    ],
    [{ type: ['string', 'integer'] }, { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
    [
      { type: 'string', examples: ['a', 'b'] },
      { type: 'string', example: 'a' },
    ],
    [
      { type: 'string', example: 'x', examples: ['a'] },
      { type: 'string', example: 'x' },
    ],
    [
      { type: 'object', patternProperties: { '^a$': { const: 1 } } },
      { type: 'object', additionalProperties: { enum: [1] } },
    ],
    [
      { type: 'object', patternProperties: { a: { const: 1 }, b: { type: 'string' } } },
      { type: 'object', additionalProperties: { anyOf: [{ enum: [1] }, { type: 'string' }] } },
    ],
    [
      { type: 'object', additionalProperties: false, patternProperties: { a: {} } },
      { type: 'object', additionalProperties: false },
    ],
    [
      { type: 'array', items: { const: 1 }, not: { const: [] } },
      { type: 'array', items: { enum: [1] }, not: { enum: [[]] } },
    ],
    [
      { oneOf: [{ const: 1 }], allOf: [{ const: 1 }] },
      { oneOf: [{ enum: [1] }], allOf: [{ enum: [1] }] },
    ],
    [{ $id: 'a', $schema: 'b', error: 'c', type: 'string' }, { type: 'string' }],
  ])('%j becomes %j', (before, after) => {
    expect(schemaAfter(before)).toEqual(after as Json)
  })

  test('properties that are called like keywords are properties', () => {
    const properties = { const: { type: 'string' }, examples: { type: 'string' }, type: { type: 'string' } }
    expect(schemaAfter({ type: 'object', properties })).toEqual({ type: 'object', properties })
  })
})

test('a path with dots and an operation’s other members stay', () => {
  expect(corrected({ tags: ['t'], summary: 's', security: [], operationId: 'o' })).toMatchObject({
    tags: ['t'],
    summary: 's',
    security: [],
    operationId: 'o',
  })
})
