// /swagger: the page, its files, and the document they show. Needs no key and no internet.

import { swagger } from '@elysiajs/swagger'
import { type AnyElysia, Elysia, NotFoundError } from 'elysia'
import { readVersion } from '../../version.ts'
import { ProblemBody } from '../../wire/problem.ts'
import { TAGS } from '../../wire/route.ts'
import { SESSION_COOKIE } from '../accounts/session-cookie.ts'
import { answerHeaders, pageHeaders } from '../answers.ts'
import { createTextAnswers } from '../compressed.ts'
import { type OpenApiDocument, restoreBodies, toOpenApi } from './describe-route.ts'

const SESSION_NAMES = `\`__Host-${SESSION_COOKIE}\` by TLS, otherwise \`${SESSION_COOKIE}_\` and the port`
const SESSION_ABOUT = `Set by signing in. Its name is ${SESSION_NAMES}.`

interface SwaggerDeps {
  readonly described: AnyElysia
  readonly keyHeader: string
}

// The page of /swagger: Swagger UI from this machine's own files. The policy forbids loading from or sending to other
// sites: people paste their keys here.
/** Addresses are relative, so that the page also works behind a proxy that adds a path. */
const SWAGGER_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stint API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="swagger/assets/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="swagger/assets/swagger-ui-bundle.js"></script>
<script src="swagger/assets/page.js"></script>
</body>
</html>
`

/**
 * A file of its own, because the policy allows no script inside the page. A key stays in the page's memory; one that
 * 2.0 left in localStorage is removed. For /api the session's cookie is enough.
 */
const SWAGGER_SCRIPT = `try {
  localStorage.removeItem('authorized')
} catch {}
SwaggerUIBundle({
  url: 'swagger/json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
})
`

const SWAGGER_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** In the package of the server they are beside this file: their own brings one that runs a script when installed. */
async function readAsset(name: string): Promise<string> {
  const packed = Bun.file(new URL(`swagger-ui/${name}`, import.meta.url))
  return (await packed.exists())
    ? packed.text()
    : Bun.file(new URL(import.meta.resolve(`swagger-ui-dist/${name}`))).text()
}

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
          version: readVersion().version,
          description: "Times any part of anyone's code: marks, metrics and exceptions over four HTTP calls.",
        },
        servers: [{ url: '/' }],
        tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
        components: {
          schemas: { Problem: toOpenApi(ProblemBody) },
          securitySchemes: {
            apiKey: { type: 'apiKey', in: 'header', name: keyHeader, description: 'Received on making an account.' },
            bearer: { type: 'http', scheme: 'bearer', description: 'The same key, under /api only.' },
            session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: SESSION_ABOUT },
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

  const routes = new Elysia({ normalize: false })
  for (const [name, headers] of [
    ['swagger-ui-bundle.js', SCRIPT],
    ['swagger-ui.css', STYLE],
  ] as const)
    routes.get(
      `/swagger/assets/${name}`,
      async ({ request }) => answer(request, name, await readAsset(name), headers),
      HIDDEN,
    )
  return (
    routes
      .get('/swagger', ({ request }) => answer(request, 'page', SWAGGER_PAGE, PAGE), HIDDEN)
      // Elysia's adapter for Bun would drop the slash of a route `/swagger/`, which the page's relative URLs need.
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
  )
}
