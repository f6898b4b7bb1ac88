// A real browser that may reach only this machine: requests to other hosts are refused and recorded.
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
  /** Requests of the page to other origins than `origin`. */
  readonly strayRequests: string[]
  /** Errors and warnings of the console, uncaught errors, and violations of the content policy. */
  readonly complaints: string[]
  close(): Promise<void>
}

let running: Promise<Browser> | undefined

/**
 * One browser for all test files of this process: a start costs seconds. It ends when our end of its pipe closes.
 * Only to be called where `missing('chromium')` is undefined.
 */
export function sharedBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('there is no chromium here')
  running ??= chromium.launch({ executablePath, args: ARGS })
  return running
}

/** A fresh page, with cookies of its own, that has not been anywhere. */
export async function openPage(origin: string, options: BrowserContextOptions = {}): Promise<BrowserPage> {
  const context = await (await sharedBrowser()).newContext(options)
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
  page.setDefaultTimeout(60_000)
  return { page, strayRequests, complaints, close: () => context.close() }
}
