// A labelled <select> whose options are texts of callers: the value is the option's place, so that any text, or none, can be one.
import { h } from './dom.ts'

export interface Option<T> {
  readonly value: T
  readonly label: string
}

export interface Choice<T> {
  readonly element: HTMLElement
  /** Changes options only when they differ: one that is being chosen from stays open. */
  show(options: readonly Option<T>[], chosen: T): void
}

let choices = 0

export function createChoice<T>(label: string, choose: (value: T) => void): Choice<T> {
  const id = `choice-${++choices}`
  let shown: readonly Option<T>[] = []
  const select = h('select', {
    id,
    onchange: () => {
      const option = shown[select.selectedIndex]
      if (option !== undefined) choose(option.value)
    },
  })
  return {
    element: h('div', { class: 'field' }, h('label', { for: id }, label), select),
    show(options, chosen) {
      const isSame = options.length === shown.length && options.every((option, i) => option.label === shown[i]?.label)
      if (!isSame) select.replaceChildren(...options.map((option) => h('option', {}, option.label)))
      shown = options
      select.selectedIndex = options.findIndex(({ value }) => value === chosen)
    },
  }
}
