// `/`: the console's page and its files. They hold no account's data: the page asks /api for it, with the session.
import { Elysia } from 'elysia'
import type { Console, ConsoleFile } from '../../console/bundle-console.ts'
import type { Logger } from '../../log.ts'
import { Problem } from '../../problem.ts'
import { answerHeaders, pageHeaders, tagHeaders } from '../answers.ts'
import { type AnswerText, acceptedCoding, createTextAnswers } from '../compressed.ts'

export interface ConsoleRoutesDeps {
  readonly console: Console
  /** The content policy of the page. */
  readonly consolePolicy: string
  readonly log: Logger
}

const HIDDEN = { detail: { hide: true } }
const ASSET = answerHeaders({ 'cache-control': 'public, max-age=31536000, immutable' })

export function consoleRoutes({ console: { page, asset }, consolePolicy, log }: ConsoleRoutesDeps) {
  /** The rest of Stint works without its console. */
  const had = <T>(file: Promise<T>): Promise<T> =>
    file.catch((err) => {
      log.error({ err }, 'the console cannot be bundled')
      throw new Problem('internal', 'The console could not be made ready; the log says why. The API is not affected.')
    })

  const answerText = createTextAnswers()
  const pageOf = pageHeaders(consolePolicy, { 'cache-control': 'no-cache' })
  return new Elysia({ normalize: false })
    .get('/', async ({ request }) => answer(request, await had(page()), pageOf, answerText), HIDDEN)
    .get(
      '/console/:name',
      async ({ request, params }) => {
        const file = await had(asset(params.name))
        if (file === undefined) throw new Problem('not_found', 'The console has no such file.')
        return answer(request, file, ASSET, answerText)
      },
      HIDDEN,
    )
}

async function answer(
  request: Request,
  { body, type, hash }: ConsoleFile,
  common: Headers,
  answerText: AnswerText,
): Promise<Response> {
  const coding = typeof body === 'string' ? (acceptedCoding(request) ?? '') : ''
  const { headers, isKnown } = tagHeaders(request, `${hash}${coding}`, common)
  if (isKnown) return new Response(null, { status: 304, headers })
  headers.set('content-type', type)
  return typeof body === 'string' ? answerText(request, hash, body, headers) : new Response(body, { headers })
}
