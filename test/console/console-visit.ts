// A real Stint and a real browser for the tests of the console: somebody with an account, and pages opened as them.
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { type BrowserPage, launchBrowser, openPage } from '../support/browser.ts'
import { createStintProcess, type Env, type StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

export const PASSWORD = 'a long enough password of a test'
export const LIGHT = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } as const
export const DARK = { ...LIGHT, colorScheme: 'dark' } as const
export const PHONE = { viewport: { width: 320, height: 640 }, colorScheme: 'light', hasTouch: true } as const

export interface Visit extends BrowserPage {
  /** To a page by what its address holds after `#/`. */
  go(view: string): Promise<void>
  /** What the page holds after `#`. */
  view(): string
}

export interface ConsoleStint {
  readonly stint: StintProcess
  /** Somebody's page: signed in where `cookie` is theirs. */
  visit(options?: BrowserContextOptions, cookie?: string): Promise<Visit>
  /** Makes an account; gives its session, its first key and its id. */
  signUp(email: string): Promise<{ cookie: string; secret: string; account: string }>
  /** Sends events and waits until the stores answer with as many of their kinds. */
  send(secret: string, events: readonly object[]): Promise<void>
  close(): Promise<void>
}

/** Needs chromium and chdb. */
export async function startConsole(env: Env = {}): Promise<ConsoleStint> {
  const stint = createStintProcess({ NODE_ENV: 'production', SIGNUP: 'open', ...env })
  const [browser] = await Promise.all([launchBrowser(), stint.start()])
  return {
    stint,
    visit: (options = LIGHT, cookie) => visit(stint.url, browser, options, cookie),
    async signUp(email) {
      const answer = await post(`${stint.url}/api/accounts`, { email, password: PASSWORD })
      const { key, account } = (await answer.json()) as { key: { secret: string }; account: { id: string } }
      const cookie = /stint_session=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? ''
      return { cookie, secret: key.secret, account: account.id }
    },
    async send(secret, events) {
      const answer = await post(`${stint.url}/v1/batch`, events, { 'x-stint-api-key': secret })
      const { accepted } = (await answer.json()) as { accepted?: number }
      if (accepted !== events.length) throw new Error(`${accepted} of ${events.length} events were accepted`)
      await until('all events stored', () => isStored(stint.url, secret))
    },
    async close() {
      await browser.close()
      await stint.close()
    },
  }
}

/** A page of any server's console. */
export async function visit(
  url: string,
  browser: Browser,
  options: BrowserContextOptions,
  cookie?: string,
): Promise<Visit> {
  const opened = await openPage(url, { locale: 'en-GB', timezoneId: 'UTC', ...options }, browser)
  if (cookie !== undefined) await opened.page.context().addCookies([{ name: 'stint_session', value: cookie, url }])
  return {
    ...opened,
    go: async (view) => void (await opened.page.goto(`${url}/#/${view}`)),
    view: () => new URL(opened.page.url()).hash,
  }
}

/** The violations that axe-core finds on the page, in words. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ['violations'] }),
  )
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** Nothing waits in the spools, so that everything that was accepted is in its store. */
async function isStored(url: string, secret: string): Promise<boolean> {
  const answer = await fetch(`${url}/api/health`, { headers: { 'x-stint-api-key': secret } })
  const { spools } = (await answer.json()) as { spools: Record<'points' | 'exceptions', { records: number }> }
  return spools.points.records === 0 && spools.exceptions.records === 0
}
