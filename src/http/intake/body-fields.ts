// The typed body schemas of /v1. Elysia compiles them for the check; the same field rules (event/fields.ts) then say what is wrong.
import { Kind, type TObject, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import { t } from 'elysia'
import { EVENT_KINDS, type EventKind, isEventKind } from '../../event/event.ts'
import {
  checkExceptionText,
  checkItems,
  checkMeta,
  checkProcess,
  checkUid,
  escapePointer,
  type FieldFault,
  LIMITS,
} from '../../event/fields.ts'
import { parseRfc3339 } from '../../event/rfc3339.ts'
import type { Fault } from '../../problem.ts'

/** What is wrong with the value of a field. */
export type Check = (value: unknown) => readonly FieldFault[]

const MAX_FAULTS = 100

const checkAtFormat: Check = (value) =>
  typeof value === 'string' && parseRfc3339(value) !== undefined
    ? []
    : [{ pointer: '', detail: 'must be an RFC 3339 time with at most nine digits of a second' }]

const CHECKS: Readonly<Record<string, Check>> = {
  'stint:kind': (value) => (isEventKind(value) ? [] : [{ pointer: '', detail: `must be ${EVENT_KINDS.join(', ')}` }]),
  'stint:process': checkProcess,
  'stint:meta': checkMeta,
  'stint:uid': checkUid,
  'stint:items': checkItems,
  'stint:exception': checkExceptionText,
  'stint:at': checkAtFormat,
}

/** Without a message in the schema Elysia puts the whole value into its error as JSON, which is slow, and fails for a deep one. */
const UNSAID = { error: 'invalid' }

function field<T>(kind: keyof typeof CHECKS, json: object) {
  return Type.Unsafe<T>({ [Kind]: kind, ...UNSAID, ...json })
}

/** The four bodies. Registers their kinds of fields with TypeBox, which keeps those globally; doing so again changes nothing. */
export function createBodySchemas() {
  for (const [kind, check] of Object.entries(CHECKS)) TypeRegistry.Set(kind, (_, value) => check(value).length === 0)

  const common = {
    process: field<string>('stint:process', {
      type: 'string',
      minLength: 1,
      maxLength: LIMITS.process,
      pattern: '[^\'"%\\\\\\u0000-\\u001f\\u007f]',
      description: 'Process name. The characters \' " % and control characters are stripped.',
      examples: ['nightly import'],
    }),
    meta: t.Optional(
      field<string>('stint:meta', {
        type: 'string',
        maxLength: LIMITS.meta,
        description: 'Details about the process. Stripped as process is; an empty meta equals none.',
        examples: ['region eu'],
      }),
    ),
    at: t.Optional(
      field<string>('stint:at', {
        type: 'string',
        format: 'date-time',
        description:
          "The event's own time, RFC 3339, for events that are sent late. Sending it again is safe: it is stored once.",
      }),
    ),
  }
  const uid = t.Optional(
    field<string>('stint:uid', {
      type: 'string',
      maxLength: LIMITS.uid,
      pattern: '^[a-z0-9_-]*$',
      description: 'Tells runs apart that have the same process and meta at the same time. Empty equals none.',
      examples: ['3f2a9c1e-1b2c-4d5e-8f90-123456789abc'],
    }),
  )
  const closed = { additionalProperties: false, ...UNSAID }
  const mark = t.Object({ process: common.process, meta: common.meta, uid, at: common.at }, closed)
  const metrics = t.Object(
    { process: common.process, meta: common.meta, items: field<unknown>('stint:items', ITEMS_JSON), at: common.at },
    closed,
  )
  const exception = t.Object(
    {
      process: common.process,
      meta: common.meta,
      exception: field<string>('stint:exception', {
        type: 'string',
        maxLength: LIMITS.exception,
        description: 'The text of the exception, with its stack trace when there is one.',
        examples: ['Error: connection reset\n    at load (import.ts:12:9)'],
      }),
      at: common.at,
    },
    closed,
  )
  return { start: mark, end: mark, metrics, exception } satisfies Record<EventKind, TObject>
}

/** A body with its kind beside the fields: one event of a batch. */
export const withKind = (kind: EventKind, schema: TObject): TObject =>
  t.Object({ kind: kindField([kind]), ...schema.properties }, { additionalProperties: false })

export const kindField = (kinds: readonly EventKind[] = EVENT_KINDS) =>
  field<string>('stint:kind', { type: 'string', enum: kinds })

const NAME_JSON = {
  type: 'string',
  minLength: 1,
  maxLength: LIMITS.name,
  pattern: '^[^\'"%\\u0000-\\u001f\\u007f]*[^\'"%\\u0000-\\u001f\\u007f\\\\]$',
}

const ITEMS_JSON = {
  description: 'Named numbers: an object, or a list of metrics. Names hold none of \' " %.',
  examples: [{ rows: 120412, seconds: 12.5 }],
  anyOf: [
    { type: 'object', minProperties: 1, maxProperties: LIMITS.items, additionalProperties: { type: 'number' } },
    {
      type: 'array',
      minItems: 1,
      maxItems: LIMITS.items,
      uniqueItems: true,
      items: {
        anyOf: [
          {
            type: 'object',
            properties: { name: NAME_JSON, value: { type: 'number' } },
            required: ['name', 'value'],
            additionalProperties: false,
          },
          { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: { type: 'number' } },
        ],
      },
    },
  ],
}

/** Everything that is wrong with a body, with JSON pointers from its root; at most 100 faults. `checks` by the kind of each property. */
export function findFaults(schema: TObject, body: unknown, checks: Readonly<Record<string, Check>> = CHECKS): Fault[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return [{ pointer: '', detail: 'must be a JSON object' }]
  const faults: Fault[] = []
  const required = new Set(schema.required)
  for (const [name, property] of Object.entries(schema.properties) as [string, TSchema][]) {
    if (!Object.hasOwn(body, name)) {
      if (required.has(name)) faults.push({ pointer: `/${name}`, detail: 'is required' })
      continue
    }
    for (const fault of checks[property[Kind]]!((body as Record<string, unknown>)[name]))
      faults.push({ pointer: `/${name}${fault.pointer}`, detail: fault.detail })
  }
  for (const member of Object.keys(body)) {
    if (faults.length >= MAX_FAULTS) break
    if (schema.additionalProperties === false && !Object.hasOwn(schema.properties, member))
      faults.push({ pointer: `/${escapePointer(member)}`, detail: 'is not a field of this endpoint' })
  }
  return faults
}
