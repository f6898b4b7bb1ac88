// A choice of one of few, side by side: one stop for the Tab key, arrow keys move within it.
import type { ComponentChildren } from 'preact'

export interface Segment {
  readonly value: string
  readonly label: ComponentChildren
  /** Not offered, but in its place. */
  readonly class?: string
}

interface Props {
  readonly label: string
  readonly class?: string
  readonly items: readonly Segment[]
  readonly chosen: string | undefined
  choose(value: string): void
  readonly children?: ComponentChildren
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }

/** Moves the focus among the buttons or links of a group; the others are reached with arrow keys alone. */
export function moveFocus(event: KeyboardEvent & { readonly currentTarget: Element }): void {
  const step = STEPS[event.key]
  if (step === undefined) return
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('button, a')]
  const at = buttons.indexOf(document.activeElement as HTMLElement)
  if (at < 0) return
  event.preventDefault()
  buttons[(at + step + buttons.length) % buttons.length]?.focus()
}

export function Segments({ label, class: name = 'segments', items, chosen, choose, children }: Props) {
  const stop = items.some(({ value }) => value === chosen) ? chosen : items[0]?.value
  return (
    <div class={name} role="group" aria-label={label} onKeyDown={moveFocus}>
      {items.map(({ value, label: text, class: more = '' }) => (
        <button
          key={value}
          type="button"
          class={more}
          tabIndex={value === stop ? 0 : -1}
          aria-pressed={value === chosen}
          onClick={() => choose(value)}
        >
          {text}
        </button>
      ))}
      {children}
    </div>
  )
}
