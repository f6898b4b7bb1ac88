// A real browser that may reach this machine alone: what a page wants from elsewhere is refused and written down.
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import { findChromium } from './needs.ts'

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface BrowserPage {
  readonly page: import('playwright-core').Page
  /** What the page wanted from other origins than `origin`. */
  readonly strayRequests: string[]
  /** Errors and warnings of the console, uncaught errors of scripts, and broken rules of the content policy. */
  readonly complaints: string[]
  close(): Promise<void>
}

/** Only to be called where `missing('chromium')` is undefined. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('there is no chromium here')
  return chromium.launch({ executablePath, args: ARGS })
}

/** A fresh page, with cookies of its own, that has not been anywhere; in a browser of its own unless one is handed in. */
export async function openPage(
  origin: string,
  options: BrowserContextOptions = {},
  shared?: Browser,
): Promise<BrowserPage> {
  const browser = shared ?? (await launchBrowser())
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const strayRequests: string[] = []
  const complaints: string[] = []
  await page.route('**/*', (route) => {
    const url = route.request().url()
    if (url.startsWith(`${origin}/`) || url.startsWith('data:')) return route.continue()
    strayRequests.push(url)
    return route.abort()
  })
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.setDefaultTimeout(15_000)
  return { page, strayRequests, complaints, close: () => (shared === undefined ? browser.close() : context.close()) }
}
