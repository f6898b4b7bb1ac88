// The frame around every page after sign-in: the navigation and the page itself.
import type { Session } from '../../wire/sessions.ts'
import { fill, h } from './dom.ts'
import { type IconName, icon, logo } from './icons.ts'
import { formatRoute } from './route.ts'

export const ENTRIES: readonly (readonly [page: IconName, label: string])[] = [
  ['home', 'Home'],
  ['runs', 'Runs'],
  ['metrics', 'Metrics'],
  ['exceptions', 'Exceptions'],
  ['watches', 'Watches'],
  ['keys', 'Keys'],
  ['health', 'Health'],
  ['welcome', 'Send data'],
]

const OVER_TIME = ['runs', 'metrics', 'exceptions']
const KEPT = ['process', 'from', 'to']

/** `search` opens the search for processes and pages; `switchTo` shows another account. */
export function createFrame(session: Session, search: () => void, switchTo: (account: string) => void) {
  const { account, accounts, person, role } = session
  const link = (page: string, label: string, name: IconName) =>
    h('a', { href: formatRoute(page), 'data-page': page }, icon(name), h('span', label))
  function createSwitcher(): HTMLElement {
    const options = accounts.map(({ id, name }) => h('option', { value: id, selected: id === account.id }, name))
    const select = h('select', { 'aria-label': 'Account', onchange: () => switchTo(select.value) }, ...options)
    return select
  }
  const main = h('main', { id: 'main', tabindex: -1 })
  const menu = h(
    'nav.nav',
    { id: 'nav', 'aria-label': 'Pages' },
    h('button.button.nav-search', { type: 'button', onclick: search }, icon('search'), 'Search', h('kbd', 'Ctrl K')),
    h('ul', ...ENTRIES.map(([page, label]) => h('li', link(page, label, page)))),
    h(
      'ul.nav-end',
      (accounts.length > 1 || account.name !== person.email) &&
        h('li.nav-account', accounts.length > 1 ? createSwitcher() : h('span', { title: 'Account' }, account.name)),
      h('li', link('members', 'Members', 'members')),
      role === 'owner' && h('li', link('audit', 'Audit log', 'audit')),
      h('li', h('a', { href: 'swagger', target: '_blank', rel: 'noopener' }, icon('api'), h('span', 'API reference'))),
      h('li', link('account', person.email, 'account')),
    ),
  )
  const toggle = h(
    'button.menu-toggle',
    {
      type: 'button',
      'aria-expanded': 'false',
      'aria-controls': 'nav',
      onclick: () => setOpen(toggle.getAttribute('aria-expanded') !== 'true'),
    },
    icon('menu'),
    'Menu',
  )
  function setOpen(isOpen: boolean): void {
    toggle.setAttribute('aria-expanded', String(isOpen))
    element.classList.toggle('nav-open', isOpen)
  }
  const skip = h(
    'a',
    {
      class: 'skip',
      href: '#main',
      onclick: (event: Event) => {
        event.preventDefault() // the fragment holds the view
        main.focus()
      },
    },
    'Skip to content',
  )
  const element = h('div.frame', skip, h('header.side', h('div.brand', logo(), h('span', 'Stint')), toggle, menu), main)
  return {
    element,
    /** Makes the links to runs, metrics and exceptions keep the current process and range. */
    keep(params: URLSearchParams) {
      const kept = new URLSearchParams([...params].filter(([name]) => KEPT.includes(name)))
      for (const page of OVER_TIME)
        menu.querySelector(`a[data-page="${page}"]`)?.setAttribute('href', formatRoute(page, kept))
    },
    /** Shows a page; `entry` is its entry in the navigation. */
    show(entry: string, page: HTMLElement) {
      setOpen(false)
      for (const anchor of menu.querySelectorAll('a[data-page]')) {
        if (anchor.getAttribute('data-page') === entry) anchor.setAttribute('aria-current', 'page')
        else anchor.removeAttribute('aria-current')
      }
      fill(main, page)
    },
  }
}
