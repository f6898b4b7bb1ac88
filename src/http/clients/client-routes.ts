// `/clients`: the clients of this version and a page that says how to install them. They hold no secret, so that a new
// machine gets them without a key.
import { Elysia } from 'elysia'
import type { Logger } from '../../log.ts'
import { Problem } from '../../problem.ts'
import type { Snippets } from '../../wire/snippets.ts'
import { answerHeaders, jsonAnswer, pageHeaders, tagHeaders } from '../answers.ts'
import { acceptedCoding, createTextAnswers } from '../compressed.ts'
import { writeClientsPage } from './clients-page.ts'
import { writeFirstSteps } from './first-steps.ts'
import { readRecipes } from './recipes.ts'
import { createServedFiles, FORMER_NAMES, SERVED_NAMES, type ServedFile, type ServedName } from './served-files.ts'

export interface ClientRoutesDeps {
  readonly keyHeader: string
  /** The address that lines to paste name; undefined if none is known for sure. */
  ownAddress(request: Request): string | undefined
  readonly log: Logger
}

const HIDDEN = { detail: { hide: true } }
/** A download is seldom repeated, and an upgrade of Stint must show at once. */
const CACHED = { 'cache-control': 'public, no-cache' }
const TYPES: { readonly [N in ServedName]: string } = {
  'stint.sh': 'text/plain; charset=utf-8',
  'stint.py': 'text/plain; charset=utf-8',
  'stint.mjs': 'text/javascript; charset=utf-8',
  'stint.d.mts': 'text/plain; charset=utf-8',
}
const PAGE = pageHeaders(
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  { ...CACHED, 'content-type': 'text/html; charset=utf-8' },
)

export function clientRoutes({ keyHeader, ownAddress, log }: ClientRoutesDeps) {
  const files = createServedFiles()
  const answerText = createTextAnswers()
  const fileOf = (name: ServedName): Promise<ServedFile> =>
    files(name).catch((err) => {
      log.error({ err, name }, 'a client cannot be bundled')
      throw new Problem('internal', 'The client could not be made ready; the log says why.')
    })

  const routes = new Elysia({ normalize: false })
  const paths = [...SERVED_NAMES.map((name) => [name, name] as const), ...Object.entries(FORMER_NAMES)]
  for (const [path, name] of paths) {
    const headers = answerHeaders({ ...CACHED, 'content-type': TYPES[name] })
    routes.get(
      `/clients/${path}`,
      async ({ request }) => {
        const { text, sha256 } = await fileOf(name)
        return answer(request, text, sha256, headers)
      },
      HIDDEN,
    )
  }
  const first = writeFirstSteps(keyHeader)
  routes.get(
    '/clients/recipes',
    async () => {
      const recipes = await readRecipes()
      const schedulers = recipes.filter(({ name }) => !first.some((known) => known.name === name))
      return jsonAnswer({ first, schedulers } satisfies Snippets)
    },
    HIDDEN,
  )
  return routes.get(
    '/clients',
    async ({ request }) => {
      const served = await Promise.all(SERVED_NAMES.map(async (name) => [name, await fileOf(name)] as const))
      const text = writeClientsPage(ownAddress(request), Object.fromEntries(served) as Record<ServedName, ServedFile>)
      return answer(request, text, new Bun.CryptoHasher('sha256').update(text).digest('hex'), PAGE)
    },
    HIDDEN,
  )

  function answer(request: Request, text: string, sha256: string, common: Headers): Response | Promise<Response> {
    const { headers, isKnown } = tagHeaders(request, `${sha256.slice(0, 16)}${acceptedCoding(request) ?? ''}`, common)
    if (isKnown) return new Response(null, { status: 304, headers })
    return answerText(request, sha256, text, headers)
  }
}
