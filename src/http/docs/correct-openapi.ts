// What @elysiajs/swagger gets wrong, put right, so that the document is valid OpenAPI 3.0.3 and says what the server does.
// The plugin writes JSON Schema of another draft (`const`, `patternProperties`, `examples`, lists of types), leaves answers without a
// description, offers every body in three content types, calls each required, and overwrites a request body that a route described:
// routes describe theirs in `x-request` instead.

type Json = Record<string, unknown>

/** Of one content type that a body may have. Without a schema it is that of the route. */
export interface DescribedRequest {
  readonly schema?: object
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const mapValues = (members: unknown, change: (value: unknown) => unknown): unknown =>
  isObject(members)
    ? Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]))
    : members

/** The document as the plugin gives it → a corrected copy. */
export function correctOpenApi(document: object): object {
  const { paths, components, ...rest } = document as { paths?: unknown; components?: Json }
  return {
    ...rest,
    paths: mapValues(paths, (path) => mapValues(path, correctOperation)),
    components: { ...components, schemas: mapValues(components?.schemas ?? {}, correctSchema) },
  }
}

function correctOperation(operation: unknown): unknown {
  if (!isObject(operation)) return operation
  const { 'x-request': described, parameters, requestBody, responses, ...rest } = operation
  return {
    ...rest,
    ...(Array.isArray(parameters) && parameters.length > 0 && { parameters: parameters.map(correctTyped) }),
    ...(isObject(requestBody) && { requestBody: correctBody(requestBody, described) }),
    responses: correctResponses(responses),
  }
}

/** A parameter, a header or the content of a media type. */
function correctTyped(typed: unknown): unknown {
  if (!isObject(typed)) return typed
  const { examples, schema, ...rest } = typed
  const example = Array.isArray(examples) ? { example: examples[0] } : examples === undefined ? {} : { examples }
  return { ...rest, ...example, schema: correctSchema(schema) }
}

function correctBody(body: Json, described: unknown): Json {
  const offered = Object.values(isObject(body.content) ? body.content : {})[0]
  const routeSchema = isObject(offered) ? offered.schema : undefined
  const types = isObject(described) ? described : { 'application/json': {} }
  const content = mapValues(types, (type) => {
    const { schema = routeSchema, ...rest } = type as DescribedRequest
    return { ...rest, schema: correctSchema(schema) }
  })
  return { ...body, required: !allOptional(routeSchema), content }
}

/** Where every field is optional, no body at all is an empty object; the plugin calls each body required. */
const allOptional = (schema: unknown): boolean =>
  isObject(schema) && schema.type === 'object' && (!Array.isArray(schema.required) || schema.required.length === 0)

function correctResponses(responses: unknown): unknown {
  if (!isObject(responses) || Object.keys(responses).length === 0) return { default: { description: 'The answer' } }
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      if (!isObject(response) || '$ref' in response) return [status, response]
      const { description, headers, content } = response
      return [
        status,
        {
          description: description ?? `Status ${status}`,
          ...(isObject(headers) && { headers: mapValues(headers, correctTyped) }),
          ...(isObject(content) && { content: mapValues(content, correctTyped) }),
        },
      ]
    }),
  )
}

const LISTS_OF_SCHEMAS = ['anyOf', 'oneOf', 'allOf']

function correctSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const { const: constant, examples, patternProperties, type, $id: _, $schema: __, error: ___, ...rest } = schema
  const corrected: Json = { ...rest }
  if (type !== undefined) Object.assign(corrected, correctType(type))
  if (constant !== undefined) corrected.enum = [constant]
  if (Array.isArray(examples)) corrected.example ??= examples[0]
  if (isObject(patternProperties)) corrected.additionalProperties ??= anyOf(Object.values(patternProperties))
  for (const list of LISTS_OF_SCHEMAS)
    if (Array.isArray(corrected[list])) corrected[list] = corrected[list].map(correctSchema)
  for (const one of ['items', 'not', 'additionalProperties'])
    if (isObject(corrected[one])) corrected[one] = correctSchema(corrected[one])
  if (corrected.properties !== undefined) corrected.properties = mapValues(corrected.properties, correctSchema)
  return corrected
}

const anyOf = (schemas: unknown[]): unknown => (schemas.length === 1 ? schemas[0] : { anyOf: schemas })

/** OpenAPI 3.0 knows one type, and `null` only as `nullable`. */
function correctType(type: unknown): Json {
  if (!Array.isArray(type)) return type === 'null' ? { nullable: true, enum: [null] } : { type }
  const types = type.filter((one) => one !== 'null')
  const nullable = types.length < type.length ? { nullable: true } : {}
  return types.length === 1
    ? { type: types[0], ...nullable }
    : { anyOf: types.map((one) => ({ type: one, ...nullable })) }
}
