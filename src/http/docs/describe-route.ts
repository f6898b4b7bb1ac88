// Describes a route of src/wire in /swagger/json. @elysiajs/swagger overwrites the request body that a route describes
// with its own, in up to three content types, if Elysia validates the body. `describeRoute` therefore describes it as
// `x-request`, and `restoreBodies` puts it back.
import type { TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { isObject } from '../../event/fields.ts'
import { Problem, problemTable } from '../../problem.ts'
import { ACCESS, type AccessRule } from '../../wire/roles.ts'
import { type Answer, parametersOf, type Route } from '../../wire/route.ts'
import { problemBody } from '../answers.ts'

const securityOf = ({ scope, role }: AccessRule): Record<string, string[]>[] => [
  ...(scope === null ? [] : [{ apiKey: [] }, ...(role === null ? [] : [{ bearer: [] }])]),
  ...(role === null ? [] : [{ session: [] }]),
]

/** The callers that the route admits, in words. */
function wordAccess({ scope, role, operator }: AccessRule): string | undefined {
  const key = scope !== null && `a key with the scope \`${scope}\``
  const people = { viewer: 'any member', member: 'a member or an owner', owner: 'an owner' } as const
  const session = role !== null && `the session of ${people[role]}${operator ? ' of the operator’s account' : ''}`
  const who = [key, session].filter(Boolean).join(', or ')
  return who === '' ? undefined : `For ${who}.`
}

const PROBLEM_REF = { $ref: '#/components/schemas/Problem' }
const RETRY_AFTER = { 'retry-after': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } } }
const HEADERS: Readonly<Record<number, object>> = {
  401: { 'www-authenticate': { description: 'How to authenticate', schema: { type: 'string' } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
}

const NOT_MODIFIED = { 304: { description: 'Nothing has changed since the answer whose `ETag` is in `If-None-Match`' } }

export function describeRoute(route: Route): { detail: DocumentDecoration } {
  const { tag, access, summary, description, body, answers, problems, hasTag } = route
  const text = [description, wordAccess(ACCESS[access])].filter(Boolean).join(' ')
  const schemas = Object.entries(parametersOf(route))
  const detail = {
    tags: [tag],
    summary,
    ...(text !== '' && { description: text }),
    security: securityOf(ACCESS[access]),
    ...(schemas.length > 0 && { parameters: schemas.map(describeParameter) }),
    ...(body !== undefined && { 'x-request': describeBody(body) }),
    responses: { ...mapValues(answers, describeAnswer), ...(hasTag && NOT_MODIFIED), ...describeProblems(problems) },
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

function describeAnswer({ description, body, types = ['text/plain'] }: Answer) {
  if (body === undefined) return { description }
  if (typeof body === 'string')
    return {
      description,
      content: Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' }, example: body }])),
    }
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

// TypeBox's JSON Schema → the dialect of OpenAPI 3.0, which lacks `const`, `null`, `examples`, `patternProperties`.
type Json = Record<string, unknown>
type Parameter = Extract<NonNullable<DocumentDecoration['parameters']>[number], { name: string }>
type OpenApiSchema = Exclude<NonNullable<Parameter['schema']>, { $ref: string }>

export const toOpenApi = (schema: object): OpenApiSchema => convert(schema) as OpenApiSchema

function convert(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  // Entries, as TypeBox keeps facts of its own under symbols. `fault` words an answer; see read-json.ts.
  const {
    const: constant,
    examples,
    patternProperties,
    anyOf,
    fault: _,
    ...rest
  } = Object.fromEntries(Object.entries(schema))
  const converted: Json = { ...rest }
  if (constant !== undefined) converted.enum = [constant]
  if (Array.isArray(examples)) converted.example ??= examples[0]
  // `additionalProperties: false` refuses names that match no pattern; in the document it would refuse all names.
  if (isObject(patternProperties)) converted.additionalProperties = convert(Object.values(patternProperties)[0])
  for (const one of ['items', 'additionalProperties'])
    if (isObject(converted[one])) converted[one] = convert(converted[one])
  if (isObject(converted.properties)) converted.properties = mapValues(converted.properties, convert)
  return Array.isArray(anyOf) ? { ...convertUnion(anyOf), ...converted } : converted
}

/** A union of strings is an enumeration, and one with null is nullable. */
function convertUnion(members: readonly unknown[]): Json {
  const isNull = (member: unknown) => isObject(member) && member.type === 'null'
  const others = members.filter((member) => !isNull(member))
  const nullable = others.length < members.length ? { nullable: true } : {}
  if (others.length > 0 && others.every((member) => isObject(member) && typeof member.const === 'string'))
    return { type: 'string', enum: others.map((member) => (member as Json).const), ...nullable }
  const converted = others.map(convert)
  return converted.length === 1 ? { ...(converted[0] as Json), ...nullable } : { anyOf: converted, ...nullable }
}
