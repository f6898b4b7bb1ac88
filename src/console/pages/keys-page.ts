// API keys: which there are and when each was last used; making, rotating and revoking them, each asked for first.
import type { IssuedKey, Key } from '../kit/answers.ts'
import { createDataTable } from '../kit/data-table.ts'
import { confirmAction, openDialog } from '../kit/dialog.ts'
import { type Child, h } from '../kit/dom.ts'
import { createField } from '../kit/form.ts'
import { plural } from '../kit/format-number.ts'
import { formatAgo, formatFullDay, formatMoment, parseTime, timeElement } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'
import { keyReveal } from './welcome-page.ts'

const EVERY_MS = 10_000

export function openKeysPage(app: App): Page {
  const { api } = app
  const region = createRegion()
  const table = createDataTable<Key>({
    caption: 'API keys',
    keyOf: ({ id }) => id,
    signatureOf: (key) => JSON.stringify(key) + Math.floor(app.nowMs() / 60_000),
    columns: [
      { label: 'Name', cell: ({ name, prefix }) => [h('strong', {}, name), h('code', { class: 'sub' }, `${prefix}…`)] },
      {
        label: 'May',
        isMinor: true,
        cell: ({ scopes }) => scopes.map((scope) => h('span', { class: 'badge' }, scope)),
      },
      { label: 'Last used', isMinor: true, cell: ({ last_used_at }) => ago(last_used_at, 'never') },
      {
        label: 'Made',
        isExtra: true,
        cell: ({ created_at }) => timeElement(created_at, formatFullDay(parseTime(created_at))),
      },
      { label: 'State', cell: (key) => stateOf(key, app.nowMs()).badge },
      { label: 'Actions', isSilent: true, cell: (key) => (stateOf(key, app.nowMs()).isOver ? null : actions(key)) },
    ],
  })
  const card = h('div', { class: 'card card-table' }, table.element)
  const poll = createPoll({
    everyMs: () => EVERY_MS,
    ask: (signal) => api.get<{ keys: Key[] }>('api/keys', {}, signal),
    show({ keys }) {
      table.show(keys)
      if (keys.length > 0) return region.ready(app.nowMs(), card)
      region.empty(app.nowMs(), 'No key', h('p', { class: 'muted' }, 'Without one nothing can be sent.'), create())
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })

  const ago = (at: string | null, never: string): Child =>
    at === null ? h('span', { class: 'muted' }, never) : timeElement(at, formatAgo(parseTime(at), app.nowMs()))
  const create = () => h('button', { type: 'button', class: 'button button-main', onclick: askForNew }, 'Make a key')
  const actions = (key: Key) =>
    h(
      'div',
      { class: 'button-row' },
      action('Rotate', key, () => askForRotation(key)),
      action('Revoke', key, () => askForRevocation(key)),
    )

  function reveal(title: string, key: IssuedKey): void {
    poll.now()
    app.announce(title)
    const done = h(
      'button',
      { type: 'button', class: 'button button-main', onclick: () => dialog.close() },
      'I have kept it',
    )
    const dialog = openDialog(title, [keyReveal(key), h('div', { class: 'form-buttons' }, done)])
  }

  function askForNew(): void {
    const name = createField(
      'name',
      'Name',
      { required: true, maxlength: 100 },
      'What you tell your keys apart by: nightly import.',
    )
    const write = h('input', { type: 'checkbox', checked: true, name: 'write' })
    const read = h('input', { type: 'checkbox', name: 'read' })
    confirmAction({
      title: 'Make a key',
      text: [
        h(
          'fieldset',
          { class: 'checks' },
          h('legend', {}, 'It may'),
          h('label', {}, write, ' write: send marks, metrics and exceptions'),
          h('label', {}, read, ' read: ask what was sent'),
        ),
      ],
      fields: [name],
      submitLabel: 'Make the key',
      async submit() {
        const scopes = [...(write.checked ? ['write'] : []), ...(read.checked ? ['read'] : [])]
        const { key } = await api.send<{ key: IssuedKey }>('POST', 'api/keys', { name: name.input.value, scopes })
        return () => reveal('The new key', key)
      },
    })
  }

  function askForRotation(key: Key): void {
    const hours = createField(
      'overlap_seconds',
      'The old one goes on working for (hours)',
      { type: 'number', min: 0, max: 720, step: 1, value: 24 },
      '0 ends it at once; at most 720 hours (30 days).',
    )
    confirmAction({
      title: `Rotate ${key.name}?`,
      text: [
        h(
          'p',
          {},
          'You get a new key of the same name that may do the same. Change your callers to it while the old one still works.',
        ),
      ],
      fields: [hours],
      submitLabel: 'Rotate',
      async submit() {
        const overlap_seconds = Math.round(Number(hours.input.value) * 3600)
        const { key: made } = await api.send<{ key: IssuedKey }>('POST', `api/keys/${key.id}/rotate`, {
          overlap_seconds,
        })
        return () => reveal('The new key', made)
      },
    })
  }

  function askForRevocation(key: Key): void {
    confirmAction({
      title: `Revoke ${key.name}?`,
      text: [
        h(
          'p',
          {},
          'Whoever uses it is refused from the next request on, and nothing that they send is kept. This cannot be taken back.',
        ),
        h(
          'p',
          { class: 'muted' },
          key.last_used_at === null
            ? 'It was never used.'
            : `It was last used ${formatAgo(parseTime(key.last_used_at), app.nowMs())}.`,
        ),
      ],
      submitLabel: 'Revoke the key',
      danger: true,
      async submit() {
        await api.send('DELETE', `api/keys/${key.id}`)
        return () => {
          poll.now()
          app.announce('The key is revoked.')
        }
      },
    })
  }

  region.loading()
  return {
    element: h(
      'div',
      { class: 'page' },
      pageHeader('Keys', 'What your callers prove themselves by. Only a digest of each is kept.', create()),
      region.element,
    ),
    show: () => poll.now(),
    close: () => poll.stop(),
  }
}

const action = (label: string, { name }: Key, act: () => void) =>
  h('button', { type: 'button', class: 'button button-small', 'aria-label': `${label} ${name}`, onclick: act }, label)

function stateOf({ expires_at, revoked_at }: Key, nowMs: number): { isOver: boolean; badge: HTMLElement } {
  if (revoked_at !== null) return { isOver: true, badge: h('span', { class: 'badge badge-off' }, 'revoked') }
  if (expires_at === null) return { isOver: false, badge: h('span', { class: 'badge badge-good' }, 'works') }
  const leftMs = parseTime(expires_at) - nowMs
  if (leftMs <= 0) return { isOver: true, badge: h('span', { class: 'badge badge-off' }, 'ended') }
  const left =
    leftMs > 3_600_000 ? plural(Math.round(leftMs / 3_600_000), 'hour') : plural(Math.ceil(leftMs / 60_000), 'minute')
  return {
    isOver: false,
    badge: h(
      'span',
      { class: 'badge badge-warn', title: formatMoment(parseTime(expires_at), nowMs) },
      `ends in ${left}`,
    ),
  }
}
