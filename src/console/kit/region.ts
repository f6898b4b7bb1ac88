// A part of a page with loaded content. It shows whether the content is loading, empty, failed, ready, or out of date.
import { ApiError } from './api.ts'
import { button, type Child, fill, h, note, setText } from './dom.ts'
import { formatClock } from './format-time.ts'
import { icon } from './icons.ts'

export interface Region {
  readonly element: HTMLElement
  /** A request was sent; earlier content stays. */
  loading(): void
  /** Drops the content: it answers another question. */
  reset(): void
  /** `answeredMs`: when the data arrived. The same answer, shown again, remains out of date if it was. */
  ready(answeredMs: number, ...content: readonly Child[]): void
  empty(answeredMs: number, title: string, ...more: readonly Child[]): void
  /** Keeps the content and marks it as out of date; without content, shows the failure instead. */
  fail(error: unknown, retry: () => void): void
}

export function createRegion(): Region {
  const notice = h('div.region-notice', { role: 'status' })
  const content = h('div.region-content')
  const element = h('div.region', notice, content)
  let shownAtMs: number | undefined
  let reported = ''

  const settle = (answeredMs: number, children: readonly Child[]) => {
    element.removeAttribute('aria-busy')
    fill(content, ...children)
    if (answeredMs === shownAtMs) return
    shownAtMs = answeredMs
    reported = ''
    fill(notice)
  }

  return {
    element,
    loading() {
      element.setAttribute('aria-busy', 'true')
      if (shownAtMs === undefined) fill(content, skeleton())
    },
    reset() {
      shownAtMs = undefined
      reported = ''
      fill(notice)
    },
    ready: (answeredMs, ...children) => settle(answeredMs, children),
    empty: (answeredMs, title, ...more) => settle(answeredMs, [emptyState(title, ...more)]),
    fail(error, retry) {
      element.removeAttribute('aria-busy')
      const { title, detail } = explain(error)
      if (reported === title + detail) return // a live region: announce it once
      reported = title + detail
      const again = error instanceof ApiError && error.code === 'role_missing' ? '' : button('Try again', retry)
      if (shownAtMs !== undefined) {
        const text = `${title}. Showing data from ${formatClock(shownAtMs)}.`
        fill(notice, h('div.banner.banner-warn', icon('warning'), h('p', text), again))
        return
      }
      fill(content, h('div.empty', { role: 'alert' }, icon('warning'), h('p.empty-title', title), note(detail), again))
    },
  }
}

export const emptyState = (title: string, ...more: readonly Child[]): HTMLElement =>
  h('div.empty', icon('empty'), h('p.empty-title', title), ...more)

/** Does something, and shows in `fault` why it failed. */
export function createAttempt() {
  const fault = h('p.field-fault', { role: 'alert' })
  return {
    fault,
    async attempt(work: () => Promise<unknown>): Promise<void> {
      setText(fault, '')
      try {
        await work()
      } catch (error) {
        const { title, detail } = explain(error)
        setText(fault, `${title}. ${detail}`)
      }
    },
  }
}

/** Title and detail of a failure, for people. */
export function explain(error: unknown): { title: string; detail: string } {
  if (error instanceof ApiError) {
    const faults = error.errors.map(({ pointer, detail }) => `${pointer.replace(/^\//, '')} ${detail}`.trim())
    return { title: error.title, detail: faults.length > 0 ? `${faults.join('; ')}.` : error.detail }
  }
  console.error(error)
  return {
    title: 'The page failed',
    detail: 'This is a bug in the console. The browser’s developer tools show the details.',
  }
}

const skeleton = () => h('div.skeleton', h('span.hidden', 'Loading…'), h('i'), h('i'), h('i'))
