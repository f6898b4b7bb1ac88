// Reads a JSON body of /api and checks it against its schema in src/wire. Reports all faults, each with a JSON pointer.
// Elysia's validation is not used: its messages may repeat values, and it runs before a handler can check access.
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import { type Fault, invalidBody } from '../problem.ts'
import { bodyTooLarge } from '../wire/events.ts'
import { findContentFault } from './intake/content-fault.ts'
import { parseJson, readSmall } from './intake/read-body.ts'

const MAX_BODY_BYTES = 16 * 1024
const MAX_FAULTS = 100

const PLAIN_JSON = { kind: undefined, contentTypes: ['application/json'], codings: [] }

/** A rule that a schema cannot express: returns the fault of a member's value, or undefined. */
export type Rules<T> = { readonly [Name in keyof T]?: (value: NonNullable<T[Name]>) => string | undefined }

/**
 * Returns the body; `{}` without one if every member is optional. `rules` check members that match the schema.
 * Throws Problem `body_too_large`, `content_type_unsupported`, `json_malformed` or `fields_invalid`.
 */
export async function readJson<T extends TObject>(
  request: Request,
  schema: T,
  rules: Rules<Static<T>> = {},
  maxBytes = MAX_BODY_BYTES,
): Promise<Static<T>> {
  const { headers } = request
  if (request.body === null && schema.required === undefined) return {} as Static<T>
  if (Number(headers.get('content-length') ?? 0) > maxBytes) throw bodyTooLarge(maxBytes)
  const contentFault = findContentFault(headers, PLAIN_JSON)
  if (contentFault !== undefined) throw contentFault
  const body = parseJson(await readSmall(request, maxBytes))
  const errors = findFaults(schema, body, rules)
  if (errors.length > 0) throw invalidBody(errors)
  return body as Static<T>
}

/** One fault per pointer, at most 100; unknown members last. */
function findFaults<T extends TObject>(schema: T, body: unknown, rules: Rules<Static<T>> = {}): Fault[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return [{ pointer: '', detail: 'must be a JSON object' }]
  const faults = new Map<string, string>()
  const unknown = new Map<string, string>()
  for (const error of withinNullable(Value.Errors(schema, body))) {
    if (faults.size + unknown.size >= MAX_FAULTS) break
    const found = error.type === ValueErrorType.ObjectAdditionalProperties ? unknown : faults
    const detail = found.has(error.path) ? undefined : wordFault(error)
    if (detail !== undefined) found.set(error.path, detail)
  }
  for (const [name, value] of Object.entries(body)) {
    const pointer = `/${name}`
    if (faults.has(pointer) || !Object.hasOwn(schema.properties, name)) continue
    const rule = value === null ? undefined : rules[name as keyof Static<T>]
    const detail = isWellFormed(value) ? rule?.(value as never) : 'must be well-formed Unicode'
    if (detail !== undefined) faults.set(pointer, detail)
  }
  return [...faults, ...unknown].map(([pointer, detail]) => ({ pointer, detail }))
}

/** A member that may be null has the faults of what it may be otherwise. */
function* withinNullable(errors: Iterable<ValueError>): Generator<ValueError> {
  for (const error of errors) {
    const [of, or, ...others] = error.type === ValueErrorType.Union ? (error.schema.anyOf as TSchema[]) : []
    if (of !== undefined && or?.type === 'null' && others.length === 0) yield* withinNullable(error.errors[0]!)
    else yield error
  }
}

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed()
  return typeof value !== 'object' || value === null || Object.entries(value).flat().every(isWellFormed)
}

/** In words without the value; undefined = no fault. A schema may bring its own words as `fault`. */
function wordFault({ type, schema, value }: ValueError): string | undefined {
  switch (type) {
    case ValueErrorType.StringFormat: // known to TypeBox only where Elysia has registered it
    case ValueErrorType.StringFormatUnknown:
      return undefined // a format is documentation here; `rules` check it
    case ValueErrorType.StringMaxLength: // counted in UTF-16 units by TypeBox, in code points by JSON Schema
      return [...(value as string)].length > schema.maxLength
        ? `must have at most ${schema.maxLength} characters`
        : undefined
    case ValueErrorType.StringMinLength:
      return schema.minLength === 1 ? 'must not be empty' : `must have at least ${schema.minLength} characters`
    case ValueErrorType.ObjectRequiredProperty:
      return 'is required'
    case ValueErrorType.ObjectAdditionalProperties:
      return 'is not a field of this endpoint'
    case ValueErrorType.String:
      return schema.fault ?? `must be a string${exampleOf(schema)}`
    case ValueErrorType.Boolean:
      return 'must be true or false'
    case ValueErrorType.Object:
      return schema.fault ?? 'must be a JSON object'
    case ValueErrorType.Array:
      return schema.fault ?? 'must be a list'
    case ValueErrorType.ArrayUniqueItems:
      return 'must not name an item twice'
    case ValueErrorType.ArrayMinItems:
      return schema.fault ?? `must have at least ${schema.minItems} items`
    case ValueErrorType.ArrayMaxItems:
      return schema.fault ?? `must have at most ${schema.maxItems} items`
    case ValueErrorType.Integer:
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
      return schema.fault ?? `must be a whole number${rangeOf(schema)}`
    case ValueErrorType.Number:
    case ValueErrorType.NumberMinimum:
    case ValueErrorType.NumberMaximum:
      return schema.fault ?? `must be a number${rangeOf(schema)}`
    case ValueErrorType.Union:
      return schema.fault ?? choicesOf(schema)
    default:
      return schema.fault ?? 'is not valid'
  }
}

const rangeOf = ({ minimum, maximum }: Record<string, unknown>): string => {
  if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`
}

const exampleOf = ({ examples }: Record<string, unknown>): string =>
  Array.isArray(examples) ? ` such as ${JSON.stringify(examples[0])}` : ''

function choicesOf({ anyOf }: Record<string, unknown>): string {
  const values = (anyOf as { const?: unknown }[]).map((member) => member.const)
  return values.every((value) => typeof value === 'string') ? `must be one of ${values.join(', ')}` : 'is not valid'
}
