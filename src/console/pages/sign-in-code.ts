// The card for the command line: creates a one-time code, which is shown only once.
import type { SignInCode } from '../../wire/oidc.ts'
import { secretBox } from '../kit/dialog.ts'
import { button, fill, h, note } from '../kit/dom.ts'
import { formatClock, parseTime } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'
import { createAttempt } from '../kit/region.ts'

export function signInCodeCard({ api, announce }: App): HTMLElement {
  const shown = h('div')
  const { fault, attempt } = createAttempt()

  const create = () =>
    attempt(async () => {
      const { code, expires_at } = await api.send<SignInCode>('POST', 'api/session/code')
      const until = formatClock(parseTime(expires_at))
      fill(
        shown,
        secretBox(
          'One-time code',
          code,
          'Copy code',
          note(`Good once, until ${until}. It signs in as you: share it with no one.`),
        ),
      )
      announce('One-time code created.')
    })

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
