// Answers: JSON, nothing, or a problem, and their headers. Browsers must not guess the type, send a referrer, or let
// other sites load the answer. Headers are created once per kind: Bun copies a Headers object faster than a plain one.
import type { Problem } from '../problem.ts'
import type { ProblemBody } from '../wire/problem.ts'

const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

/** Created once and handed to many Responses, which copy them. */
export const answerHeaders = (more: Readonly<Record<string, string>> = {}): Headers =>
  new Headers({ ...ALWAYS, ...more })

/** For answers that hold an account's data, and for problems: no cache keeps them. */
export const uncachedHeaders = (more: Readonly<Record<string, string>> = {}): Headers =>
  answerHeaders({ ...more, 'cache-control': 'no-store' })

/** For pages: no other page may show them in a frame, in old browsers too. */
export const pageHeaders = (policy: string, more: Readonly<Record<string, string>> = {}): Headers =>
  answerHeaders({
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
    ...more,
  })

const JSON_HEADERS = uncachedHeaders({ 'content-type': 'application/json' })
const NO_CONTENT = { status: 204, headers: uncachedHeaders() }

export const jsonAnswer = (body: object, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: JSON_HEADERS })

export const emptyAnswer = (): Response => new Response(null, NO_CONTENT)

const PROBLEM_TYPE = { 'content-type': 'application/problem+json' }
export const PROBLEM_HEADERS = uncachedHeaders(PROBLEM_TYPE)
const UNAUTHORIZED_HEADERS = uncachedHeaders({ ...PROBLEM_TYPE, 'www-authenticate': 'ApiKey' })

export const problemBody = ({ code, status, title, detail, errors, items }: Problem): ProblemBody => ({
  type: `urn:stint:problem:${code}`,
  title,
  status,
  code,
  detail,
  ...(errors && { errors: [...errors] }),
  ...(items && { items: [...items] }),
})

export function problemResponse(problem: Problem): Response {
  const { status, retryAfterS, allow } = problem
  const headers = status === 401 ? UNAUTHORIZED_HEADERS : PROBLEM_HEADERS
  const response = new Response(JSON.stringify(problemBody(problem)), { status, headers })
  if (retryAfterS !== undefined) response.headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterS))))
  if (allow !== undefined) response.headers.set('allow', allow)
  return response
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The headers with an ETag, and whether the caller has this version already: then 304 without a body answers it. */
export function tagHeaders(request: Request, tag: string, common: Headers): { headers: Headers; isKnown: boolean } {
  const etag = `"${tag}"`
  const headers = new Headers(common)
  headers.set('etag', etag)
  return { headers, isKnown: knowsTag(request, etag) }
}

/** Does `If-None-Match` name the tag? Weak and strong ones are compared alike (RFC 9110, 13.1.2). */
export function knowsTag(request: Request, etag: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, '')
  return (request.headers.get('if-none-match') ?? '').split(',').map(strong).includes(strong(etag))
}
