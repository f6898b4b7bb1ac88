// The JSON bodies of the account routes: typed schemas for Elysia and /swagger, and one check that names every fault with its pointer.
// They are read in a parse hook, so that who may ask is judged before anything of the body is.
import { Kind, type Static, type TObject, Type, TypeRegistry } from '@sinclair/typebox'
import { normalizeEmail, PASSWORD_MAX, PASSWORD_MIN, passwordFault } from '../../account/credentials.ts'
import { OVERLAP_MAX_S, type Scope } from '../../account/keys.ts'
import { Problem } from '../../problem.ts'
import { type Check, findFaults } from '../intake/body-fields.ts'
import { bodyTooLarge, parseJson, readBytes } from '../intake/read-body.ts'

const MAX_BODY_BYTES = 16 * 1024
const GIVEN_TEXT_MAX = 4096
const KEY_NAME_MAX = 100
const SCOPES: readonly unknown[] = ['write', 'read']

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** As the documentation says it: no control characters, and not only spaces. */
const KEY_NAME_PATTERN =
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\s][^\\u0000-\\u001f\\u007f-\\u009f]*$'

/** A check of strings: `rule` says what is wrong with one, or undefined. */
const text =
  (rule: (value: string) => string | undefined): Check =>
  (value) =>
    faults(typeof value === 'string' ? rule(value) : 'must be a string')

const faults = (detail: string | undefined) => (detail === undefined ? [] : [{ pointer: '', detail }])

const givenText = text((value) =>
  value.length > GIVEN_TEXT_MAX ? `must have at most ${GIVEN_TEXT_MAX} characters` : undefined,
)

const CHECKS: Readonly<Record<string, Check>> = {
  'stint:email': text((value) => (normalizeEmail(value) === undefined ? 'must be an e-mail address' : undefined)),
  'stint:new-password': text((value) => passwordFault(value)?.detail),
  'stint:given-text': givenText,
  'stint:key-name': text((value) => {
    if (!value.isWellFormed() || CONTROL.test(value)) return 'must be well-formed Unicode without control characters'
    if (value.trim() === '') return 'must not be empty'
    return [...value].length > KEY_NAME_MAX ? `must have at most ${KEY_NAME_MAX} characters` : undefined
  }),
  'stint:scopes': (value) => {
    const known = Array.isArray(value) && value.length > 0 && value.every((scope) => SCOPES.includes(scope))
    if (!known) return faults('must be a list of write, read or both')
    return faults(new Set(value).size < value.length ? 'must not name a scope twice' : undefined)
  },
  'stint:overlap': (value) => {
    const isSpan = Number.isInteger(value) && (value as number) >= 0 && (value as number) <= OVERLAP_MAX_S
    return faults(isSpan ? undefined : `must be a whole number of seconds from 0 to ${OVERLAP_MAX_S}`)
  },
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
const givenPassword = field<string>('stint:given-text', {
  type: 'string',
  format: 'password',
  maxLength: GIVEN_TEXT_MAX,
})
const closed = { additionalProperties: false }

const SCHEMAS = {
  signUp: Type.Object(
    {
      email,
      password: newPassword,
      setup_code: Type.Optional(
        field<string>('stint:given-text', {
          type: 'string',
          maxLength: GIVEN_TEXT_MAX,
          description:
            'For the first account, where the port is open to others: the code that the log of the start shows.',
        }),
      ),
    },
    closed,
  ),
  signIn: Type.Object(
    {
      email: field<string>('stint:given-text', { type: 'string', maxLength: GIVEN_TEXT_MAX }),
      password: givenPassword,
    },
    closed,
  ),
  password: Type.Object({ current_password: givenPassword, new_password: newPassword }, closed),
  createKey: Type.Object(
    {
      name: field<string>('stint:key-name', {
        type: 'string',
        minLength: 1,
        maxLength: KEY_NAME_MAX,
        pattern: KEY_NAME_PATTERN,
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
  for (const [kind, check] of Object.entries(CHECKS)) TypeRegistry.Set(kind, (_, value) => check(value).length === 0)
  return SCHEMAS
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i

/** Reads and checks a JSON body; where every field is optional, no body at all is an empty object. Throws Problem `body_too_large`, `content_type_unsupported`, `json_malformed` or `fields_invalid` with every fault. */
export async function readAccountBody<T extends TObject>(request: Request, schema: T): Promise<Static<T>> {
  const { headers } = request
  if (request.body === null && schema.required === undefined) return {} as Static<T>
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
  const errors = findFaults(schema, body, CHECKS)
  if (errors.length > 0) {
    const count = errors.length === 1 ? 'a fault' : `${errors.length} faults`
    throw new Problem('fields_invalid', `The body has ${count}.`, { errors })
  }
  return body as Static<T>
}
