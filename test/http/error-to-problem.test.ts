import { expect, test } from 'bun:test'
import { NotFoundError, ParseError } from 'elysia'
import { errorToProblem } from '../../src/http/error-to-problem.ts'
import { Problem } from '../../src/problem.ts'

const toProblem = (error: unknown) => errorToProblem(error)

test('passes on a problem, also when Elysia wrapped it while parsing', () => {
  const problem = new Problem('rate_limited', 'Too fast.')
  expect(toProblem(problem)).toBe(problem)
  expect(toProblem(new ParseError(problem))).toBe(problem)
})

test("maps Elysia's errors by class", () => {
  expect(toProblem(new NotFoundError())?.code).toBe('not_found')
  expect(toProblem(new ParseError(new SyntaxError('JSON Parse error')))?.code).toBe('json_malformed')
})

test.each(['NOT_FOUND', 'VALIDATION', 'PARSE', 'UNKNOWN', '60'])('ignores the code %s of any other error', (code) => {
  expect(toProblem(Object.assign(new Error('inside'), { code, status: 404, all: [] }))).toBeUndefined()
})

test.each([null, undefined, 'text', 5, {}])('treats %p as an internal error', (thrown) => {
  expect(toProblem(thrown)).toBeUndefined()
})
