import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type BrowserPage, openPage } from './browser.ts'
import { missing } from './needs.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { until } from './until.ts'

const HTML = '<p>Nothing here<script>fetch("/busy")</script>'

let server: Receiver | undefined
let opened: BrowserPage
beforeAll(async () => {
  if (missing('chromium') !== undefined) return
  server = startReceiver(({ path }) =>
    path === '/busy'
      ? new Response(null, { status: 503 })
      : new Response(HTML, { headers: { 'content-type': 'text/html' } }),
  )
  opened = await openPage(server.url)
  await opened.page.goto(`${server.url}/some#view`)
  await until('a refused request', () => opened.complaints.length > 0)
})
afterAll(async () => {
  await opened?.close()
  await server?.close()
})

test.skipIf(missing('chromium') !== undefined).each([
  ['a step of a locator', () => opened.page.getByText('Ready').waitFor({ timeout: 10 })],
  ['a step of a page', () => opened.page.waitForFunction(() => false, undefined, { timeout: 10 })],
  ['a wait for a condition', () => until('ready', () => false, 10)],
])('the error of %s that fails says what the page showed', async (_, step) => {
  const { message } = await step().then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  )
  for (const part of ['/some#view showed:', 'Nothing here', '503 GET', 'Complaints:'])
    expect(message.split(part)).toHaveLength(2)
})
