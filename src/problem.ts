// The closed table of errors: every refusal is one of these. A test compares it with the table in http/README.md.

export const problemTable = {
  sign_in_expired: { status: 400, title: 'Sign-in expired or started in another browser' },
  otlp_malformed: { status: 400, title: 'The body is not an OTLP request' },
  key_invalid: { status: 401, title: 'The API key is missing or not valid' },
  session_invalid: { status: 401, title: 'Sign in first' },
  credentials_invalid: { status: 401, title: 'The e-mail address or the password is wrong' },
  sign_in_refused: { status: 401, title: 'The provider did not confirm the sign-in' },
  scope_missing: { status: 403, title: 'The key lacks the scope for this' },
  signup_closed: { status: 403, title: 'Sign-up is closed' },
  setup_code_invalid: { status: 403, title: 'The setup code is missing or wrong' },
  role_missing: { status: 403, title: 'Your role in the account does not allow this' },
  invitation_for_another: { status: 403, title: 'The invitation is for another address' },
  not_invited: { status: 403, title: 'You do not belong to an account' },
  email_unverified: { status: 403, title: 'The provider has not verified the e-mail address' },
  password_sign_in_off: { status: 403, title: 'Signing in by password is off' },
  account_suspended: { status: 403, title: 'The operator has suspended the account' },
  address_unproved: { status: 403, title: 'Confirm your e-mail address first' },
  operator_only: { status: 403, title: 'Only the operator may do this' },
  password_wrong: { status: 403, title: 'The password is missing or wrong' },
  cross_site: { status: 403, title: 'The request came from another site' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  operator_needed: { status: 409, title: 'Another account must become the operator first' },
  owner_needed: { status: 409, title: 'The account needs an owner' },
  already_member: { status: 409, title: 'Already a member' },
  account_changed: { status: 409, title: 'This session now shows another account' },
  key_taken: { status: 409, title: 'There is a key with this secret' },
  account_disputed: { status: 409, title: 'Whose account this is has to be chosen first' },
  email_taken: { status: 409, title: 'E-mail address already in use' },
  limit_reached: { status: 409, title: 'A limit of the account is reached' },
  alert_ended: { status: 409, title: 'The alert has ended' },
  note_changed: { status: 409, title: 'Somebody else has changed the note' },
  body_too_large: { status: 413, title: 'The body is too large' },
  content_type_unsupported: { status: 422, title: 'The content type must be application/json' },
  json_malformed: { status: 422, title: 'The body is not valid JSON' },
  fields_invalid: { status: 422, title: 'The body is not valid' },
  series_budget_spent: { status: 422, title: 'Series limit reached' },
  question_invalid: { status: 422, title: 'Invalid query' },
  question_too_large: { status: 422, title: 'Query too large' },
  quota_spent: { status: 429, title: 'The quota of the account is spent' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something failed inside Stint' },
  disk_failed: { status: 500, title: 'The event could not be written to disk' },
  channel_failed: { status: 502, title: 'The notification could not be delivered' },
  busy: { status: 503, title: 'Server busy' },
  spool_full: { status: 503, title: 'The spool is full' },
  disk_low: { status: 503, title: 'The disk is almost full' },
  node_id_in_use: { status: 503, title: 'Another Stint uses this NODE_ID' },
  spool_missing: { status: 503, title: 'The spool directory is missing' },
  store_unavailable: { status: 503, title: 'The store does not answer' },
  provider_unavailable: { status: 503, title: 'The identity provider does not answer' },
  stopping: { status: 503, title: 'Stint is stopping' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>

export type ProblemCode = keyof typeof problemTable

/** One thing that is wrong with a request: a JSON pointer (RFC 6901) into the body, or `/name` of a query parameter. */
export interface Fault {
  readonly pointer: string
  readonly detail: string
}

interface ProblemOptions {
  readonly errors?: readonly Fault[]
  /** For a batch: the problem of each event, in order. */
  readonly items?: readonly object[]
  readonly retryAfterS?: number
  readonly allow?: string
  readonly cause?: unknown
}

/** A refusal from the closed table. `detail` must never hold a caller's value, a stack or a driver's message. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  readonly title: string
  readonly errors: readonly Fault[] | undefined
  readonly items: readonly object[] | undefined
  readonly retryAfterS: number | undefined
  readonly allow: string | undefined

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    options: ProblemOptions = {},
  ) {
    super(detail, { cause: options.cause })
    this.status = problemTable[code].status
    this.title = problemTable[code].title
    this.errors = options.errors
    this.items = options.items
    this.retryAfterS = options.retryAfterS
    this.allow = options.allow
  }
}

/** Problem `fields_invalid`. `count` may be more than `errors` holds. */
export function invalidBody(errors: readonly Fault[], count = errors.length): Problem {
  const found = count === 1 ? '1 error' : `${count} errors`
  const more =
    count > errors.length ? ` The first ${errors.length} are listed, and ${count - errors.length} more are not.` : ''
  return new Problem('fields_invalid', `The body has ${found}.${more}`, { errors })
}
