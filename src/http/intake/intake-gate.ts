// The gate before /v1 and /otlp. Before the body: key, rate, room in the spool, path, method, size, content type.
// Without a valid key nothing else is revealed. Takes an event's stamp: the time of its arrival, not of parsing.
import type { FoundKey } from '../../account/key-ring.ts'
import type { TokenBuckets } from '../../account/token-buckets.ts'
import { DESTINATIONS, type Destination, destinationOf, isMark, SENT_KINDS, type SentKind } from '../../event/event.ts'
import type { Stamp } from '../../event/stamp.ts'
import { Problem } from '../../problem.ts'
import type { SpoolErrorCode, SpoolRefusal } from '../../spool/spool-error.ts'
import { bodyTooLarge, EVENT_ROUTES, MAX_BATCH_BYTES, MAX_BODY_BYTES, SEND_BATCH } from '../../wire/events.ts'
import { EXPORT_LOGS, EXPORT_METRICS, EXPORT_TRACES } from '../../wire/other-protocols.ts'
import type { Route } from '../../wire/route.ts'
import { accountSuspended, type LimitBadKeys, secretOf } from '../authorize.ts'
import { type BodyRules, findContentFault } from './content-fault.ts'
import { CODINGS } from './read-batch.ts'

interface IntakePath extends BodyRules {
  /** Undefined: a batch. Each of its events meets the room in its own spool. */
  readonly kind: SentKind | undefined
  readonly destinations: readonly Destination[]
  readonly maxBodyBytes: number
}

/** `kind`: undefined for a batch. */
const placeOf = ({ path, body }: Pick<Route, 'path' | 'body'>, kind?: SentKind): [string, IntakePath] => {
  const contentTypes = Object.keys(body!)
  return kind === undefined
    ? [path, { kind, destinations: [], maxBodyBytes: MAX_BATCH_BYTES, contentTypes, codings: CODINGS }]
    : [path, { kind, destinations: [destinationOf(kind)], maxBodyBytes: MAX_BODY_BYTES, contentTypes, codings: [] }]
}

const PATHS: ReadonlyMap<string, IntakePath> = new Map([
  ...SENT_KINDS.map((kind) => placeOf(EVENT_ROUTES[kind], kind)),
  ...[SEND_BATCH, EXPORT_TRACES, EXPORT_LOGS, EXPORT_METRICS].map((route) => placeOf(route)),
])

/** Does the gate stand before this path? */
export const isIntake = (path: string): boolean => /^\/(v1|otlp)(\/|$)/.test(path)

/** The kind of event that a path takes; undefined for a batch and for unknown paths. */
export const kindOfPath = (path: string): SentKind | undefined => PATHS.get(path)?.kind

export interface GateDeps {
  readonly keyHeader: string
  /** The same answer for a missing, malformed, unknown or revoked key. */
  readonly keyInvalid: Problem
  /** `request`: the one that uses it. */
  findKey(secret: string, request: Request): FoundKey | undefined
  /** Absent: requests without a valid key are not limited. */
  readonly limitBadKeys?: LimitBadKeys | undefined
  /** Events per account and second: one is taken before the body is read, the rest of a batch is debt. */
  readonly rateLimit: TokenBuckets
  refusal(destination: Destination, account: string): SpoolRefusal | undefined
  /** Why the quota of the account takes nothing now; see IntakeDeps. */
  quotaRefusal(account: string, isMark: boolean): Problem | undefined
  stamp(): Stamp
}

interface Admission {
  readonly account: string
  readonly stamp: Stamp
}

/** The gate as routes use it: the way in, or the answer that refuses. `path`: the route's own. */
export type PassGate = (request: Request, path: string) => Admission | Response

export const SPOOL_REFUSALS: Record<Exclude<SpoolErrorCode, 'disk_failed'>, () => Problem> = {
  spool_full: () =>
    new Problem('spool_full', 'The spool for this kind of event is full; its store is behind.', { retryAfterS: 5 }),
  share_full: () =>
    new Problem('spool_full', "This account's share of the spool is full; its store is behind.", { retryAfterS: 5 }),
  letters_full: () =>
    new Problem(
      'spool_full',
      "This account's share of the dead letters is full: replay or delete them (`stint dead list` shows them).",
      { retryAfterS: 5 },
    ),
  disk_share: () =>
    new Problem(
      'disk_low',
      'There is little free space on the disk, and this account is among those that sent the most in 24 hours ' +
        '(new accounts count together).',
      { retryAfterS: 5 },
    ),
  disk_low: () =>
    new Problem('disk_low', 'There is too little free space on the disk to accept events.', { retryAfterS: 5 }),
  busy: () =>
    new Problem('busy', 'Events arrive faster than the disk takes them; send this again.', { retryAfterS: 1 }),
  stopping: () => new Problem('stopping', 'Stint is stopping.', { retryAfterS: 5 }),
}

/** The paths that may have been meant: exporters add `/v1/traces` to an endpoint, or are given it twice. */
function placesNear(path: string): string {
  if (!path.startsWith('/v1'))
    return '/otlp. OpenTelemetry is taken at /otlp/v1/traces, /otlp/v1/logs and /otlp/v1/metrics.'
  const signal = /^\/v1\/(traces|logs)\b/.exec(path)?.[1]
  return signal === undefined
    ? '/v1. It has /v1/start, /v1/end, /v1/metrics, /v1/exception and /v1/batch.'
    : `/v1. OpenTelemetry is taken at /otlp/v1/${signal}.`
}

/** Returns what the handler needs, or a Problem. `path`: without query, at or below `/v1` or `/otlp`. */
export function admit(request: Request, path: string, deps: GateDeps): Admission | Problem {
  const { headers } = request
  const secret = secretOf(headers, deps.keyHeader)
  const key = secret === undefined ? undefined : deps.findKey(secret, request)
  if (key === undefined) return deps.limitBadKeys?.(request) ?? deps.keyInvalid
  if (!key.write) return new Problem('scope_missing', 'This key may not write events.')
  if (key.isSuspended) return accountSuspended()

  const place = PATHS.get(path)
  // An unknown path could have meant any kind.
  const beyond = findLimit(key.account, place?.destinations ?? DESTINATIONS, deps, place?.kind)
  if (beyond !== undefined) return beyond
  if (place === undefined) return new Problem('not_found', `There is no such path under ${placesNear(path)}`)
  if (request.method !== 'POST') return new Problem('method_not_allowed', 'This path takes POST.', { allow: 'POST' })

  const length = headers.get('content-length')
  if (length !== null && Number(length) > place.maxBodyBytes) return bodyTooLarge(place.maxBodyBytes)
  const contentFault = findContentFault(headers, place)
  if (contentFault !== undefined) return contentFault
  return { account: key.account, stamp: deps.stamp() }
}

/** Refuses an account beyond its rate or quota, and events whose spool accepts none. `kind`: undefined if not known. */
export function findLimit(
  account: string,
  destinations: readonly Destination[],
  { rateLimit, refusal, quotaRefusal }: Pick<GateDeps, 'rateLimit' | 'refusal' | 'quotaRefusal'>,
  kind?: SentKind,
): Problem | undefined {
  if (rateLimit.limit > 0) {
    const retryAfterS = rateLimit.take(account)
    if (retryAfterS > 0)
      return new Problem('rate_limited', `An account may send ${rateLimit.limit} events per second.`, { retryAfterS })
  }
  for (const destination of destinations) {
    const full = refusal(destination, account)
    if (full !== undefined) return SPOOL_REFUSALS[full]()
  }
  return quotaRefusal(account, kind === undefined || isMark(kind))
}
