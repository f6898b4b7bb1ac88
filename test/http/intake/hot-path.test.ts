// Elysia writes the code around a handler from the handler's own source text: a context that is handed on whole has it parse cookies, query
// and every header of each request, a parser of one's own has it make a stream of the body. That doubled what a request costs, and shows
// in no answer; so it is looked for in the code itself.
import { expect, test } from 'bun:test'
import { batchRoute } from '../../../src/http/intake/batch-route.ts'
import { createBodyBudget } from '../../../src/http/intake/body-budget.ts'
import { v1Routes } from '../../../src/http/intake/v1-routes.ts'
import { createHttp } from '../../../src/service/create-http.ts'
import { startApp } from '../../support/app.ts'

const EXPENSIVE = /parseCookie|parseQueryFromURL|c\.headers|c\.request\.body/
const noDeps = {} as Parameters<typeof v1Routes>[0]

interface Compilable {
  readonly path: string
  compile(): () => unknown
}

const codeOf = (routes: unknown): [path: string, code: string][] =>
  (routes as { router: { history: Compilable[] } }).router.history.map((route) => [
    route.path,
    route.compile().toString(),
  ])

test.each([
  ...codeOf(v1Routes(noDeps)),
  ...codeOf(batchRoute({ bodies: createBodyBudget() } as Parameters<typeof batchRoute>[0])),
])('Elysia reads no more of %s than the body', (_, code) => {
  expect(code).toContain('handler(c)')
  expect(code).not.toMatch(EXPENSIVE)
})

test('Elysia treats the gate as synchronous, uses its answer, and reads no body', async () => {
  await using app = await startApp()
  const http = createHttp(app.rooms, { peerOf: () => undefined, isStopping: () => false })
  http.compile()
  const hooks = (http as unknown as { event: { request: { fn: object; isAsync?: boolean; hasReturn?: boolean }[] } })
    .event.request
  expect(hooks.map(({ isAsync, hasReturn }) => ({ isAsync, hasReturn }))).toEqual([{ isAsync: false, hasReturn: true }])
  for (const [path, code] of codeOf(http)) if (path.startsWith('/v1/')) expect(code).not.toMatch(EXPENSIVE)
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
