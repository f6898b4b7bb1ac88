// Copies a text to the clipboard. Browsers have no clipboard API over plain HTTP: the text is then selected and copied.
import { fill, h, setText } from './dom.ts'
import { icon } from './icons.ts'

const REPORTED_MS = 2_000

/** `what` is the label: `Copy key`. */
export const copyButton = (what: string, text: () => string, look = ''): HTMLButtonElement =>
  createButton(what, text, h('span', { 'aria-live': 'polite' }, what), `button ${look}`)

function createButton(what: string, text: () => string, label: HTMLElement, look: string): HTMLButtonElement {
  const picture = h('span.button-icon', icon('copy'))
  let timer: ReturnType<typeof setTimeout> | undefined

  const report = (said: string, isDone: boolean) => {
    setText(label, said)
    fill(picture, icon(isDone ? 'check' : 'warning'))
    clearTimeout(timer)
    timer = setTimeout(() => {
      setText(label, what)
      fill(picture, icon('copy'))
    }, REPORTED_MS)
  }
  return h(
    'button',
    {
      type: 'button',
      class: look.trim(),
      title: what,
      onclick: async () => ((await copy(text())) ? report('Copied', true) : report('Copy failed: select it', false)),
    },
    picture,
    label,
  )
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text) // no permission, or no clipboard in this context
  }
}

function copyBySelection(text: string): boolean {
  const area = h('textarea.hidden', { 'aria-hidden': 'true' })
  area.value = text
  document.body.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  return isDone
}
