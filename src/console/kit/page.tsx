// A page: what it asks, again and again, and how the answer is drawn. What it shows is in the address; there is no
// state beside it but the last answer.
import type { ComponentType } from 'preact'
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import type { App } from './app.ts'
import type { Get } from './ask.ts'
import { explain } from './explain.ts'
import { formatClock } from './format-time.ts'
import { Icon } from './icon.tsx'
import { createPoll } from './poll.ts'
import { changeParams, parseRoute } from './route.ts'
import { type View, ViewContext } from './view.tsx'

export interface Question<T> {
  readonly app: App
  readonly params: URLSearchParams
  /** `get` of `app.api`, cancelled with this question. */
  readonly get: Get
  readonly signal: AbortSignal
  /** Shows a part of the answer before the rest has come. */
  early(answer: T): void
  /** The last answer to the same question. */
  readonly held: T | undefined
}

interface PageOf<T> {
  /** In the address. */
  readonly name: string
  /** Default: the name. */
  readonly class?: string
  /** 0: the answer stays as it is. */
  everyMs(params: URLSearchParams): number
  /** Another key is another question: `held` is undefined. Absent: the page has one question. */
  keyOf?(params: URLSearchParams): string
  /** Another subject drops the answer at once; otherwise it stays, as busy, until the next one. Absent: `keyOf`. */
  subjectOf?(params: URLSearchParams): string
  ask(question: Question<T>): Promise<T>
  /** Drawn at once, before any answer. */
  readonly Heading: ComponentType<{ readonly answer: T | undefined }>
  readonly Content: ComponentType<{ readonly answer: T }>
}

export interface PageProps {
  readonly app: App
  readonly params: URLSearchParams
}

export const page = <T,>(of: PageOf<T>): ComponentType<PageProps> =>
  function Page({ app, params }) {
    const { name, keyOf = () => '', Heading, Content } = of
    const { held, failure, again } = useAnswer(of, app, params)
    const view: View = {
      app,
      params,
      again,
      nowMs: app.nowMs(),
      change: (changes, how) => app.go(name, changeParams(addressOf(name) ?? params, changes), how),
      open: (draw) => app.open((close) => <ViewContext.Provider value={view}>{draw(close)}</ViewContext.Provider>),
    }
    return (
      <ViewContext.Provider value={view}>
        <div class={`page ${of.class ?? name}`}>
          <Heading answer={held?.answer} />
          {failure !== undefined && <Failure error={failure} atMs={held?.atMs} retry={again} />}
          {held !== undefined && (
            <div class="region" aria-busy={held.key !== keyOf(params) || undefined}>
              <Content answer={held.answer} />
            </div>
          )}
          {held === undefined && failure === undefined && <Skeleton />}
        </div>
      </ViewContext.Provider>
    )
  }

/** The address of this moment: the page is drawn a moment after it changes. undefined: it is another page's. */
function addressOf(name: string): URLSearchParams | undefined {
  const { page, params } = parseRoute(location.hash)
  return page === name ? params : undefined
}

interface State<T> {
  params: URLSearchParams
  held?: { readonly answer: T; readonly atMs: number; readonly key: string } | undefined
  failure?: unknown
}

/** Asks whenever the address changes, and again and again. */
function useAnswer<T>(of: PageOf<T>, app: App, params: URLSearchParams) {
  const { everyMs, keyOf = () => '', subjectOf = keyOf, ask } = of
  const state = useRef<State<T>>({ params }).current
  const [, draw] = useReducer((times: number) => times + 1, 0)
  if (params !== state.params) {
    if (subjectOf(params) !== subjectOf(state.params)) state.held = undefined
    Object.assign(state, { params, failure: undefined })
  }
  function hold(answer: T): void {
    state.held = { answer, atMs: app.nowMs(), key: keyOf(state.params) }
    draw(0)
  }
  const [poll] = useState(() =>
    createPoll<T>({
      everyMs: () => everyMs(state.params),
      ask: (signal) =>
        ask({
          app,
          params: state.params,
          signal,
          get: (path, query) => app.api.get(path, query, signal),
          held: state.held?.key === keyOf(state.params) ? state.held.answer : undefined,
          early: (answer) => !signal.aborted && hold(answer),
        }),
      show(answer) {
        state.failure = undefined
        hold(answer)
      },
      fail(error) {
        state.failure = error
        draw(0)
      },
    }),
  )
  useLayoutEffect(() => poll.now(), [params])
  useLayoutEffect(() => {
    app.left.addEventListener('abort', () => poll.stop())
    return () => poll.stop()
  }, [])
  return { held: state.held, failure: state.failure, again: () => poll.now() }
}

function Failure({ error, atMs, retry }: { error: unknown; atMs: number | undefined; retry(): void }) {
  const { title, detail } = explain(error)
  const isRefused = error instanceof ApiError && error.code === 'role_missing'
  const text = atMs === undefined ? `${title}. ${detail}` : `${title}. Showing data from ${formatClock(atMs)}.`
  return (
    <div class="banner banner-warn" role="alert">
      <Icon name="warning" />
      <p>{text}</p>
      {!isRefused && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

const Skeleton = () => (
  <div class="skeleton" aria-busy="true">
    <span class="hidden">Loading…</span>
    <i />
    <i />
    <i />
  </div>
)
