// Tabs as the ARIA practices have them: one is in the order of Tab, arrows go from one to the next.
import { h } from './dom.ts'

export interface Tab {
  readonly label: string
  readonly content: HTMLElement
}

let tabLists = 0

export function createTabs(label: string, tabs: readonly Tab[]): HTMLElement {
  const list = ++tabLists
  const panels = tabs.map(({ content }, i) =>
    h('div', { role: 'tabpanel', id: `panel-${list}-${i}`, 'aria-labelledby': `tab-${list}-${i}` }, content),
  )
  const buttons = tabs.map(({ label }, i) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${list}-${i}`,
        'aria-controls': `panel-${list}-${i}`,
        onclick: () => choose(i),
      },
      label,
    ),
  )
  function choose(chosen: number): void {
    buttons.forEach((button, i) => {
      button.setAttribute('aria-selected', String(i === chosen))
      button.tabIndex = i === chosen ? 0 : -1
    })
    panels.forEach((panel, i) => {
      panel.hidden = i !== chosen
    })
  }
  function onKey(event: KeyboardEvent): void {
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined || at < 0) return
    event.preventDefault()
    const next = (to + tabs.length) % tabs.length
    choose(next)
    buttons[next]?.focus()
  }
  choose(0)
  return h(
    'div',
    { class: 'tabs' },
    h('div', { role: 'tablist', 'aria-label': label, onkeydown: onKey }, ...buttons),
    ...panels,
  )
}
