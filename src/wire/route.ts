// The description of a route: who may call it, its parameters and body, its answers. The OpenAPI document follows from
// it.
//
// Everything that goes over the wire is declared in this folder, once. To add a resource:
// 1. Create `src/wire/<resource>.ts` with a TypeBox schema for each body and answer, and an example with each member.
//   Where others name its type, export that beside it under the same name: `export const Watch = Type.Object({…})`,
//   `export type Watch = Static<typeof Watch>`.
// 2. In the same file describe each route by `defineRoute('POST /api/…', {…})`: access, body,
//   answers, possible problems.
// 3. In `src/http` mount it by `on(CREATE_WATCH, handler)`, see mount.ts; the handler gets the checked body.
// 4. The command line, the console and the clients write `import type { Watch } from '…/wire/<resource>.ts'`. `import
//   type` is required in the console: TypeBox stays out of the browser's bundle.
// A query parameter goes into parameters.ts, an error code into src/problem.ts.
import type { Static, TSchema } from '@sinclair/typebox'
import type { Problem, ProblemCode } from '../problem.ts'
import type { AuditAction } from './audit-actions.ts'
import { PARAMETERS, type ParameterName } from './parameters.ts'
import { BODY_PROBLEMS, QUESTION_INVALID, QUESTION_TOO_LARGE, WRITE_PROBLEMS } from './problem.ts'
import { ACCESS, type Access, type AccessRule } from './roles.ts'

/** An answer other than a problem. */
export interface Answer {
  readonly description: string
  /** Absent: no content. A string means text, with this example. */
  readonly body?: { readonly schema: TSchema; readonly example: unknown } | string
  /** Content types of a text other than plain. */
  readonly types?: readonly string[]
}

/** One content type of a request body. */
interface RequestBody {
  readonly schema: TSchema
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters of the path as `:name`. */
  readonly path: string
  readonly tag: keyof typeof TAGS
  /** A row of the table in roles.ts. */
  readonly access: Access
  /** Also allowed while the session's account is disputed. */
  readonly whileDisputed?: true
  /** A change that is also allowed while the account is suspended. */
  readonly whileSuspended?: true
  /** The name of the action in the audit log. */
  readonly audit?: AuditAction
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly ParameterName[]
  /** Answers carry an ETag, and `If-None-Match` with it is a 304 while nothing of the account has changed. */
  readonly hasTag?: true
  /** Query parameters of this route alone. */
  readonly ownParameters?: Readonly<Record<string, TSchema>>
  /** Keyed by content type. */
  readonly body?: Readonly<Record<string, RequestBody>>
  /** If its longest texts need more than 16 KiB. */
  readonly bodyMaxBytes?: number
  readonly answers: Readonly<Record<number, Answer>>
  /** Every problem that it may answer with; a Problem where the example says more than the title of its code. */
  readonly problems: readonly (ProblemCode | Problem)[]
}

export type WithParameters = Pick<Route, 'parameters' | 'ownParameters'>

/** The query parameters of a route: schemas by name. */
export const parametersOf = ({
  parameters = [],
  ownParameters,
}: WithParameters): Readonly<Record<string, TSchema>> => ({
  ...Object.fromEntries(parameters.map((name) => [name, PARAMETERS[name]])),
  ...ownParameters,
})

/** Their types, as the document has them. */
export type ParametersOf<R> = (R extends { readonly parameters: readonly (infer N extends ParameterName)[] }
  ? { [K in N]: Static<(typeof PARAMETERS)[K]> }
  : unknown) &
  (R extends { readonly ownParameters: infer P extends Readonly<Record<string, TSchema>> }
    ? { [K in keyof P]: Static<P[K]> }
    : unknown)

export const TAGS = {
  events: 'Send start and end marks, metrics and exceptions',
  questions: 'Read back what was sent',
  watches: 'Watches, their alerts, and the channels that are notified',
  account: 'The account; signing up issues the first key',
  session: 'Sign in and out',
  members: 'Members of the account, their roles, and invitations',
  keys: 'Create, rotate and revoke API keys',
  operator: 'The accounts of all, for a session of the operator; no key',
  operations: 'Health and metrics for operators; no key needed',
} as const

type Endpoint = `${Route['method']} /${string}`
type MethodOf<E extends Endpoint> = E extends `${infer M extends Route['method']} /${string}` ? M : never
type PathOf<E extends Endpoint> = E extends `${string} ${infer P}` ? P : never

type Description = Omit<Route, 'method' | 'path' | 'problems'> & Partial<Pick<Route, 'problems'>>

/** `endpoint`: method and path. `problems`: those that do not follow from the rest of the description. */
export function defineRoute<const E extends Endpoint, const R extends Description>(
  endpoint: E,
  route: R,
): R & { readonly method: MethodOf<E>; readonly path: PathOf<E>; readonly problems: Route['problems'] } {
  const [method, path] = endpoint.split(' ') as [MethodOf<E>, PathOf<E>]
  const problems = [...new Set([...(route.problems ?? []), ...problemsOf(method, path, route)])]
  return { ...route, method, path, problems }
}

/** Problems that follow from a route's access, path, parameters and body; not for those under /v1 and /otlp. */
function* problemsOf(method: Route['method'], path: string, route: Description): Generator<ProblemCode | Problem> {
  const { access, audit, body, parameters, ownParameters } = route
  const rule: AccessRule = ACCESS[access]
  const { scope, role, operator, signIn = scope === null } = rule
  if (access === 'send') return
  if (body) yield* BODY_PROBLEMS
  if (path.includes('/:')) yield 'not_found'
  if (role === null) return
  yield* ['cross_site', 'account_changed', 'rate_limited', 'internal', 'store_unavailable'] as const
  if (!route.whileDisputed) yield 'account_disputed'
  if (scope !== null || isChange(method, route)) yield 'account_suspended'
  if (scope !== null || operator) yield* ['key_invalid', 'scope_missing'] as const
  if (signIn) yield 'session_invalid'
  if (role !== 'viewer') yield 'role_missing'
  if (operator || parameters?.includes('all')) yield 'operator_only'
  if (parameters?.includes('from')) yield QUESTION_INVALID
  else if (parameters ?? ownParameters) yield 'question_invalid'
  const changesThisNode = access === 'repair' || access === 'operate'
  if (audit !== undefined && !changesThisNode) yield* WRITE_PROBLEMS
}

/** Refused to people of a suspended account; they may read, export, delete it, and change what is their own. */
export const isChange = (
  method: Route['method'],
  { access, whileSuspended }: Pick<Route, 'access' | 'whileSuspended'>,
) => {
  const { role }: AccessRule = ACCESS[access]
  return method !== 'GET' && role !== null && role !== 'viewer' && !whileSuspended
}

/** A question about the caller's own events that asks no store. */
export const LOCAL_QUESTION = { tag: 'questions', access: 'read' } as const
/** A question about the caller's own events. */
export const QUESTION = { ...LOCAL_QUESTION, problems: [QUESTION_TOO_LARGE] } as const

/** One that open pages repeat. */
export const REPEATED_QUESTION = { ...QUESTION, hasTag: true } as const

export const jsonBody = <T extends TSchema>(schema: T, example: Static<T>) => ({
  'application/json': { schema, examples: { example: { value: example } } },
})

/** An answer with JSON. Its example follows from those of the members, unless another says more. */
export const json = <T extends TSchema>(description: string, schema: T, example = exampleOf(schema)) => ({
  description,
  body: { schema, example },
})

/**
 * Members that may be null or absent are so, unless they have an example. Without one a number is its least, and a list
 * has one item.
 */
export const exampleOf = <T extends TSchema>(schema: T): Static<T> => make(schema) as Static<T>

function make({ examples, const: constant, anyOf, type, minimum, items, properties, required }: TSchema): unknown {
  if (examples !== undefined) return examples[0]
  if (constant !== undefined) return constant
  if (anyOf !== undefined) return anyOf.some((one: TSchema) => one.type === 'null') ? null : make(anyOf[0])
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((properties ?? {}) as Record<string, TSchema>)
          .filter(([name, member]) => required?.includes(name) || member.examples !== undefined)
          .map(([name, member]) => [name, make(member)]),
      )
    case 'array':
      return [make(items)]
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return minimum ?? 0
    default:
      return ''
  }
}
