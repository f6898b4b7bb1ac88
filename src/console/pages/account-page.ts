// The Account page: password, sessions, sign-out and deletion.
import type { SessionEntry, Sessions } from '../../wire/sessions.ts'
import { ApiError } from '../kit/api.ts'
import { actionColumn, createDataTable, rowAction } from '../kit/data-table.ts'
import { confirmAction, createAsk, KEEP_OPEN } from '../kit/dialog.ts'
import { button, h, note } from '../kit/dom.ts'
import { createField, createForm } from '../kit/form.ts'
import { formatAgo, formatFullDay, parseTime, timeElement } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'

const EVERY_MS = 15_000

export function openAccountPage(app: App): Page {
  const { api, account } = app
  const region = createRegion()
  const signOut = button('Sign out', () => void endSession())
  const table = createDataTable<SessionEntry>({
    caption: 'Sessions',
    nowMs: app.nowMs,
    columns: [
      {
        label: 'Browser',
        cell: ({ user_agent, current }) => [
          h('span', { title: user_agent }, describeAgent(user_agent), ' '),
          current && h('span.badge.badge-good', 'this browser'),
        ],
      },
      { label: 'Last seen', cell: ({ last_seen_at }) => timeElement(last_seen_at, ago(last_seen_at)) },
      { label: 'Signed in', isExtra: true, cell: ({ created_at }) => timeElement(created_at, ago(created_at)) },
      {
        label: 'Expires',
        isExtra: true,
        cell: ({ expires_at }) => timeElement(expires_at, formatFullDay(parseTime(expires_at))),
      },
      actionColumn(true, (session) => [
        !session.current &&
          rowAction('Sign out', `session of ${describeAgent(session.user_agent)}`, () => askForEnd(session)),
      ]),
    ],
  })
  const ago = (at: string) => formatAgo(parseTime(at), app.nowMs())
  const poll = createPoll({
    everyMs: () => EVERY_MS,
    ask: (signal) => api.get<Sessions>('api/sessions', {}, signal),
    show({ sessions }) {
      table.show(sessions)
      region.ready(app.nowMs(), table.element)
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })

  const ask = createAsk(app, () => poll.now())

  async function endSession(): Promise<void> {
    try {
      await api.send('DELETE', 'api/session')
      app.signedOut()
    } catch (error) {
      region.fail(error, () => void endSession())
    }
  }

  function askForEnd({ id, user_agent }: SessionEntry): void {
    ask({
      title: 'Sign out this browser?',
      text: [`${describeAgent(user_agent)} has to sign in again.`],
      submitLabel: 'Sign out',
      danger: true,
      send: ['DELETE', `api/sessions/${encodeURIComponent(id)}`],
      done: 'Session ended.',
    })
  }

  function askForDeletion(): void {
    const password = createField('password', 'Password', { type: 'password', autocomplete: 'current-password' })
    const operator = createField('operator', 'E-mail address of the next operator', {
      type: 'email',
      autocomplete: 'off',
    })
    operator.element.hidden = true
    confirmAction({
      title: 'Delete account?',
      text: [
        'Its keys stop working at once, and everything they sent is deleted from the stores. This cannot be undone.',
        !hasPassword && 'You have no password: sign out, sign in again, and delete the account within five minutes.',
      ],
      fields: hasPassword ? [password, operator] : [operator],
      submitLabel: 'Delete account and data',
      danger: true,
      async submit() {
        const successor = operator.input.value.trim()
        try {
          await api.send('DELETE', 'api/account', {
            id: account.id,
            ...(hasPassword && { password: password.input.value }),
            ...(successor !== '' && { operator: successor }),
          })
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          if (error.code === 'operator_needed') operator.element.hidden = false
          const field =
            error.code === 'password_wrong' && hasPassword
              ? password
              : error.code === 'operator_needed'
                ? operator
                : undefined
          if (field === undefined) throw error
          field.fault(error.detail)
          field.input.focus()
          return KEEP_OPEN
        }
        return app.signedOut
      },
    })
  }

  const hasPassword = app.session.person.password
  const password = h(
    'section.card',
    { 'aria-labelledby': 'password-title' },
    h('h2', { id: 'password-title' }, 'Password'),
    passwordForm(app),
  )

  region.loading()
  return {
    element: h(
      'div.page',
      pageHeader('Account', account.operator ? `${account.email}, operator of this Stint` : account.email, signOut),
      h(
        'div.columns',
        hasPassword && password,
        app.may('owner') &&
          h(
            'section.card',
            { 'aria-labelledby': 'end-title' },
            h('h2', { id: 'end-title' }, 'Delete account'),
            note('Deletes the account, its keys and its data.'),
            button('Delete account', askForDeletion, { class: 'button button-danger' }),
          ),
      ),
      h('div.card.card-table', h('h2', 'Sessions'), region.element),
    ),
    show: () => poll.now(),
    close: () => poll.stop(),
  }
}

function passwordForm(app: App): HTMLFormElement {
  const current = createField('current_password', 'Current password', {
    type: 'password',
    autocomplete: 'current-password',
  })
  const next = createField(
    'new_password',
    'New password',
    { type: 'password', autocomplete: 'new-password' },
    'At least 8 characters. All other sessions end.',
  )
  const done = h('p.banner.banner-good', { role: 'status' }, '')
  done.hidden = true
  return createForm({
    fields: [current, next],
    more: [
      h('input', { type: 'text', name: 'username', autocomplete: 'username', value: app.account.email, hidden: true }),
      done,
    ],
    submitLabel: 'Change password',
    async submit() {
      done.hidden = true
      await app.api.send('POST', 'api/password', {
        current_password: current.input.value,
        new_password: next.input.value,
      })
      current.input.value = ''
      next.input.value = ''
      done.hidden = false
      done.textContent = 'Password changed. All other sessions have ended.'
    },
  })
}

/** `Chrome 156 on Linux`; the beginning of the header if it is not recognised. */
function describeAgent(userAgent: string): string {
  const [, name = '', version = ''] = /(Firefox|Edg|OPR|Chrome|Version|curl|stint)\/(\d+)/.exec(userAgent) ?? []
  const [system = ''] = /Windows|Android|iPhone|iPad|Mac OS|Linux/.exec(userAgent) ?? []
  const known: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', Version: 'Safari' }
  if (name === '') return userAgent.slice(0, 60) || 'Unknown'
  return [`${known[name] ?? name} ${version}`, system].filter((part) => part !== '').join(' on ')
}
