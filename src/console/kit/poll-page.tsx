// A page of one question: asks it again and again, and draws its answer with Preact, which keeps focus, selection and
// hover. What the page shows is in the address; there is no state beside it but the last answer.
import { type ComponentType, render } from 'preact'
import { ApiError } from './api.ts'
import { explain } from './explain.ts'
import { formatClock } from './format-time.ts'
import { Icon } from './icon.tsx'
import type { App, OpenPage } from './page.ts'
import { createPoll } from './poll.ts'

export interface Question<T> {
  readonly app: App
  readonly params: URLSearchParams
  /** Shows a part of the answer before the rest has come. */
  early(answer: T): void
  readonly held: T | undefined
  readonly signal: AbortSignal
}

export interface Shown<T> {
  readonly app: App
  readonly params: URLSearchParams
  readonly nowMs: number
  readonly answer: T
  /** Asks at once, after an action. */
  again(): void
}

interface PollPage<T> {
  readonly className: string
  /** 0: the answer stays as it is. */
  everyMs(params: URLSearchParams): number
  /** Another key is another question: `held` is undefined. Absent: the page has one question. */
  keyOf?(params: URLSearchParams): string
  /** Of another subject the answer is dropped at once; otherwise it stays, as busy, until the next one. Absent: `keyOf`. */
  subjectOf?(params: URLSearchParams): string
  ask(question: Question<T>): Promise<T>
  /** Drawn at once, before any answer. */
  readonly Heading: ComponentType<Omit<Shown<T>, 'answer'> & { readonly answer: T | undefined }>
  readonly Content: ComponentType<Shown<T>>
}

export const openPollPage =
  <T,>({ className, everyMs, keyOf = () => '', subjectOf = keyOf, ask, Heading, Content }: PollPage<T>): OpenPage =>
  (app) => {
    const element = document.createElement('div')
    element.className = `page ${className}`
    let params = new URLSearchParams()
    let held: { readonly answer: T; readonly atMs: number } | undefined
    let failure: unknown
    /** The question that `held` answers. */
    let heldKey = ''

    const poll = createPoll<T>({
      everyMs: () => everyMs(params),
      ask: (signal) =>
        ask({
          ...{ app, params, signal, held: heldKey === keyOf(params) ? held?.answer : undefined },
          early: (answer) => !signal.aborted && early(answer),
        }),
      show(answer) {
        failure = undefined
        early(answer)
      },
      fail(error) {
        failure = error
        draw()
      },
    })
    function early(answer: T): void {
      held = { answer, atMs: app.nowMs() }
      heldKey = keyOf(params)
      draw()
    }
    function draw(): void {
      const common = { app, params, nowMs: app.nowMs(), again: () => poll.now() }
      const page = (
        <>
          <Heading {...common} answer={held?.answer} />
          {failure !== undefined && <Failure error={failure} atMs={held?.atMs} retry={() => poll.now()} />}
          {held !== undefined && (
            <div class="region" aria-busy={heldKey !== keyOf(params) || undefined}>
              <Content {...common} answer={held.answer} />
            </div>
          )}
          {held === undefined && failure === undefined && <Skeleton />}
        </>
      )
      render(page, element)
    }
    draw() // its heading takes the focus
    return {
      element,
      show(next) {
        if (subjectOf(next) !== subjectOf(params)) held = undefined
        params = next
        failure = undefined
        draw()
        poll.now()
      },
      close() {
        poll.stop()
        render(null, element)
      },
    }
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
