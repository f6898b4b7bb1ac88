// How the console is served: its policy, what a cache may keep, what another site may not, and that its failure is only its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import pino from 'pino'
import { CONSOLE_POLICY, createConsole } from '../../src/console/bundle-console.ts'
import { problemResponse } from '../../src/http/answers.ts'
import { errorToProblem } from '../../src/http/error-to-problem.ts'
import { type ConsoleRoutesDeps, consoleRoutes } from '../../src/http/operations/console-routes.ts'
import { CHANNEL_KINDS, channelKind } from '../../src/wire/channel-kinds.ts'
import { openFresh } from '../account/accounts-cast.ts'
import { mountPeopleRoutes } from '../http/accounts/serve-accounts.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { PASSWORD } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { LIGHT, visit } from './console-visit.ts'

describe('the console', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await startApp({ serviceName: 'acme' })
  })
  afterAll(() => app.stop())

  const assetsOf = async () =>
    [...(await app.fetch('/')).text.matchAll(/(?:href|src)="(console\/[^"]+)"/g)].map((match) => `/${match[1]}`)

  test('has a content policy that allows no other origin and no inline script or style', async () => {
    const { status, headers, text } = await app.fetch('/')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/)
    expect(text).toContain('content="x-acme-api-key"')
  })

  test('uses only its own, relative URLs', async () => {
    const assets = await assetsOf()
    expect(assets.map((path) => path.replace(/[0-9a-f]{16}/, 'HASH')).sort()).toEqual([
      '/console/stint-HASH.css',
      '/console/stint-HASH.js',
      '/console/stint-HASH.woff2',
    ])
    for (const path of assets) {
      // Links to the vendors' pages, and what the address of a channel looks like.
      const shown = CHANNEL_KINDS.map(channelKind).flatMap(({ placeholder, link }) => [
        placeholder ?? '',
        link?.[1] ?? '',
      ])
      const text = shown.reduce((left, url) => left.replaceAll(url, ''), (await app.fetch(path)).text)
      expect(text.match(/\b(?:https?:)?\/\/(?!www\.w3\.org\/2000\/svg)[a-z0-9-]+\.[a-z]{2,}/gi) ?? []).toEqual([])
    }
  })

  test('script and styles are at most 100,000 bytes by ordinary gzip, and served no larger', async () => {
    const paths = (await assetsOf()).filter((path) => !path.endsWith('.woff2'))
    const sizes = await Promise.all(
      paths.map(async (path) => {
        const served = await fetch(`${app.url}${path}`, { headers: { 'accept-encoding': 'gzip' }, decompress: false })
        return [Bun.gzipSync((await app.fetch(path)).text).byteLength, (await served.bytes()).byteLength] as const
      }),
    )
    const ordinary = sizes.reduce((sum, [bytes]) => sum + bytes, 0)
    expect(ordinary).toBeLessThanOrEqual(100_000)
    expect(sizes.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThanOrEqual(ordinary)
  })

  test('assets are cached forever, the page is revalidated', async () => {
    const [style = '', font = '', script = ''] = await assetsOf()
    for (const [path, type] of [
      [style, 'text/css; charset=utf-8'],
      [font, 'font/woff2'],
      [script, 'text/javascript; charset=utf-8'],
    ] as const) {
      const { headers } = await app.fetch(path)
      expect(headers.get('content-type')).toBe(type)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    const page = await app.fetch('/')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const etag = page.headers.get('etag') ?? ''
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await app.fetch('/', { headers: { 'if-none-match': known } })
      expect([again.status, again.text]).toEqual([304, ''])
    }
    expect((await app.fetch('/', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  test('the style sheet loads the font that the page preloads', async () => {
    const [style = '', preloaded] = await assetsOf()
    const [, font = ''] = /src:url\("?([^")]+)"?\)/.exec((await app.fetch(style)).text) ?? []
    expect(`/console/${font.replace('./', '')}`).toBe(preloaded!)
    expect((await app.fetch(`/console/${font}`)).headers.get('content-encoding')).toBeNull()
  })

  test('serves no other file', async () => {
    for (const path of [
      '/console/stint-0000000000000000.js',
      '/console/main.tsx',
      '/console/..%2fservice.ts',
      '/console/',
      '/console',
    ])
      expect((await app.fetch(path)).status).toBe(404)
  })
})

test('a failed bundle is answered with 500, logged, and retried', async () => {
  const good = createConsole('x-stint-api-key')
  let isBroken = true
  const lines: string[] = []
  const server = serve({
    console: {
      page: () => (isBroken ? Promise.reject(new Error('no such file')) : good.page()),
      asset: (name) => (isBroken ? Promise.reject(new Error('no such file')) : good.asset(name)),
    },
    consolePolicy: CONSOLE_POLICY,
    log: pino({}, { write: (line) => void lines.push(line) }),
  })
  const broken = await fetch(`${server.url}/`)
  expect([broken.status, ((await broken.json()) as { code: string }).code]).toEqual([500, 'internal'])
  expect((await fetch(`${server.url}/console/x.js`)).status).toBe(500)
  expect(lines.join()).toContain('the console cannot be bundled')
  isBroken = false
  expect((await fetch(`${server.url}/`)).status).toBe(200)
  server.stop()
})

test.skipIf(missing('chromium') !== undefined)(
  'a fresh Stint that others can reach asks for its setup code; afterwards only sign-in is shown while sign-up is closed',
  async () => {
    const accounts = openFresh({ signup: 'first', setupCodeRequired: true, setupCode: 'open sesame' })
    const server = serve(
      { console: createConsole('x-stint-api-key'), consolePolicy: CONSOLE_POLICY, log: pino({ level: 'silent' }) },
      (app) => mountPeopleRoutes(app, accounts),
    )
    const { page, go, complaints, close } = await visit(server.url, LIGHT)
    await go('')
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByLabel('Setup code').fill('open barley')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('alert').getByText('The setup code is missing or wrong').waitFor()
    complaints.length = 0 // the browser itself says that a 403 came
    await page.getByLabel('Setup code').fill('open sesame')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByLabel('Your API key').waitFor()
    await page.context().clearCookies()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await page.getByText('Sign-up is closed').waitFor()
    expect(await page.getByRole('button', { name: 'Create account' }).count()).toBe(0)
    await close()
    server.stop()
    await accounts.close()
  },
)

function serve(deps: ConsoleRoutesDeps, mount = (_: AnyElysia) => {}) {
  const app = new Elysia({ normalize: false })
    .onError(({ error }) => problemResponse(errorToProblem(error)!))
    .use(consoleRoutes(deps))
  mount(app)
  app.listen({ port: 0, hostname: '127.0.0.1' })
  return { url: `http://127.0.0.1:${app.server!.port}`, stop: () => void app.server!.stop(true) }
}
