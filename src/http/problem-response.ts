// A Problem as the answer to a request: application/problem+json of RFC 9457.
import type { Problem } from '../problem.ts'

export function problemResponse(problem: Problem): Response {
  const { code, status, title, detail, errors, retryAfterS, allow } = problem
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' }
  if (retryAfterS !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterS)))
  if (allow !== undefined) headers.allow = allow
  if (status === 401) headers['www-authenticate'] = 'ApiKey'
  const body = { type: `urn:stint:problem:${code}`, title, status, code, detail, ...(errors && { errors }) }
  return new Response(JSON.stringify(body), { status, headers })
}
