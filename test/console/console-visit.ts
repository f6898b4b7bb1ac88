// A real Stint and a real browser for the tests of the console: somebody with an account, and pages opened as them.
import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { type BrowserPage, openPage, sharedBrowser } from '../support/browser.ts'
import { createStintProcess, type Env, type StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

export const PASSWORD = 'a long enough password of a test'
export const LIGHT = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } as const
export const PHONE = { viewport: { width: 320, height: 640 }, colorScheme: 'light', hasTouch: true } as const

export interface Visit extends BrowserPage {
  /** To a page by what its address holds after `#/`. */
  go(view: string): Promise<void>
  /** What the page holds after `#`. */
  view(): string
}

export interface ConsoleStint {
  readonly stint: StintProcess
  /** A page, signed in with `cookie`. */
  visit(options?: BrowserContextOptions, cookie?: string): Promise<Visit>
  /** Makes an account; gives its session, its first key and its id. */
  signUp(email: string): Promise<{ cookie: string; secret: string; account: string }>
  /** Sends events and waits until the stores answer with as many of their kinds. */
  send(secret: string, events: readonly object[]): Promise<void>
  close(): Promise<void>
}

/** Needs chromium and chdb. `create` gives the process, such as `createQuickProcess`. */
export async function startConsole(env: Env = {}, create = createStintProcess): Promise<ConsoleStint> {
  const stint = create({ NODE_ENV: 'production', SIGNUP: 'open', ...env })
  await Promise.all([sharedBrowser(), stint.start()])
  return {
    stint,
    visit: (options = LIGHT, cookie) => visit(stint.url, options, cookie),
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
    close: () => stint.close(),
  }
}

/** A page of any server's console. */
export async function visit(url: string, options: BrowserContextOptions, cookie?: string): Promise<Visit> {
  const opened = await openPage(url, { locale: 'en-GB', timezoneId: 'UTC', ...options })
  if (cookie !== undefined) await opened.page.context().addCookies([{ name: 'stint_session', value: cookie, url }])
  return {
    ...opened,
    go: async (view) => void (await opened.page.goto(`${url}/#/${view}`)),
    view: () => new URL(opened.page.url()).hash,
  }
}

/** Rows of a table after these are made like those before them. */
const ROWS_CHECKED = 15
/** The rules that depend on the colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** The violations that axe-core finds on the page, in words. */
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate(
    ([exclude, rules]) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(
        { exclude },
        { resultTypes: ['violations'], ...(rules !== null && { runOnly: [...rules] }) },
      ),
    [`tbody tr:nth-child(n + ${ROWS_CHECKED + 1})`, rules ?? null] as const,
  )
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}

/** The violations in the light scheme, and those of colour in the dark scheme. Leaves the page in the light one. */
export async function findBarriersInBothSchemes(page: Page): Promise<string[]> {
  // No colour may be in transition, not even back to light in the view after this one.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const light = await findBarriers(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await findBarriers(page, COLOUR_RULES)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map((text) => `dark: ${text}`)]
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
