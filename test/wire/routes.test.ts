// Every route of src/wire is served as described, and nothing else is; examples are of their own schemas.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { Glob } from 'bun'
import type { Route } from '../../src/wire/route.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { misfits } from '../support/misfits.ts'

const WIRE = join(import.meta.dir, '../../src/wire')
const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'answers' in value

const modules = await Promise.all(
  [...new Glob('*.ts').scanSync(WIRE)].map((file) => import(join(WIRE, file)) as Promise<Record<string, unknown>>),
)
const routes = modules
  .flatMap((module) => Object.values(module))
  .flatMap((value) => (isRoute(value) ? [value] : Object.values(value ?? {}).filter(isRoute)))
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

describe('the routes', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await startApp()
  })
  afterAll(() => app.stop())

  test('are served, and no other under /api and /v1 is', () => {
    const served = app.routes
      .filter(({ method }) => method !== 'HEAD')
      .filter(({ path }) => /^\/(api|auth|v1|otlp|ping|badge|livez|readyz|metrics)/.test(path))
      .map(nameOf)
    expect(routes.map(nameOf).sort()).toEqual(served.sort())
  })
})

describe('the examples are of their schemas:', () => {
  test.each(routes.map((route) => [nameOf(route), route] as const))('%s', (_, { answers, body, path }) => {
    for (const { body: answer } of Object.values(answers))
      if (typeof answer === 'object') expect(misfits(answer.schema, answer.example)).toEqual([])
    if (body === undefined || path.startsWith('/otlp/')) return // their schemas are open
    for (const { schema, examples = {} } of Object.values(body) as { schema: TSchema; examples?: object }[])
      for (const { value } of Object.values(examples)) expect(misfits(schema, value)).toEqual([])
  })
})
