// GET /api/…: what callers ask about their own events. The key or session is judged before the question is read.
import { Elysia } from 'elysia'
import type { Reader } from '../../query/limit-questions.ts'
import { QUESTION_ROUTES, type QuestionKind } from '../../query/question.ts'
import type { Questions } from '../../query/questions.ts'
import type { Route } from '../../wire/route.ts'
import { METRICS_TEXT } from '../answers.ts'
import type { Authorize } from '../authorize.ts'
import { answerBytes, answerJson, compressedJson, encodeFor } from '../compressed.ts'
import { describeRoute } from '../docs/describe-route.ts'
import type { AnswerTags } from './answer-tags.ts'
import { fileAnswer } from './file-answer.ts'
import type { SharedAnswers } from './shared-answers.ts'

export interface QuestionRoutesDeps {
  readonly authorize: Authorize
  readonly questions: Questions
  readonly shared?: SharedAnswers
  readonly tags?: AnswerTags
}

type Kind = keyof Questions & QuestionKind

const isRoute = (kind: string): kind is Kind => kind in QUESTION_ROUTES
const isShared = (kind: Kind): kind is Exclude<Kind, 'prometheus' | 'export'> =>
  kind !== 'prometheus' && kind !== 'export'

const hasTag = (route: Route): boolean => route.hasTag === true

export function questionRoutes({ authorize, questions, shared, tags }: QuestionRoutesDeps) {
  const routes = new Elysia({ normalize: false })
  for (const kind of Object.keys(questions).filter(isRoute)) {
    routes.get(
      QUESTION_ROUTES[kind].path,
      async ({ request }) => {
        const asker = await authorize(request, QUESTION_ROUTES[kind])
        const { account } = asker
        const ownTags = hasTag(QUESTION_ROUTES[kind]) ? tags : undefined
        const known = ownTags?.answerKnown(request, asker)
        if (known !== undefined) return known
        const url = new URL(request.url)
        const search = url.searchParams
        const { promise: sent, resolve } = Promise.withResolvers<void>()
        let noteSent: () => void = resolve
        try {
          if (shared !== undefined && isShared(kind)) {
            const make = async (reader: Reader) => {
              const state = tags?.stateOf(account, url) // before the answer, which may know more
              return { state, ...(await encodeFor(request, await questions[kind](account, search, reader))) }
            }
            const found = await shared(
              request,
              account,
              make,
              ({ state }) => state !== undefined && state === tags?.stateOf(account, url),
            )
            const { answer } = found
            noteSent = found.noteSent
            const response = answerJson(request, answer, noteSent)
            if (answer.state !== undefined && ownTags !== undefined)
              response.headers.set('etag', ownTags.tagOf(asker, answer.state))
            return response
          }
          const reader = { left: request.signal, sent }
          const answer = await questions[kind](account, search, reader)
          if ('file' in answer) return await fileAnswer(request, answer, noteSent)
          if ('text' in answer) return answerBytes(request, Buffer.from(answer.text), METRICS_TEXT, noteSent)
          return await compressedJson(request, answer, noteSent)
        } catch (error) {
          noteSent()
          if (request.signal.aborted) return new Response(null, { status: 499 }) // nobody reads it
          throw error
        }
      },
      describeRoute(QUESTION_ROUTES[kind]),
    )
  }
  return routes
}
