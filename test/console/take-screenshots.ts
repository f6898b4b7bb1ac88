// `bun run screenshots URL EMAIL PASSWORD`: takes the console's screenshots from a running demo, with the Chromium of the tests.
// The demo's notifications must have arrived: one alert fires, one is resolved.
import { join } from 'node:path'
import { sharedBrowser } from '../support/browser.ts'

const SHOTS = [
  ['home.png', 'home', 'light'],
  ['process-dark.png', 'process?process=sync+inventory', 'dark'],
  ['runs.png', 'runs?from=-24h', 'light'],
  ['watch.png', 'process?process=sync+inventory&watch=new', 'light'],
  ['exceptions.png', 'exceptions?from=-24h', 'light'],
  ['alert.png', 'alert', 'light'],
] as const
const SIZE = { width: 1280, height: 800 }
/** Fonts and charts are drawn by then. */
const SETTLE_MS = 3_000

const [url = '', email = '', password = ''] = process.argv.slice(2)
const browser = await sharedBrowser()
for (const [file, view, colorScheme] of SHOTS) {
  const context = await browser.newContext({ viewport: SIZE, colorScheme, locale: 'en-GB', timezoneId: 'UTC' })
  const signedIn = await context.request.post(`${url}/api/session`, {
    data: { email, password },
    headers: { origin: url },
  })
  if (!signedIn.ok()) throw new Error(`cannot sign in to ${url}: ${signedIn.status()}`)
  const page = await context.newPage()
  await page.goto(`${url}/#/${view === 'alert' ? await failedAlert() : view}`)
  await page.getByRole('table').first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.waitForTimeout(SETTLE_MS)
  await page.screenshot({ path: join(import.meta.dir, '../../src/console/screenshots', file) })
  await context.close()

  /** The newest one about a run that failed. */
  async function failedAlert(): Promise<string> {
    const { alerts } = await (await context.request.get(`${url}/api/alerts`)).json()
    const { id } = alerts.find(({ condition }: { condition: string }) => condition === 'failed')
    return `alert?id=${id}`
  }
}
await browser.close()
