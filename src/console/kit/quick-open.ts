// Ctrl-K or ⌘K: opens any page, process or uid by name. A combobox with a listbox, following the ARIA Authoring
// Practices.
import type { AskProcesses } from './ask-processes.ts'
import { openDialog } from './dialog.ts'
import { fill, h, nameText } from './dom.ts'
import { formatRoute } from './route.ts'

interface Target {
  readonly label: string
  readonly kind: string
  readonly href: string
}

const SHOWN = 12
const UID = /^[a-z0-9_-]{1,50}$/

interface QuickOpenOptions {
  readonly askProcesses: AskProcesses
  readonly pages: readonly (readonly [page: string, label: string])[]
}

export function openQuickOpen({ askProcesses, pages }: QuickOpenOptions): void {
  let names: readonly string[] = []
  let found: readonly Target[] = []
  let at = 0
  const list = h('ul.quick-list', { id: 'quick-list', role: 'listbox', 'aria-label': 'Results' })
  const input = h('input', {
    type: 'search',
    role: 'combobox',
    'aria-label': 'Process, uid or page',
    'aria-expanded': 'true',
    'aria-controls': 'quick-list',
    'aria-autocomplete': 'list',
    placeholder: 'Process, uid or page',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => {
      at = 0
      search()
    },
  })
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      at = (at + step + found.length) % found.length
      show()
    } else if (event.key === 'Enter') {
      event.preventDefault()
      open(found[at])
    }
  })

  function search(): void {
    const text = input.value.trim()
    const typed = text.toLocaleLowerCase()
    const words = typed.split(/\s+/)
    const isIn = (name: string) => words.every((word) => name.toLocaleLowerCase().includes(word))
    const hasTyped = (name: string) => name.toLocaleLowerCase().includes(typed) // before the same words apart
    found = [
      ...pages
        .filter(([, label]) => isIn(label))
        .map(([page, label]) => ({ label, kind: 'Page', href: formatRoute(page) })),
      ...names
        .filter(isIn)
        .toSorted((a, b) => Number(hasTyped(b)) - Number(hasTyped(a)))
        .map((process) => ({ label: process, kind: 'Process', href: formatRoute('process', { process }) })),
      ...(UID.test(text)
        ? [{ label: text, kind: 'Runs with uid', href: formatRoute('runs', { uid: text, from: '-7d' }) }]
        : []),
    ]
    found = [...found.slice(0, SHOWN - 1), ...found.slice(SHOWN - 1).slice(-1)]
    show()
  }
  function show(): void {
    const items = found.map(({ label, kind }, i) => {
      const item = h(
        'li',
        { id: `quick-${i}`, role: 'option', 'aria-selected': String(i === at) },
        nameText(label),
        h('span.muted', kind),
      )
      item.addEventListener('click', () => open(found[i]))
      return item
    })
    fill(list, ...items)
    if (found.length > 0) input.setAttribute('aria-activedescendant', `quick-${at}`)
    else input.removeAttribute('aria-activedescendant')
    items[at]?.scrollIntoView({ block: 'nearest' })
  }
  function open(target: Target | undefined): void {
    if (target === undefined) return
    dialog.close()
    location.hash = target.href
  }

  const dialog = openDialog('Go to', [h('div.field', input), list], { class: 'quick' })
  search()
  void askProcesses()
    .then((entries) => {
      names = entries.map(({ process }) => process)
      search()
    })
    .catch(() => {}) // pages and uids still work
}
