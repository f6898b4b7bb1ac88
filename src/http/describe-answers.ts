// Answers as /swagger/json describes them: JSON with a schema and an example, and the refusals of the closed table by their status.
import type { DocumentDecoration } from 'elysia'
import { Problem, type ProblemCode, problemTable } from '../problem.ts'
import { problemBody } from './problem-response.ts'

export interface Answer {
  description: string
  content?: Record<string, { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>
}

type Parameter = Extract<NonNullable<DocumentDecoration['parameters']>[number], { name: string }>
/** The JSON Schema of OpenAPI 3.0. */
export type Schema = Exclude<NonNullable<Parameter['schema']>, { $ref: string }>

export const jsonAnswer = (description: string, schema: object, example: unknown): Answer => ({
  description,
  content: { 'application/json': { schema, example } },
})

const text: Schema = { type: 'string' }
const FAULT: Schema = { type: 'object', properties: { pointer: text, detail: text }, required: ['pointer', 'detail'] }
const PROBLEM: Schema = {
  type: 'object',
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    code: text,
    detail: text,
    errors: { type: 'array', items: FAULT },
  },
  required: ['type', 'title', 'status', 'code', 'detail'],
}

/** One answer a status, with an example a code: the title of the code, or the problem that is handed in instead. */
export function problemAnswers(...refusals: (ProblemCode | Problem)[]): Record<number, Answer> {
  const problems = refusals.map((refusal) =>
    refusal instanceof Problem ? refusal : new Problem(refusal, `${problemTable[refusal].title}.`),
  )
  return Object.fromEntries(
    [...Map.groupBy(problems, ({ status }) => status)].map(([status, same]) => [
      status,
      {
        description: [...new Set(same.map(({ title }) => title))].join(' · '),
        content: {
          'application/problem+json': {
            schema: PROBLEM,
            examples: Object.fromEntries(same.map((problem) => [problem.code, { value: problemBody(problem) }])),
          },
        },
      },
    ]),
  )
}
