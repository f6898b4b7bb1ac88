// Answers as /swagger/json describes them: JSON with a schema and an example, and the refusals of the closed table by their status.
import type { DocumentDecoration } from 'elysia'
import { Problem, type ProblemCode, problemTable } from '../../problem.ts'
import { problemBody } from '../problem-response.ts'

export interface Answer {
  description: string
  headers?: Record<string, { description: string; schema: Schema }>
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

export const textAnswer = (description: string, example: string): Answer => ({
  description,
  content: { 'text/plain': { schema: text, example } },
})

const FAULT: Schema = { type: 'object', properties: { pointer: text, detail: text }, required: ['pointer', 'detail'] }

/** Stands in the document once, under components; every refusal refers to it. */
export const PROBLEM_SCHEMA: Schema = {
  type: 'object',
  description: 'A refusal (RFC 9457). `code` is permanent; `errors` names every fault with a JSON pointer.',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: text,
    status: { type: 'integer' },
    code: { type: 'string', enum: Object.keys(problemTable) },
    detail: text,
    errors: { type: 'array', items: FAULT },
  },
  required: ['type', 'title', 'status', 'code', 'detail'],
}
const PROBLEM_REF = { $ref: '#/components/schemas/Problem' } as Schema

const RETRY_AFTER = {
  'retry-after': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } as Schema },
}
const HEADERS: Readonly<Record<number, Answer['headers']>> = {
  401: { 'www-authenticate': { description: 'How to authenticate', schema: text } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
}

/** One answer a status, with an example a code: the title of the code, or the problem that is handed in instead. */
export function problemAnswers(...refusals: (ProblemCode | Problem)[]): Record<number, Answer> {
  const problems = refusals.map((refusal) =>
    refusal instanceof Problem ? refusal : new Problem(refusal, `${problemTable[refusal].title}.`),
  )
  return Object.fromEntries(
    [...Map.groupBy(problems, ({ status }) => status as number)].map(([status, same]): [number, Answer] => {
      const headers = HEADERS[status]
      const examples = Object.fromEntries(same.map((problem) => [problem.code, { value: problemBody(problem) }]))
      return [
        status,
        {
          description: [...new Set(same.map(({ title }) => title))].join(' · '),
          ...(headers && { headers }),
          content: { 'application/problem+json': { schema: PROBLEM_REF, examples } },
        },
      ]
    }),
  )
}
