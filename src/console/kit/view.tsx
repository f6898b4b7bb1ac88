// The context of every part of a page, so that nothing is handed down by hand: the app, the address, the time, and the
// functions that change them.
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { App } from './app.ts'
import type { Draw } from './modal.tsx'
import { formatRoute, type Params } from './route.ts'
import { readRange, type TimeRange } from './time-range.ts'

export interface View {
  readonly app: App
  readonly params: URLSearchParams
  /** The time of the newest answer; `app.nowMs()` is the clock. */
  readonly nowMs: number
  /** Changes the address of this page. */
  change(changes: Params, how?: 'replace'): void
  /** Asks at once, after an action. */
  again(): void
  /** Shows a dialog in this view. */
  open(draw: Draw): void
}

export const ViewContext = createContext<View>(undefined as never)
export const useView = (): View => useContext(ViewContext)

/** The range in the address. */
export function useRange(fallback?: string): TimeRange {
  const { params, nowMs } = useView()
  return readRange(params, nowMs, fallback)
}

interface LinkProps {
  readonly to: string
  readonly of?: Params | URLSearchParams
  readonly class?: string
  /** A text of callers, whole in the tooltip; one of spaces is quoted. */
  readonly text?: string
  readonly title?: string
  readonly children?: ComponentChildren
}

export const Link = ({ to, of = {}, class: look, text, title = text, children }: LinkProps) => (
  <a class={look} href={formatRoute(to, of)} title={title}>
    {children ?? <bdi>{text?.trim() === '' ? `“${text}”` : text}</bdi>}
  </a>
)
