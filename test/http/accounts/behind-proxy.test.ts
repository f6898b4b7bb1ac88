// Signing in from a page behind a proxy that does not pass the Host header on, over http, where browsers send no
// Sec-Fetch-Site.
import { expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'
import { PASSWORD } from '../../support/caller.ts'

const PAGE = 'http://stint.example.com'

async function signIn(env: Record<string, string>, headers: Record<string, string>) {
  await using app = await startApp({ env: { TRUST_PROXY: '1', SETUP_CODE: 'a set-up code of a test', ...env } })
  const answer = await app.fetch('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ email: 'ada@example.com', password: PASSWORD }),
  })
  return { status: answer.status, detail: answer.json?.detail }
}

test('PUBLIC_URL’s origin is Stint’s own', async () => {
  expect((await signIn({ PUBLIC_URL: `${PAGE}/` }, { origin: PAGE })).status).toBe(201)
  expect((await signIn({ PUBLIC_URL: PAGE }, { origin: `${PAGE}:8080` })).status).toBe(403)
  expect((await signIn({ PUBLIC_URL: PAGE }, { origin: 'https://stint.example.com' })).status).toBe(403)
  expect((await signIn({ PUBLIC_URL: PAGE }, { origin: PAGE, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
})

test('without it the refusal names what the page is and what the proxy says', async () => {
  const { status, detail } = await signIn({}, { origin: PAGE })
  expect(status).toBe(403)
  expect(detail).toMatch(
    /^The page is http:\/\/stint\.example\.com, and the proxy says that it is 127\.0\.0\.1:\d+\. .*PUBLIC_URL\.$/,
  )
  expect((await signIn({}, { origin: 'http://<b>' })).detail).toBe(
    'Only pages of Stint itself may do this in a browser.',
  )
})
