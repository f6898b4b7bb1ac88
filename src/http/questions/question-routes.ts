// GET /api/…: what callers ask about their own events. The key or session is judged before the question is read.
import { Elysia } from 'elysia'
import type { QuestionKind } from '../../query/question.ts'
import type { Questions } from '../../query/questions.ts'
import { describeQuestion } from '../docs/describe-question.ts'
import { jsonAnswer } from '../json-answer.ts'

export interface QuestionRoutesDeps {
  /** The account a request may read, by key or session. Throws Problem `key_invalid` or `scope_missing`. */
  accountOf(request: Request): string
  readonly questions: Questions
}

const ROUTES = {
  '/api/timings': 'timings',
  '/api/timings/latest': 'latest',
  '/api/timings/summary': 'summary',
  '/api/metrics': 'metrics',
  '/api/exceptions': 'exceptions',
  '/api/exceptions/groups': 'groups',
  '/api/processes': 'processes',
  '/api/series': 'series',
} as const satisfies Record<string, QuestionKind>

export function questionRoutes({ accountOf, questions }: QuestionRoutesDeps) {
  const routes = new Elysia({ normalize: false })
  for (const [path, kind] of Object.entries(ROUTES)) {
    routes.get(
      path,
      async ({ request }) => {
        const account = accountOf(request)
        try {
          return jsonAnswer(await questions[kind](account, new URL(request.url).searchParams, request.signal))
        } catch (error) {
          if (request.signal.aborted) return new Response(null, { status: 499 }) // nobody reads it, and the store is not to blame
          throw error
        }
      },
      { detail: describeQuestion(kind) },
    )
  }
  return routes
}
