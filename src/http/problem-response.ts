// A Problem as the answer to a request: application/problem+json of RFC 9457.
import type { Problem } from '../problem.ts'
import { uncachedHeaders } from './answer-headers.ts'

const HEADERS = uncachedHeaders({ 'content-type': 'application/problem+json' })

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
  const response = new Response(JSON.stringify(problemBody(problem)), { status, headers: HEADERS })
  if (retryAfterS !== undefined) response.headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterS))))
  if (allow !== undefined) response.headers.set('allow', allow)
  if (status === 401) response.headers.set('www-authenticate', 'ApiKey')
  return response
}
