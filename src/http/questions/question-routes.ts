// GET /api/…: what callers ask about their own events. The key or session is judged before the question is read.
import { Elysia } from 'elysia'
import type { Reader } from '../../query/desk.ts'
import type { KeptAnswers } from '../../query/kept-answers.ts'
import { QUESTION_ROUTES, type QuestionKind } from '../../query/question.ts'
import type { Questions } from '../../query/questions.ts'
import type { Route } from '../../wire/route.ts'
import { uncachedHeaders } from '../answers.ts'
import type { Authorize } from '../authorize.ts'
import { answerEncoded, answerPieces, encodeFor } from '../compressed.ts'
import { describeRoute } from '../docs/describe-route.ts'
import type { AnswerTags } from './answer-tags.ts'

export interface QuestionRoutesDeps {
  readonly authorize: Authorize
  readonly questions: Questions
  readonly kept?: KeptAnswers
  readonly tags?: AnswerTags
}

type Kind = keyof Questions & QuestionKind

const isRoute = (kind: string): kind is Kind => kind in QUESTION_ROUTES
const hasTag = (route: Route): boolean => route.hasTag === true

const MAX_AGE_MS = 2_000
/** Several Prometheus servers that scrape the same share an answer. */
const SCRAPED_MS = 5_000

/** The age of an answer that the request accepts. */
const maxAgeOf = (request: Request): number => {
  const [, given] = /\bmax-age=(\d{1,4})\b/.exec(request.headers.get('cache-control') ?? '') ?? []
  return Math.min(MAX_AGE_MS, 1000 * Number(given ?? 0))
}

/** Two requests with the same words get the same answer. */
export const wordsOf = ({ url, headers }: Request): string => `${url} ${headers.get('accept-encoding')}`

export function questionRoutes({ authorize, questions, kept, tags }: QuestionRoutesDeps) {
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
        const make = async (reader: Reader) => {
          const state = tags?.stateOf(account, url) // before the answer, which may know more
          const answer = await questions[kind](account, search, reader)
          if ('file' in answer) return { answer, state, size: 0 }
          const made = await encodeFor(request, 'text' in answer ? answer.text : answer)
          return { ...made, state, size: made.bytes.length }
        }
        type Made = Awaited<ReturnType<typeof make>>
        try {
          let made: Made
          if (kept === undefined || kind === 'export') made = await make({ left: request.signal, sent })
          else {
            const isCurrent = ({ state }: Made) => state !== undefined && state === tags?.stateOf(account, url)
            const maxAgeMs = kind === 'prometheus' ? SCRAPED_MS : maxAgeOf(request)
            const wanted = { account, words: wordsOf(request), maxAgeMs, left: request.signal, isCurrent }
            const found = await kept.share(wanted, make)
            made = found.answer
            noteSent = found.noteSent
          }
          if ('answer' in made) return await answerFile(request, made.answer, noteSent)
          const response = answerEncoded(request, made, noteSent)
          if (made.state !== undefined && ownTags !== undefined)
            response.headers.set('etag', ownTags.tagOf(asker, made.state))
          return response
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

const FILE_TYPES = { csv: 'text/csv; charset=utf-8; header=present', jsonl: 'application/x-ndjson' } as const

/** An export. A failure before the first piece is a problem, a later one breaks the connection. */
async function answerFile(
  request: Request,
  { format, file }: Awaited<ReturnType<Questions['export']>>,
  noteSent: () => void,
): Promise<Response> {
  const headers = uncachedHeaders({
    'content-type': FILE_TYPES[format],
    'content-disposition': `attachment; filename="exceptions.${format}"`,
  })
  const first = await file.next()
  const second = await (first.done ? first : file.next())
  if (!second.done && !request.signal.aborted)
    return answerPieces(request, toBytes([first.value, second.value], file), { headers }, noteSent)
  noteSent()
  return new Response(first.value ?? '', { headers })
}

async function* toBytes(begun: readonly string[], file: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  for (const piece of begun) yield Buffer.from(piece)
  for await (const piece of file) yield Buffer.from(piece)
}
