import { expect, test } from 'bun:test'
import { NotFoundError, ParseError } from 'elysia'
import { errorToProblem } from '../../src/http/error-to-problem.ts'
import { Problem } from '../../src/problem.ts'

const toProblem = (error: unknown) => errorToProblem(error, () => undefined)

test('a problem is itself, also when Elysia wrapped it while parsing', () => {
  const problem = new Problem('rate_limited', 'Too fast.')
  expect(toProblem(problem)).toBe(problem)
  expect(toProblem(new ParseError(problem))).toBe(problem)
})

test('errors that Elysia throws on purpose are mapped by class', () => {
  expect(toProblem(new NotFoundError())?.code).toBe('not_found')
  expect(toProblem(new ParseError(new SyntaxError('JSON Parse error')))?.code).toBe('json_malformed')
})

test.each(['NOT_FOUND', 'VALIDATION', 'PARSE', 'UNKNOWN', '60'])(
  'a code %s of any other error is not believed',
  (code) => {
    expect(toProblem(Object.assign(new Error('inside'), { code, status: 404, all: [] }))).toBeUndefined()
  },
)

test.each([null, undefined, 'text', 5, {}])('%p is nobody’s on purpose', (thrown) => {
  expect(toProblem(thrown)).toBeUndefined()
})
