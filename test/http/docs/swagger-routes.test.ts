// /swagger/json is valid OpenAPI 3 and says what the server does; /swagger is a page that needs nothing from elsewhere.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { type ProblemCode, problemTable } from '../../../src/problem.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { signInAt } from '../../support/caller.ts'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: string[]
  readonly security?: object[]
  readonly parameters?: {
    name: string
    in: string
    example?: unknown
    schema?: { example?: unknown; default?: unknown }
  }[]
  readonly requestBody?: { content: Record<string, { schema: object; examples?: Record<string, { value: unknown }> }> }
  readonly responses: Record<
    string,
    {
      description: string
      headers?: Record<string, object>
      content?: Record<string, { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> }>
    }
  >
}

interface Document {
  readonly openapi: string
  readonly tags: { name: string }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { schemas: Record<string, object>; securitySchemes: Record<string, object> }
}

let app: TestApp
let document: Document
beforeAll(async () => {
  app = await startApp({ serviceName: 'acme', rateLimit: 1000 })
  document = (await app.fetch('/swagger/json')).json
})
afterAll(() => app.stop())

const INTAKE = ['/v1/start', '/v1/end', '/v1/metrics', '/v1/exception']
const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

describe('the document', () => {
  test('is valid OpenAPI 3.0', async () => {
    const validator = new Validator()
    const result = await validator.validate(structuredClone(document) as unknown as Record<string, unknown>)
    expect(result.errors ?? []).toEqual([])
    expect([result.valid, validator.version, document.openapi]).toEqual([true, '3.0', '3.0.3'])
  })

  test('is JSON, public, and the same each time', async () => {
    const first = await app.fetch('/swagger/json')
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect((await app.fetch('/swagger/json')).text).toBe(first.text)
  })

  test('has every operation once, under a described tag', () => {
    const ids = operations().map(({ operation }) => operation.operationId)
    expect(ids).toEqual([...new Set(ids)])
    const tags = document.tags.map(({ name }) => name)
    for (const { operation } of operations()) {
      expect(operation.summary.length).toBeGreaterThan(5)
      expect(operation.tags.filter((tag) => !tags.includes(tag))).toEqual([])
    }
  })

  test('has an example of every JSON body', () => {
    const without = operations().filter(({ operation }) => {
      const json = operation.requestBody?.content['application/json']
      return json !== undefined && Object.keys(json.examples ?? {}).length === 0
    })
    expect(without.map(({ path, method }) => `${method} ${path}`)).toEqual([])
  })

  test('has the four calls and the operations, but not its own page', () => {
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining([...INTAKE, '/livez', '/readyz', '/metrics']))
    expect(Object.keys(document.paths).filter((path) => path.includes('swagger'))).toEqual([])
  })

  test('names the header of this service for the key, which every call under /v1 needs', () => {
    expect(document.components.securitySchemes.apiKey).toMatchObject({
      type: 'apiKey',
      in: 'header',
      name: 'x-acme-api-key',
    })
    for (const { path, operation } of operations())
      if (path.startsWith('/v1/')) expect(operation.security).toEqual([{ apiKey: [] }])
  })

  test('describes every answer, refusals as problems with an example of the closed table for each', () => {
    for (const { path, method, operation } of operations())
      for (const [status, response] of Object.entries(operation.responses)) {
        const where = `${method} ${path} ${status}`
        expect(response.description, where).toBeTruthy()
        if (Number(status) < 400) continue
        const { schema, examples = {} } = response.content?.['application/problem+json'] ?? {}
        expect(schema, where).toEqual({ $ref: '#/components/schemas/Problem' })
        expect(Object.keys(examples).length, where).toBeGreaterThan(0)
        for (const [code, { value }] of Object.entries(examples))
          expect(value, where).toMatchObject({ code, ...problemTable[code as ProblemCode] })
        const statuses = new Set(Object.keys(examples).map((code) => problemTable[code as ProblemCode].status))
        expect([...statuses], where).toEqual([Number(status) as 500])
      }
  })

  test('names every status of the four calls, with retry-after where there is one', () => {
    for (const path of INTAKE) {
      const { responses } = document.paths[path]!.post!
      expect(Object.keys(responses)).toEqual(['201', '401', '403', '413', '422', '429', '500', '503'])
      expect(responses[429]!.headers).toHaveProperty('retry-after')
      expect(responses[503]!.headers).toHaveProperty('retry-after')
      expect(responses[201]!.content!['application/json']).toMatchObject({ example: { at: expect.any(String) } })
    }
  })

  test('has only JSON bodies, whose examples are accepted', async () => {
    for (const path of INTAKE) {
      const { content } = document.paths[path]!.post!.requestBody!
      expect(Object.keys(content)).toEqual(['application/json'])
      const examples = Object.values(content['application/json']!.examples ?? {})
      expect(examples.length).toBeGreaterThan(0)
      for (const { value } of examples) expect((await app.post(path, value)).status).toBe(201)
    }
  })
})

describe('the page', () => {
  test('has a content policy without other origins and inline scripts', async () => {
    const { headers } = await app.fetch('/swagger')
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  test('redirects a trailing slash', async () => {
    const answer = await app.fetch('/swagger/')
    expect(answer.status).toBe(308)
    expect(new URL(answer.headers.get('location')!, `${app.url}/swagger/`).href).toBe(`${app.url}/swagger`)
  })

  test.each(['/swagger/plugin', '/swagger/assets', '/swagger/assets/', '/swagger/assets/package.json', '/swagger/x'])(
    '%s is not found: only the three files are served',
    async (path) => {
      expect((await app.fetch(path)).status).toBe(404)
    },
  )
})

test('every form that names no id can be executed as it comes', async () => {
  await using other = await startApp()
  const session = await signInAt(other.url)
  /** Signing in and out, what a link or a provider brings, and what needs a person's own password or store. */
  const isBound = (path: string) =>
    /[{]|oidc|session|accounts?$|password|invitations.(look|accept)|confirm|unsubscribe/.test(path)
  const refused: unknown[] = []
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
      if (isBound(path) || method === 'delete') continue
      const search = new URLSearchParams(
        parameters.flatMap(({ name, in: place, example, schema }) => {
          const value = example ?? schema?.example ?? schema?.default
          return place === 'query' && value !== undefined ? [[name, String(value)]] : []
        }),
      )
      const [body] = Object.values(requestBody?.content['application/json']?.examples ?? {})
      const address = `${path}?${search}`
      const isIntake = /^.(v1|otlp)/.test(path)
      const { status, json } = isIntake
        ? await other.post(address, body?.value)
        : await session.call(method.toUpperCase(), address, body?.value)
      if (status === 422 || status === 400) refused.push([method, address, json.errors])
    }
  expect(refused).toEqual([])
})
