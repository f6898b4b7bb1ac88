// What /swagger/json says of the questions. Their parameters come from the table that reads them, so that neither can drift from the other.
import type { DocumentDecoration } from 'elysia'
import { Problem, type ProblemCode } from '../../problem.ts'
import { PARAMETERS } from '../../query/parameters.ts'
import { QUESTIONS, type QuestionKind } from '../../query/question.ts'
import { ANSWERS } from '../questions/question-answers.ts'
import { jsonAnswer, problemAnswers, type Schema } from './describe-answers.ts'

const REFUSED = ['key_invalid', 'scope_missing', 'rate_limited', 'internal'] as const
const INVALID = new Problem('question_invalid', 'The parameters of the question are incorrect.', {
  errors: [{ pointer: '/from', detail: 'must be an RFC 3339 time or a time ago such as -90m' }],
})
const TOO_LARGE = new Problem(
  'question_too_large',
  'The question would read 3,120,000 marks; at most 2,000,000 are possible. Ask for a shorter range or for one process.',
)

const STORE_REFUSES = [TOO_LARGE, 'store_unavailable'] as const
const ASKS_NO_STORE: readonly QuestionKind[] = ['series', 'dead']

const COMMON = { tags: ['questions'], security: [{ apiKey: [] }, { session: [] }] }

export function describeQuestion(kind: QuestionKind): DocumentDecoration {
  const { summary, description, schema, example } = ANSWERS[kind]
  return {
    ...COMMON,
    summary,
    description,
    parameters: QUESTIONS[kind].parameters.map((name) => {
      const { description, schema } = PARAMETERS[name]
      return { name, in: 'query', required: false, description, schema: schema as Schema }
    }),
    responses: {
      200: jsonAnswer('The answer', schema, example),
      ...problemAnswers(...REFUSED, INVALID, ...(ASKS_NO_STORE.includes(kind) ? [] : STORE_REFUSES)),
    },
  }
}

export const describeDeadLetterAction = (
  summary: string,
  done: string,
  ...refusals: readonly ProblemCode[]
): DocumentDecoration => ({
  ...COMMON,
  summary,
  responses: { 204: { description: done }, ...problemAnswers(...REFUSED, 'not_found', ...refusals) },
})
