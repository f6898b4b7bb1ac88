// The JSON bodies of the account routes: typed schemas for Elysia and /swagger, and one check that names every fault with its pointer.
// They are read in a parse hook, so that who may ask is judged before anything of the body is.
import { Kind, type Static, type TObject, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import { normalizeEmail, PASSWORD_MAX, PASSWORD_MIN, passwordFault } from '../account/credentials.ts'
import { OVERLAP_MAX_S, type Scope } from '../account/keys.ts'
import { type Fault, Problem } from '../problem.ts'
import { bodyTooLarge, parseJson, readBytes } from './read-body.ts'

const MAX_BODY_BYTES = 16 * 1024
const MAX_FAULTS = 100
const KEY_NAME_MAX = 100
const SCOPES: readonly unknown[] = ['write', 'read']

/** What is wrong with a value, or undefined. */
type Check = (value: unknown) => string | undefined

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

const text =
  (max: number): Check =>
  (value) => {
    if (typeof value !== 'string') return 'must be a string'
    return value.length > max ? `must have at most ${max} characters` : undefined
  }

const CHECKS: Readonly<Record<string, Check>> = {
  'stint:email': (value) =>
    text(1000)(value) ?? (normalizeEmail(value as string) === undefined ? 'must be an e-mail address' : undefined),
  'stint:new-password': (value) => (typeof value === 'string' ? passwordFault(value)?.detail : 'must be a string'),
  'stint:given-text': text(4096),
  'stint:key-name': (value) => {
    if (typeof value !== 'string') return 'must be a string'
    if (!value.isWellFormed() || CONTROL.test(value)) return 'must be well-formed Unicode without control characters'
    if (value.trim() === '') return 'must not be empty'
    return [...value].length > KEY_NAME_MAX ? `must have at most ${KEY_NAME_MAX} characters` : undefined
  },
  'stint:scopes': (value) => {
    if (!Array.isArray(value) || value.length === 0) return 'must be a list of write, read or both'
    if (!value.every((scope) => SCOPES.includes(scope))) return 'must be a list of write, read or both'
    return new Set(value).size < value.length ? 'must not name a scope twice' : undefined
  },
  'stint:overlap': (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= OVERLAP_MAX_S
      ? undefined
      : `must be a whole number of seconds from 0 to ${OVERLAP_MAX_S}`,
}

const field = <T>(kind: keyof typeof CHECKS, json: object) => Type.Unsafe<T>({ [Kind]: kind, ...json })

const email = field<string>('stint:email', {
  type: 'string',
  format: 'email',
  maxLength: 254,
  examples: ['ada@example.com'],
})
const newPassword = field<string>('stint:new-password', {
  type: 'string',
  format: 'password',
  minLength: PASSWORD_MIN,
  maxLength: PASSWORD_MAX,
  examples: ['correct horse battery staple'],
})
const givenPassword = field<string>('stint:given-text', { type: 'string', format: 'password', maxLength: 4096 })
const closed = { additionalProperties: false }

const SCHEMAS = {
  signUp: Type.Object(
    {
      email,
      password: newPassword,
      setup_code: Type.Optional(
        field<string>('stint:given-text', {
          type: 'string',
          maxLength: 4096,
          description:
            'For the first account, where the port is open to others: the code that the log of the start shows.',
        }),
      ),
    },
    closed,
  ),
  signIn: Type.Object(
    { email: field<string>('stint:given-text', { type: 'string', maxLength: 4096 }), password: givenPassword },
    closed,
  ),
  password: Type.Object({ current_password: givenPassword, new_password: newPassword }, closed),
  createKey: Type.Object(
    {
      name: field<string>('stint:key-name', {
        type: 'string',
        minLength: 1,
        maxLength: KEY_NAME_MAX,
        description: 'What you tell your keys apart by.',
        examples: ['nightly import'],
      }),
      scopes: Type.Optional(
        field<Scope[]>('stint:scopes', {
          type: 'array',
          items: { type: 'string', enum: SCOPES },
          minItems: 1,
          maxItems: 2,
          uniqueItems: true,
          default: ['write'],
          description: '`write` for /v1, `read` for questions under /api.',
        }),
      ),
    },
    closed,
  ),
  rotateKey: Type.Object(
    {
      overlap_seconds: Type.Optional(
        field<number>('stint:overlap', {
          type: 'integer',
          minimum: 0,
          maximum: OVERLAP_MAX_S,
          default: 0,
          description: 'So long the old key still works.',
        }),
      ),
    },
    closed,
  ),
}

export type AccountBody<Name extends keyof typeof SCHEMAS> = Static<(typeof SCHEMAS)[Name]>

/** The schemas. Registers their kinds of fields with TypeBox, which keeps those globally; doing so again changes nothing. */
export function createAccountSchemas() {
  for (const [kind, check] of Object.entries(CHECKS)) TypeRegistry.Set(kind, (_, value) => check(value) === undefined)
  return SCHEMAS
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i

/** Reads and checks a JSON body. Throws Problem `body_too_large`, `content_type_unsupported`, `json_malformed` or `fields_invalid` with every fault. */
export async function readAccountBody<T extends TObject>(request: Request, schema: T): Promise<Static<T>> {
  const { headers } = request
  if (Number(headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw bodyTooLarge(MAX_BODY_BYTES)
  if (
    !JSON_TYPE.test(headers.get('content-type') ?? '') ||
    (headers.get('content-encoding') ?? 'identity') !== 'identity'
  ) {
    throw new Problem('content_type_unsupported', 'The body is of a type that is not accepted.', {
      errors: [{ pointer: '', detail: 'must be application/json, in UTF-8' }],
    })
  }
  const body = parseJson(await readBytes(request, MAX_BODY_BYTES))
  const errors = findFaults(schema, body)
  if (errors.length > 0) {
    const faults = errors.length === 1 ? 'a fault' : `${errors.length} faults`
    throw new Problem('fields_invalid', `The body has ${faults}.`, { errors })
  }
  return body as Static<T>
}

function findFaults(schema: TObject, body: unknown): Fault[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return [{ pointer: '', detail: 'must be a JSON object' }]
  const faults: Fault[] = []
  const required = new Set(schema.required)
  for (const [name, property] of Object.entries(schema.properties) as [string, TSchema][]) {
    if (!Object.hasOwn(body, name)) {
      if (required.has(name)) faults.push({ pointer: `/${name}`, detail: 'is required' })
      continue
    }
    const detail = CHECKS[property[Kind]]!((body as Record<string, unknown>)[name])
    if (detail !== undefined) faults.push({ pointer: `/${name}`, detail })
  }
  for (const name of Object.keys(body)) {
    if (faults.length >= MAX_FAULTS) break
    if (Object.hasOwn(schema.properties, name)) continue
    const pointer = `/${name.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')}`
    faults.push({ pointer, detail: 'is not a field of this endpoint' })
  }
  return faults
}
