// /swagger: the page, its files, and the document they show. Needs no key and no internet.
import { swagger } from '@elysiajs/swagger'
import { type AnyElysia, Elysia, NotFoundError } from 'elysia'
import { ProblemBody } from '../../wire/problem.ts'
import { TAGS } from '../../wire/route.ts'
import { SESSION_COOKIE } from '../accounts/session-cookie.ts'
import { answerHeaders, pageHeaders } from '../answers.ts'
import { createTextAnswers } from '../compressed.ts'
import { type OpenApiDocument, restoreBodies } from './describe-route.ts'
import { SWAGGER_PAGE, SWAGGER_POLICY, SWAGGER_SCRIPT } from './swagger-page.ts'
import { toOpenApi } from './to-open-api.ts'

export interface SwaggerDeps {
  /** The routes to describe. */
  readonly described: AnyElysia
  readonly keyHeader: string
}

const API_VERSION = '1.0.0'

const readAsset = (name: string) => Bun.file(new URL(import.meta.resolve(`swagger-ui-dist/${name}`))).text()

const HIDDEN = { detail: { hide: true } }
const CACHED = { 'cache-control': 'public, max-age=3600' }
const PAGE = pageHeaders(SWAGGER_POLICY, { 'content-type': 'text/html; charset=utf-8' })
const DOCUMENT = answerHeaders({ 'content-type': 'application/json' })
const SCRIPT = answerHeaders({ ...CACHED, 'content-type': 'text/javascript; charset=utf-8' })
const STYLE = answerHeaders({ ...CACHED, 'content-type': 'text/css; charset=utf-8' })
const MOVED = { status: 308, headers: answerHeaders({ location: '../swagger' }) }

export function swaggerRoutes({ described, keyHeader }: SwaggerDeps) {
  // The plugin's own page loads scripts from a CDN. Mounted on an app that never listens, only its document gets out.
  const plugin = new Elysia({ normalize: false }).use(described).use(
    swagger({
      path: '/swagger/plugin',
      specPath: '/swagger/json',
      excludeStaticFile: false,
      documentation: {
        info: {
          title: 'Stint',
          version: API_VERSION,
          description: "Times any part of anyone's code: marks, metrics and exceptions over four HTTP calls.",
        },
        servers: [{ url: '/' }],
        tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
        components: {
          schemas: { Problem: toOpenApi(ProblemBody) },
          securitySchemes: {
            apiKey: { type: 'apiKey', in: 'header', name: keyHeader, description: 'Received on making an account.' },
            session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Set by signing in.' },
          },
        },
      },
    }),
  )
  const answerText = createTextAnswers()
  const answer = (request: Request, key: string, text: string, headers: Headers) =>
    answerText(request, key, text, new Headers(headers))
  let document: Promise<string> | undefined
  const describe = async () => {
    const answer = await plugin.handle(new Request('http://localhost/swagger/json'))
    return JSON.stringify(restoreBodies((await answer.json()) as OpenApiDocument))
  }

  return (
    new Elysia({ normalize: false })
      .get('/swagger', ({ request }) => answer(request, 'page', SWAGGER_PAGE, PAGE), HIDDEN)
      // Of a route `/swagger/` Elysia's adapter for Bun would drop the slash. The page's addresses only hold without it.
      .get(
        '/swagger/*',
        ({ params }) => {
          if (params['*'] !== '') throw new NotFoundError()
          return new Response(null, MOVED)
        },
        HIDDEN,
      )
      .get(
        '/swagger/json',
        async ({ request }) => {
          document ??= describe()
          return answer(request, 'document', await document, DOCUMENT)
        },
        HIDDEN,
      )
      .get('/swagger/assets/page.js', ({ request }) => answer(request, 'script', SWAGGER_SCRIPT, SCRIPT), HIDDEN)
      .get(
        '/swagger/assets/swagger-ui-bundle.js',
        async ({ request }) => answer(request, 'swagger-ui-bundle.js', await readAsset('swagger-ui-bundle.js'), SCRIPT),
        HIDDEN,
      )
      .get(
        '/swagger/assets/swagger-ui.css',
        async ({ request }) => answer(request, 'swagger-ui.css', await readAsset('swagger-ui.css'), STYLE),
        HIDDEN,
      )
  )
}
