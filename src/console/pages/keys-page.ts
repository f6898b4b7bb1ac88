// API keys: list, create, rotate and revoke, each after a confirmation.
import type { IssuedKey, Key, KeyAnswer, Keys } from '../../wire/keys.ts'
import type { Scope } from '../../wire/roles.ts'
import { actionColumn, createDataTable, rowAction } from '../kit/data-table.ts'
import { confirmAction, createAsk, revealOnce } from '../kit/dialog.ts'
import { button, type Child, h, note } from '../kit/dom.ts'
import { createField } from '../kit/form.ts'
import { plural } from '../kit/format-number.ts'
import { agoElement, formatAgo, formatFullDay, formatMoment, parseTime, timeElement } from '../kit/format-time.ts'
import { type App, type Page, pageHeader } from '../kit/page.ts'
import { createPoll } from '../kit/poll.ts'
import { createRegion } from '../kit/region.ts'
import { keyReveal } from './welcome-page.ts'

const EVERY_MS = 10_000

const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  write: 'send runs, metrics and exceptions',
  read: 'query what was sent',
  manage: 'change watches, channels and keys',
  ping: 'only send pings; the key is part of the URL, so it can have no other permission',
}

export function openKeysPage(app: App): Page {
  const { api } = app
  const region = createRegion()
  const table = createDataTable<Key>({
    caption: 'API keys',
    nowMs: app.nowMs,
    columns: [
      { label: 'Name', cell: ({ name, prefix }) => [h('strong', name), h('code.sub', `${prefix}…`)] },
      {
        label: 'Permissions',
        isMinor: true,
        cell: ({ scopes }) => scopes.map((scope) => h('span.badge', scope)),
      },
      { label: 'Last used', isMinor: true, cell: ({ last_used_at }) => ago(last_used_at, 'never') },
      {
        label: 'Created',
        isExtra: true,
        cell: ({ created_at }) => timeElement(created_at, formatFullDay(parseTime(created_at))),
      },
      { label: 'Created by', isExtra: true, cell: ({ creator }) => creatorOf(creator) },
      { label: 'State', cell: (key) => stateOf(key, app.nowMs()).badge },
      actionColumn(app.may('member'), (key) =>
        stateOf(key, app.nowMs()).isOver
          ? []
          : [
              rowAction('Rotate', key.name, () => askForRotation(key)),
              rowAction('Revoke', key.name, () => askForRevocation(key)),
            ],
      ),
    ],
  })
  const creatorOf = (creator: Key['creator']): Child =>
    creator === null ? '–' : h('span', creator.email, ' ', creator.id === null && h('span.badge.badge-warn', 'left'))
  const others = !app.may('owner') && note('Only owners see the keys of others.')
  const card = h('div.card.card-table', table.element, others)
  const poll = createPoll({
    everyMs: () => EVERY_MS,
    ask: (signal) => api.get<Keys>('api/keys', {}, signal),
    show({ keys }) {
      table.show(keys)
      if (keys.length > 0) return region.ready(app.nowMs(), card)
      const why = note('Your code needs one to send events.')
      region.empty(app.nowMs(), others ? 'No keys of yours' : 'No keys', why, others, app.may('member') && create())
    },
    fail: (error) => region.fail(error, () => poll.now()),
  })

  const ask = createAsk(app, () => poll.now())
  const ago = (at: string | null, never: string): Child =>
    at === null ? h('span.muted', never) : agoElement(at, app.nowMs())
  const create = () => button('Create key', askForNew, { class: 'button button-main' })

  function reveal(title: string, key: IssuedKey): void {
    poll.now()
    app.announce(title)
    revealOnce(title, [keyReveal(key)], { keep: 'Save the key first: it is not shown again.' })
  }

  function askForNew(): void {
    const name = createField(
      'name',
      'Name',
      { required: true, maxlength: 100 },
      'Where it is used, for example: nightly import.',
    )
    const scopes = createScopeChoice()
    confirmAction({
      title: 'Create key',
      text: [scopes.element],
      fields: [name],
      submitLabel: 'Create key',
      async submit() {
        const body = { name: name.input.value, scopes: scopes.chosen() }
        const { key } = await api.send<KeyAnswer>('POST', 'api/keys', body)
        return () => reveal('New key', key)
      },
    })
  }

  function askForRotation(key: Key): void {
    const hours = createField(
      'overlap_seconds',
      'Keep the old key valid for (hours)',
      { type: 'number', required: true, min: 0, max: 720, step: 1, value: 24 },
      '0 invalidates it at once; at most 720 hours (30 days).',
    )
    confirmAction({
      title: `Rotate ${key.name}?`,
      text: [
        'You get a new key with the same name and permissions. Switch your code to it while the old one is valid.',
      ],
      fields: [hours],
      submitLabel: 'Rotate',
      async submit() {
        const overlap_seconds = Math.round(Number(hours.input.value) * 3600)
        const { key: made } = await api.send<KeyAnswer>('POST', `api/keys/${key.id}/rotate`, {
          overlap_seconds,
        })
        return () => reveal('New key', made)
      },
    })
  }

  function askForRevocation(key: Key): void {
    ask({
      title: `Revoke ${key.name}?`,
      text: [
        'Requests with this key are refused from now on, and their events are lost. This cannot be undone.',
        note(
          key.last_used_at === null
            ? 'Never used.'
            : `Last used ${formatAgo(parseTime(key.last_used_at), app.nowMs())}.`,
        ),
      ],
      submitLabel: 'Revoke key',
      danger: true,
      send: ['DELETE', `api/keys/${key.id}`],
      done: 'Key revoked.',
    })
  }

  region.loading()
  return {
    element: h(
      'div.page',
      pageHeader('Keys', 'Keys your code sends with. Only a hash is stored.', app.may('member') && create()),
      region.element,
    ),
    show: () => poll.now(),
    close: () => poll.stop(),
  }
}

/** A checkbox per permission. Checking `ping` disables the others: the server refuses combinations. */
function createScopeChoice(): { readonly element: HTMLElement; chosen(): Scope[] } {
  const boxes = (Object.keys(SCOPE_TEXTS) as Scope[]).map((scope) => ({
    scope,
    box: h('input', { type: 'checkbox', name: scope, checked: scope === 'write' }),
  }))
  const ping = boxes.find(({ scope }) => scope === 'ping')!.box
  ping.addEventListener('change', () => {
    for (const { box } of boxes) box.disabled = ping.checked && box !== ping
  })
  const labels = boxes.map(({ scope, box }) => h('label', box, ` ${scope}: ${SCOPE_TEXTS[scope]}`))
  return {
    element: h('fieldset.checks', h('legend', 'Permissions'), ...labels),
    chosen: () => boxes.filter(({ box }) => box.checked && !box.disabled).map(({ scope }) => scope),
  }
}

function stateOf({ expires_at, revoked_at }: Key, nowMs: number): { isOver: boolean; badge: HTMLElement } {
  if (revoked_at !== null) return { isOver: true, badge: h('span.badge.badge-off', 'revoked') }
  if (expires_at === null) return { isOver: false, badge: h('span.badge.badge-good', 'active') }
  const leftMs = parseTime(expires_at) - nowMs
  if (leftMs <= 0) return { isOver: true, badge: h('span.badge.badge-off', 'expired') }
  const left =
    leftMs > 3_600_000 ? plural(Math.round(leftMs / 3_600_000), 'hour') : plural(Math.ceil(leftMs / 60_000), 'minute')
  return {
    isOver: false,
    badge: h('span.badge.badge-warn', { title: formatMoment(parseTime(expires_at), nowMs) }, `expires in ${left}`),
  }
}
