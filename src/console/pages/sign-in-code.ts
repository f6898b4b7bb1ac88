// The card for the command line: creates a one-time code, which is shown only once.
import type { SignInCode } from '../../wire/oidc.ts'
import { copyButton } from '../kit/copy-button.ts'
import { button, fill, h, note, setText } from '../kit/dom.ts'
import { formatClock, parseTime } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'
import { explain } from '../kit/region.ts'

export function signInCodeCard({ api, announce }: App): HTMLElement {
  const shown = h('div')
  const fault = h('p.field-fault', { role: 'alert' })

  async function create(): Promise<void> {
    setText(fault, '')
    try {
      const { code, expires_at } = await api.send<SignInCode>('POST', 'api/session/code')
      const until = formatClock(parseTime(expires_at))
      fill(
        shown,
        h(
          'div.secret',
          h('code.secret-text', { role: 'group', tabindex: 0, 'aria-label': 'One-time code' }, code),
          copyButton('Copy code', () => code),
          note(`Good once, until ${until}. It signs in as you: share it with no one.`),
        ),
      )
      announce('One-time code created.')
    } catch (error) {
      const { title, detail } = explain(error)
      setText(fault, `${title}. ${detail}`)
    }
  }

  return h(
    'section.card',
    { 'aria-labelledby': 'code-title' },
    h('h2', { id: 'code-title' }, 'Command line'),
    h(
      'p.muted',
      'Sign in there without a password: run ',
      h('code', 'stint account login --code'),
      ' and enter a code.',
    ),
    button('Create one-time code', () => void create()),
    shown,
    fault,
  )
}
