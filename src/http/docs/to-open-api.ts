// JSON Schema as TypeBox writes it → the dialect of OpenAPI 3.0, which has no `const`, `null`, `examples` or `patternProperties`.
import type { DocumentDecoration } from 'elysia'

type Json = Record<string, unknown>
type Parameter = Extract<NonNullable<DocumentDecoration['parameters']>[number], { name: string }>
export type OpenApiSchema = Exclude<NonNullable<Parameter['schema']>, { $ref: string }>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const mapValues = (members: Json, change: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]))

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
  if (isObject(patternProperties)) converted.additionalProperties ??= convert(Object.values(patternProperties)[0])
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
