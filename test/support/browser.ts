// A real browser that may reach only this machine: requests to other hosts are refused and recorded. The error of a step that fails ends with
// what the page showed: its address, its text, its last requests and its complaints.
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { closeAtEnd } from './leftovers.ts'
import { findChromium } from './needs.ts'
import { witnesses } from './until.ts'

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

export interface BrowserPage {
  readonly page: Page
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

/** A fresh page, with cookies of its own, that has not been anywhere. Without animations, unless `options` ask for them. */
export async function openPage(origin: string, options: BrowserContextOptions = {}): Promise<BrowserPage> {
  const context = await (await sharedBrowser()).newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  const strayRequests: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) strayRequests.push(url)
  })
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.setDefaultTimeout(60_000)
  witnesses.set(page, describer(page, complaints))
  explainFailures(page)
  const forget = closeAtEnd(close)
  async function close(): Promise<void> {
    forget()
    witnesses.delete(page)
    await page.unrouteAll({ behavior: 'ignoreErrors' }) // a poll is answered while its page goes
    await context.close()
  }
  return { page, strayRequests, complaints, close }
}

const REQUESTS_SHOWN = 15
const TEXT_SHOWN = 3_000
const DESCRIBE_WITHIN_MS = 5_000

/** Says what the page shows at the moment of the call. Never rejects. */
function describer(page: Page, complaints: readonly string[]): () => Promise<string> {
  const requests: string[] = []
  const note = (outcome: string | number, url: string) => {
    requests.push(`${outcome} ${url}`)
    if (requests.length > REQUESTS_SHOWN) requests.shift()
  }
  page.on('response', (response) => note(response.status(), `${response.request().method()} ${response.url()}`))
  page.on('requestfailed', (request) => note(request.failure()?.errorText ?? 'failed', request.url()))
  return async () => {
    // biome-ignore lint/performance/useDomNodeTextContent: the text as it is seen, without scripts
    const text = await page.mainFrame().innerText('body', { timeout: DESCRIBE_WITHIN_MS }).catch(String)
    return [
      `\n\nThe page ${page.url()} showed:`,
      text.replaceAll(/\s*\n\s*/g, '\n').slice(0, TEXT_SHOWN),
      `Last requests:\n  ${requests.join('\n  ')}`,
      ...(complaints.length === 0 ? [] : [`Complaints:\n  ${complaints.join('\n  ')}`]),
    ].join('\n')
  }
}

const explained = new WeakSet<object>()

/** From now on an error of a step of this or any other page or locator ends with what its page showed. */
function explainFailures(page: Page): void {
  for (const prototype of [page, page.locator('body')].map(Object.getPrototypeOf)) {
    if (explained.has(prototype)) continue
    explained.add(prototype)
    for (const [name, { value: step }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (typeof step === 'function' && /^[a-z$]/.test(name) && name !== 'constructor') prototype[name] = explain(step)
  }
}

type Step = (this: Page | Locator, ...given: unknown[]) => unknown

function explain(step: Step): Step {
  return function (...given) {
    const answer = step.apply(this, given)
    if (!(answer instanceof Promise)) return answer
    return answer.catch(async (error: unknown) => {
      const describe = witnesses.get('page' in this ? this.page() : this)
      if (error instanceof Error && describe !== undefined && !explained.has(error)) {
        explained.add(error)
        error.message += await describe()
      }
      throw error
    })
  }
}
