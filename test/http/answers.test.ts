import { expect, test } from 'bun:test'
import { problemResponse } from '../../src/http/answers.ts'
import { Problem, type ProblemCode, problemTable } from '../../src/problem.ts'

test.each(Object.keys(problemTable) as ProblemCode[])(
  '%s has the members of RFC 9457 and nothing else',
  async (code) => {
    const cause = new Error('a driver said hunter2')
    const response = problemResponse(new Problem(code, 'What happened.', { cause }))
    expect(response.status).toBe(problemTable[code].status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toEqual({
      type: `urn:stint:problem:${code}`,
      title: problemTable[code].title,
      status: problemTable[code].status,
      code,
      detail: 'What happened.',
    })
  },
)

test('has errors, allow and retry-after if known', async () => {
  const errors = [{ pointer: '/a', detail: 'is required' }]
  const response = problemResponse(new Problem('fields_invalid', 'd', { errors, allow: 'POST' }))
  expect(await response.json()).toMatchObject({ errors })
  expect(response.headers.get('allow')).toBe('POST')
  expect(response.headers.has('retry-after')).toBe(false)
})

test.each([
  [0.01, '1'],
  [1, '1'],
  [1.2, '2'],
  [90, '90'],
])('rounds retry-after up: %p → %s', (retryAfterS, header) => {
  expect(problemResponse(new Problem('rate_limited', 'd', { retryAfterS })).headers.get('retry-after')).toBe(header)
})

test('every 401 has www-authenticate', () => {
  for (const code of ['key_invalid', 'session_invalid', 'credentials_invalid'] as const)
    expect(problemResponse(new Problem(code, 'd')).headers.get('www-authenticate')).not.toBeNull()
})
