// Tabs following the ARIA Authoring Practices: one of them is in the tab order, arrow keys move between them.
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useId } from '../kit/use-id.ts'

interface Tab {
  readonly label: string
  readonly content: ComponentChildren
}

interface Props {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly chosen: string
  choose(label: string): void
}

export function Tabs({ label, tabs, chosen, choose }: Props) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const at = Math.max(
    0,
    tabs.findIndex((tab) => tab.label === chosen),
  )
  function onKey(event: KeyboardEvent): void {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = (to + tabs.length) % tabs.length
    choose(tabs[next]!.label)
    list.current!.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus()
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={onKey}>
        {tabs.map((tab, i) => (
          <button
            key={tab.label}
            type="button"
            role="tab"
            id={`${id}-tab-${i}`}
            aria-controls={`${id}-panel`}
            aria-selected={i === at}
            tabIndex={i === at ? 0 : -1}
            onClick={() => choose(tab.label)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${at}`}>
        {tabs[at]?.content}
      </div>
    </div>
  )
}
