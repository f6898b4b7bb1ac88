// A Problem as the answer to a request: application/problem+json of RFC 9457.
import type { Problem } from '../problem.ts'

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
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' }
  if (retryAfterS !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterS)))
  if (allow !== undefined) headers.allow = allow
  if (status === 401) headers['www-authenticate'] = 'ApiKey'
  return new Response(JSON.stringify(problemBody(problem)), { status, headers })
}
