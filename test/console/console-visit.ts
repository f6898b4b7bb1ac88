// A real Stint and a real browser for the tests of the console: somebody with an account, and pages opened as them.
import { afterEach, expect } from 'bun:test'
import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { MAX_BATCH_EVENTS } from '../../src/wire/events.ts'
import { type BrowserPage, openPage, sharedBrowser } from '../support/browser.ts'
import { createCaller, type SignedUp, signUpAt } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { createStintProcess, type Env, type StintProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

/** Of tests in a browser against a real Stint. */
export const cannotRun = (): boolean => missing('chromium') !== undefined || missing('chdb') !== undefined

export const LIGHT = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } as const
/** For a test that waits for a poll. Not for one in which a poll must not come before a click. */
export const QUICK = { ...LIGHT, quickPolls: true } as const
export const PHONE = { viewport: { width: 320, height: 640 }, colorScheme: 'light', hasTouch: true } as const
/** As large as most. */
export const USUAL_PHONE = { ...PHONE, viewport: { width: 390, height: 844 } } as const

const POLL_SPEED = 10

/** `quickPolls`: the page asks again `POLL_SPEED` times as soon. */
export type VisitOptions = BrowserContextOptions & { readonly quickPolls?: boolean }

export interface Visit extends BrowserPage {
  /** To a page by what its address holds after `#/`; the answer of the page before is gone. */
  go(view: string): Promise<void>
  /** What the page holds after `#`. */
  view(): string
}

export interface ConsoleStint {
  readonly stint: StintProcess
  /** A page, signed in with `cookie`. */
  visit(options?: VisitOptions, cookie?: string): Promise<Visit>
  /** Makes an account. `cookie` is the value of its session's. */
  signUp(email: string): Promise<SignedUp>
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
      const signedUp = await signUpAt(stint.url, email)
      return { ...signedUp, cookie: signedUp.cookie.replace(/^.*=/, '') }
    },
    async send(secret, events) {
      const caller = createCaller(stint.url, { key: secret })
      for (let i = 0; i < events.length; i += MAX_BATCH_EVENTS) {
        const batch = events.slice(i, i + MAX_BATCH_EVENTS)
        const { json } = await caller.post('/v1/batch', batch)
        if (json.accepted !== batch.length) throw new Error(`${json.accepted} of ${batch.length} events were accepted`)
      }
      await until('all events stored', () => isStored(stint.url, secret))
    },
    close: () => stint.close(),
  }
}

/** Opens pages that are closed after the test: an open page keeps asking. Called once, in a `describe`. */
export function closingVisits(stint: () => ConsoleStint): ConsoleStint['visit'] {
  const visits: Visit[] = []
  afterEach(async () => {
    for (const one of visits.splice(0)) await one.close()
  })
  return async (...given) => {
    const opened = await stint().visit(...given)
    visits.push(opened)
    return opened
  }
}

/** A page of any server's console. */
export async function visit(url: string, options: VisitOptions, cookie?: string): Promise<Visit> {
  const { quickPolls = false, ...rest } = options
  const opened = await openPage(url, { locale: 'en-GB', timezoneId: 'UTC', ...rest })
  if (quickPolls) await opened.page.addInitScript(quickenPolls, POLL_SPEED)
  if (cookie !== undefined) await opened.page.context().addCookies([{ name: 'stint_session', value: cookie, url }])
  return {
    ...opened,
    async go(view) {
      await opened.page.goto(`${url}/#/${view}`)
      await leaveFormer(opened.page)
    },
    view: () => new URL(opened.page.url()).hash,
  }
}

const LEFT_WITHIN_MS = 15_000

/** Until the answer of the address before is gone: a test would click what is about to be replaced. */
async function leaveFormer(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  const busy = page.locator('.region[aria-busy]').first()
  await busy.waitFor({ state: 'detached', timeout: LEFT_WITHIN_MS }).catch(() => {})
}

/** In the page, before its scripts: pauses of more than a second are shorter. */
function quickenPolls(speed: number): void {
  const after = window.setTimeout
  const quick = (run: () => void, ms = 0, ...given: []) => after(run, ms > 1_000 ? ms / speed : ms, ...given)
  window.setTimeout = quick as typeof window.setTimeout
}

/** The page asked no other server, and neither it nor the browser complained. */
export function expectQuiet({ complaints, strayRequests }: Visit): void {
  expect(strayRequests).toEqual([])
  expect(complaints).toEqual([])
}

/** What makes the page wider than the screen. */
export const findWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { scrollWidth } = document.documentElement
    if (scrollWidth <= innerWidth) return []
    const wide = [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth && !element.closest('.table-scroll'))
      .map((element) => `${element.outerHTML.slice(0, 120)} reaches to ${element.getBoundingClientRect().right}`)
    return [`the page is ${scrollWidth} px wide`, ...wide]
  })

/** Touch targets that are less than 24 px high or wide: no links within a sentence, and no bars, which a table repeats. */
export const findSmall = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('main :is(a, button, select, summary)')]
      .filter((element) => !element.closest('p, svg, .run-bars'))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && Math.min(box.width, box.height) < 24)
      .map(({ element, box }) => `${element.outerHTML.slice(0, 120)} is ${box.width} × ${box.height} px`),
  )

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

/** Nothing waits in the spools, so that everything that was accepted is in its store. */
async function isStored(url: string, secret: string): Promise<boolean> {
  const { spools } = (await createCaller(url, { key: secret }).get('/api/health')).json
  return spools.points.records === 0 && spools.exceptions.records === 0
}
