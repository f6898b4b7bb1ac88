// What is judged of a /v1 request before its body is read, in this order: key, rate, room in the spool, path, method, size, content type.
// Without a valid key nothing else is learnt. An event's stamp is taken here: it is the time of arrival, not of parsing.
import type { FoundKey } from '../../account/keys.ts'
import type { Destination } from '../../event/event.ts'
import type { Stamp } from '../../event/stamp.ts'
import { Problem } from '../../problem.ts'
import type { SpoolRefusal } from '../../spool/spool.ts'
import type { LimitBadKeys } from './bad-keys.ts'
import type { RateLimit } from './rate-limit.ts'
import type { RateLimitHeaders } from './rate-limit-headers.ts'
import { bodyTooLarge } from './read-body.ts'

/** Where each path's events go, and how large a body may be. */
export interface IntakePath {
  readonly destinations: readonly Destination[]
  readonly maxBodyBytes: number
  readonly contentTypes: readonly string[]
  /** Content codings a body may come in, `identity` aside. */
  readonly codings: readonly string[]
}

export interface GateDeps {
  readonly keyHeader: string
  /** The answer to a request without a valid key: one and the same for a missing, malformed, unknown and revoked key. */
  readonly keyInvalid: Problem
  findKey(secret: string): FoundKey | undefined
  /** Absent: requests without a valid key are not limited. */
  readonly limitBadKeys?: LimitBadKeys
  readonly rateLimit: RateLimit
  /** Absent: there is no limit to tell of. */
  readonly rateLimitHeaders?: Pick<RateLimitHeaders, 'note'>
  refusal(destination: Destination): SpoolRefusal | undefined
  stamp(): Stamp
  readonly paths: ReadonlyMap<string, IntakePath>
}

/** What the gate learnt; carried to the handler. */
export interface Admission {
  readonly account: string
  readonly stamp: Stamp
}

export const SPOOL_REFUSALS: Record<SpoolRefusal, () => Problem> = {
  spool_full: () =>
    new Problem('spool_full', 'The spool for this kind of event is full; its store is behind.', { retryAfterS: 5 }),
  disk_low: () =>
    new Problem('disk_low', 'There is too little free space on the disk to accept events.', { retryAfterS: 5 }),
  busy: () => new Problem('busy', 'More comes in than the disk takes; send this again.', { retryAfterS: 1 }),
}

/** A path that is not known could have meant any kind. */
const DESTINATIONS: readonly Destination[] = ['points', 'exceptions']

/** The Problem that the request is to be answered with, or what the handler needs. `path` is its path without query, at or below `/v1`. */
export function admit(request: Request, path: string, deps: GateDeps): Admission | Problem {
  const { headers } = request
  const secret = headers.get(deps.keyHeader)
  const key = secret === null ? undefined : deps.findKey(secret)
  if (key === undefined) return deps.limitBadKeys?.(request) ?? deps.keyInvalid
  if (!key.write) return new Problem('scope_missing', 'This key may not write events.')

  const waitS = deps.rateLimit.take(key.keyId)
  deps.rateLimitHeaders?.note(request, key.keyId)
  if (waitS > 0)
    return new Problem('rate_limited', `A key may make ${deps.rateLimit.limit} requests a second.`, {
      retryAfterS: waitS,
    })

  const place = deps.paths.get(path)
  for (const destination of place?.destinations ?? DESTINATIONS) {
    const refusal = deps.refusal(destination)
    if (refusal !== undefined) return SPOOL_REFUSALS[refusal]()
  }
  if (place === undefined) return new Problem('not_found', 'There is no such path under /v1.')
  if (request.method !== 'POST') return new Problem('method_not_allowed', 'This path takes POST.', { allow: 'POST' })

  const length = headers.get('content-length')
  if (length !== null && Number(length) > place.maxBodyBytes) return bodyTooLarge(place.maxBodyBytes)
  const contentFault = findContentFault(headers, place)
  if (contentFault !== undefined) return unsupported(contentFault)
  return { account: key.account, stamp: deps.stamp() }
}

const UTF8_ONLY = /^\s*charset\s*=\s*(?:utf-8|"utf-8")\s*$/i

function findContentFault(headers: Headers, { contentTypes, codings }: IntakePath): string | undefined {
  const sent = headers.get('content-type') ?? ''
  if (!contentTypes.includes(sent)) {
    const [type = '', ...parameters] = sent.split(';')
    if (
      !contentTypes.includes(type.trim().toLowerCase()) ||
      parameters.length > 1 ||
      !parameters.every((p) => UTF8_ONLY.test(p))
    )
      return `must be ${contentTypes.join(' or ')}, in UTF-8`
  }
  const coding = headers.get('content-encoding')
  if (coding !== null && coding.toLowerCase() !== 'identity' && !codings.includes(coding.toLowerCase()))
    return 'comes in a content coding that is not supported here'
  return undefined
}

const unsupported = (detail: string) =>
  new Problem('content_type_unsupported', 'The body is of a type that is not accepted.', {
    errors: [{ pointer: '', detail }],
  })
