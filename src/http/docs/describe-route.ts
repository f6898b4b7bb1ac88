// A route of src/wire → its description in /swagger/json.
// @elysiajs/swagger overwrites the request body that a route describes with its own, in up to three content types, as soon as Elysia validates
// the body. `describeRoute` therefore describes it as `x-request`, and `restoreBodies` puts it back.
import type { TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { Problem, problemTable } from '../../problem.ts'
import { PARAMETERS } from '../../wire/parameters.ts'
import type { Answer, Route } from '../../wire/route.ts'
import { problemBody } from '../answers.ts'
import { toOpenApi } from './to-open-api.ts'

const SECURITY: Readonly<Record<Route['access'], Record<string, string[]>[]>> = {
  anyone: [],
  key: [{ apiKey: [] }],
  session: [{ session: [] }],
  'key or session': [{ apiKey: [] }, { session: [] }],
  manage: [{ apiKey: [] }, { session: [] }],
}

const PROBLEM_REF = { $ref: '#/components/schemas/Problem' }
const RETRY_AFTER = { 'retry-after': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } } }
const HEADERS: Readonly<Record<number, object>> = {
  401: { 'www-authenticate': { description: 'How to authenticate', schema: { type: 'string' } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
}

/** Elysia's options for the route. */
export function describeRoute(route: Route): { detail: DocumentDecoration } {
  const { tag, access, summary, description, parameters = [], ownParameters, body, answers, problems } = route
  const schemas = [
    ...parameters.map((name) => [name, PARAMETERS[name]] as const),
    ...Object.entries(ownParameters ?? {}),
  ]
  const detail = {
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[access],
    ...(schemas.length > 0 && { parameters: schemas.map(describeParameter) }),
    ...(body !== undefined && { 'x-request': describeBody(body) }),
    responses: { ...mapValues(answers, describeAnswer), ...describeProblems(problems) },
  }
  return { detail: detail as unknown as DocumentDecoration }
}

const mapValues = <T, U>(members: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]))

function describeParameter([name, parameter]: readonly [string, TSchema]) {
  const { description, ...schema } = toOpenApi(parameter)
  return { name, in: 'query', required: false, description, schema }
}

function describeBody(body: NonNullable<Route['body']>) {
  const required = Object.values(body).some(({ schema }) => schema.type !== 'object' || schema.required !== undefined)
  const content = mapValues(body, ({ schema, ...examples }) => ({ ...examples, schema: toOpenApi(schema) }))
  return { required, content }
}

function describeAnswer({ description, body }: Answer) {
  if (body === undefined) return { description }
  if (typeof body === 'string')
    return { description, content: { 'text/plain': { schema: { type: 'string' }, example: body } } }
  const { schema, example } = body
  return { description, content: { 'application/json': { schema: toOpenApi(schema), example } } }
}

/** One answer per status, with an example per code. */
function describeProblems(problems: Route['problems']) {
  const all = problems.map((one) => (one instanceof Problem ? one : new Problem(one, `${problemTable[one].title}.`)))
  return Object.fromEntries(
    [...Map.groupBy(all, ({ status }) => status)].map(([status, same]) => {
      const headers = HEADERS[status]
      const examples = Object.fromEntries(same.map((problem) => [problem.code, { value: problemBody(problem) }]))
      return [
        status,
        {
          description: [...new Set(same.map(({ title }) => title))].join(' · '),
          ...(headers && { headers }),
          content: { 'application/problem+json': { schema: PROBLEM_REF, examples } },
        },
      ]
    }),
  )
}

interface Operation {
  readonly 'x-request'?: object
  readonly requestBody?: object
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** A copy of the plugin's document with each body as its route describes it. */
export const restoreBodies = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  paths: mapValues(document.paths, (methods) =>
    mapValues(methods, ({ 'x-request': requestBody, requestBody: _, ...rest }) => ({
      ...rest,
      ...(requestBody && { requestBody }),
    })),
  ),
})
