// Says how many of the runs have arrived while a long answer comes in pages: part of a picture must not pass for the whole.
import { h, setText } from '../kit/dom.ts'
import { formatCount } from '../kit/format-number.ts'

export interface LoadProgress {
  readonly element: HTMLElement
  /** undefined: everything has arrived. `total` is undefined while it is not known. */
  show(state: { readonly loaded: number; readonly total: number | undefined } | undefined): void
}

export function createLoadProgress(): LoadProgress {
  const text = h('span')
  const bar = h('progress', { 'aria-label': 'Runs loaded' })
  const element = h('p', { class: 'load-progress muted' }, text, bar)
  element.hidden = true
  return {
    element,
    show(state) {
      element.hidden = state === undefined
      if (state === undefined) return
      const { loaded, total } = state
      setText(
        text,
        `Loading: newest ${formatCount(loaded)}${total === undefined ? '' : ` of ${formatCount(Math.max(total, loaded))}`} runs`,
      )
      if (total === undefined || total === 0) bar.removeAttribute('value')
      else bar.value = Math.min(1, loaded / total)
    },
  }
}
