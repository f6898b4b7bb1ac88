// A Problem as the answer to a request: application/problem+json of RFC 9457.
import type { Problem } from '../problem.ts'
import { uncachedHeaders } from './answer-headers.ts'

const TYPE = { 'content-type': 'application/problem+json' }
const HEADERS = uncachedHeaders(TYPE)
const UNAUTHORIZED_HEADERS = uncachedHeaders({ ...TYPE, 'www-authenticate': 'ApiKey' })

/** The JSON of a problem. */
export const problemBody = ({ code, status, title, detail, errors }: Problem) => ({
  type: `urn:stint:problem:${code}`,
  title,
  status,
  code,
  detail,
  ...(errors && { errors }),
})

export function problemResponse(problem: Problem): Response {
  const { status, retryAfterS, allow } = problem
  const headers = status === 401 ? UNAUTHORIZED_HEADERS : HEADERS
  const response = new Response(JSON.stringify(problemBody(problem)), { status, headers })
  if (retryAfterS !== undefined) response.headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterS))))
  if (allow !== undefined) response.headers.set('allow', allow)
  return response
}
