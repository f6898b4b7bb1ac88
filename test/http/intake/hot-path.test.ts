// Elysia writes the code around a handler from the handler's own source text: a context that is handed on whole has it parse cookies, query
// and every header of each request, a parser of one's own has it make a stream of the body. That doubled what a request costs, and shows
// in no answer; so it is looked for in the code itself.
import { expect, test } from 'bun:test'
import { batchRoute } from '../../../src/http/intake/batch-route.ts'
import { v1Routes } from '../../../src/http/intake/v1-routes.ts'
import { createHttp } from '../../../src/service/create-http.ts'
import { startApp } from '../../support/app.ts'

const EXPENSIVE = /parseCookie|parseQueryFromURL|c\.headers|c\.request\.body|c\.body=|\.Check\(/
const noDeps = {} as Parameters<typeof v1Routes>[0] & Parameters<typeof batchRoute>[0]

interface Compilable {
  readonly path: string
  compile(): () => unknown
}

const codeOf = (routes: unknown): [path: string, code: string][] =>
  (routes as { router: { history: Compilable[] } }).router.history.map((route) => [
    route.path,
    route.compile().toString(),
  ])

test.each([...codeOf(v1Routes(noDeps)), ...codeOf(batchRoute(noDeps))])(
  'Elysia reads nothing of a request to %s and waits for its answer',
  (_, code) => {
    expect(code).toContain('await handler(c)')
    expect(code).not.toMatch(EXPENSIVE)
  },
)

// With one, Elysia makes the URL of each request, which nothing here needs.
test('no hook runs before the routes', async () => {
  await using app = await startApp()
  const http = createHttp(app.rooms, { peerOf: () => undefined, isStopping: () => false })
  expect((http as unknown as { event: { request?: unknown[] } }).event.request ?? []).toEqual([])
})

test('Elysia passes on the answer to a refused body without copying it', async () => {
  const app = await startApp()
  const http = createHttp(app.rooms, { peerOf: () => undefined, isStopping: () => false })
  const { Response: Real } = globalThis
  let made = 0
  globalThis.Response = class extends Real {
    constructor(...args: ConstructorParameters<typeof Real>) {
      super(...args)
      made++
    }
  } as typeof Real
  try {
    for (const body of ['{"process":""}', '{"process":']) {
      made = 0
      const headers = { 'x-stint-api-key': app.keys.owner, 'content-type': 'application/json' }
      const answer = await http.handle(new Request(`${app.url}/v1/start`, { method: 'POST', headers, body }))
      expect([answer.status, made]).toEqual([422, 1])
    }
  } finally {
    globalThis.Response = Real
    await app.stop()
  }
})
