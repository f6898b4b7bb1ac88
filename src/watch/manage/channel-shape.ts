// A channel between the API and the store: its members are checked, and returned without their secrets.

import { KINDS } from '../../notify/channels/kinds.ts'
import {
  isHidden,
  keptElsewhere,
  membersOf,
  restoreHidden,
  shownMembers,
  targetMember,
} from '../../notify/channels/secrets.ts'
import type { StoredChannel } from '../../notify/notification.ts'
import { type Fault, Problem } from '../../problem.ts'
import {
  CHANNEL_KINDS,
  type ChannelKind,
  channelKind,
  HIDDEN,
  kindOfUrl,
  membersOfUrl,
} from '../../wire/channel-kinds.ts'
import {
  CHANNEL_MEMBERS,
  type ChangeChannel,
  type Channel,
  type ChannelMembers,
  type CreateChannel,
} from '../../wire/channels.ts'
import { hasFoldedLetters } from '../../wire/folded-letters.ts'
import { spanFaults } from '../conditions/span-faults.ts'
import { iso } from '../conditions/wording.ts'

const EMAIL = /^[^\s@<>()[\],;:"\\\u0000-\u001f\u007f]+@[^\s@<>()[\],;:"\\\u0000-\u001f\u007f]+\.[^\s@<>()[\],;:"\\]+$/

const ELSEWHERE = 'must be given again: the address is of another server, which gets no stored secret'

/** Changes name, members, filters and delay. Throws Problem `fields_invalid`. */
export function withChanges(channel: StoredChannel, body: Omit<ChangeChannel, 'enabled'>): StoredChannel {
  const { kind, settings } = channel
  const given = Object.entries(body).filter(([name]) => CHANNEL_MEMBERS.some((member) => member === name))
  const sent = Object.fromEntries(given.filter(([, value]) => value !== null)) as ChannelMembers
  const stored = membersOf(channel)
  const restored = restoreHidden(sent, stored, shownMembers(channel))
  const members = { ...stored, ...restored }
  for (const [name, value] of given) if (value === null) delete members[name as keyof ChannelMembers]
  const { [targetMember(kind)]: target = '', ...others } = members
  const changed: StoredChannel = {
    ...channel,
    name: body.name?.trim() ?? channel.name,
    target: String(target),
    settings: {
      ...settings,
      members: others,
      conditions: body.conditions === undefined ? settings.conditions : body.conditions,
      only_firing: body.only_firing ?? settings.only_firing,
      delay: body.delay === undefined ? settings.delay : body.delay,
    },
  }
  const errors = [...memberFaults(kind, members), ...spanFaults('/delay', changed.settings.delay)]
  const kept = keptElsewhere(channel, changed, sent).filter((name) => !errors.some((it) => it.pointer === `/${name}`))
  errors.push(...kept.map((name) => ({ pointer: `/${name}`, detail: ELSEWHERE })))
  if (kind === 'email' && changed.target !== channel.target && hasFoldedLetters(changed.target))
    errors.push({ pointer: '/to', detail: 'must have no letters that are read as others, such as a wide a' })
  if (errors.length === 0) errors.push(...(KINDS[kind].faults?.(changed) ?? []))
  if (errors.length > 0) throw new Problem('fields_invalid', 'The channel cannot be saved.', { errors })
  return changed
}

type Named = CreateChannel & { readonly kind: ChannelKind; readonly name: string }

/** The body with name and kind; without them they follow from its members. Throws Problem `fields_invalid`. */
export function withNameAndKind(body: CreateChannel): Named {
  const found = withKind(body)
  const { kind, to = '' } = found
  return { ...found, name: body.name?.trim() ?? (kind === 'email' ? to.slice(0, 100) : channelKind(kind).label) }
}

function withKind(body: CreateChannel): CreateChannel & { readonly kind: ChannelKind } {
  if (body.kind !== undefined) return { ...body, kind: body.kind }
  const { url, kind: _, ...others } = body
  const kind = url === undefined ? kindOfMembers(others) : kindOfUrl(url)
  if (kind !== undefined) return { ...others, ...(url !== undefined && membersOfUrl(kind, url)), kind }
  throw new Problem('fields_invalid', 'The channel cannot be saved.', {
    errors: [{ pointer: '/kind', detail: `is required without an address; one of ${CHANNEL_KINDS.join(', ')}` }],
  })
}

const kindOfMembers = (body: CreateChannel): ChannelKind | undefined =>
  CHANNEL_KINDS.find((kind) => channelKind(kind).required.every((member) => body[member] !== undefined))

function memberFaults(kind: StoredChannel['kind'], members: ChannelMembers): Fault[] {
  const { required, optional = [] } = channelKind(kind)
  const foreign = CHANNEL_MEMBERS.filter((name) => name in members && ![...required, ...optional].includes(name))
  const faults = [
    ...foreign.map((name) => ({ pointer: `/${name}`, detail: `does not belong to a channel of the kind ${kind}` })),
    ...required.filter((name) => !(name in members)).map((name) => ({ pointer: `/${name}`, detail: 'is required' })),
  ]
  if (faults.length > 0) return faults
  const hidden = Object.entries(members).filter(([, value]) => Object.values([value].flat()).some(isHidden))
  return [
    ...hidden.map(([name]) => ({ pointer: `/${name}`, detail: `${HIDDEN} keeps a stored secret, but none is stored` })),
    ...(members.to !== undefined && !EMAIL.test(String(members.to))
      ? [{ pointer: '/to', detail: 'must be an e-mail address' }]
      : []),
    ...(members.url !== undefined && !isHttpUrl(String(members.url))
      ? [{ pointer: '/url', detail: 'must be an http or https URL without user and password' }]
      : []),
  ]
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text) || text.includes(HIDDEN)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username + password === ''
}

/** The status of a receiver's answer, without its text, which may repeat the path of the URL. */
export const statusOf = (detail: string): string => detail.replace(/^((?:The receiver answered )?\d{3}) .*$/s, '$1')

export function answerChannel(channel: StoredChannel, nowUs: number, isViewer = false): Channel {
  const { id, name, kind, state, last, settings, createdUs } = channel
  const { conditions, only_firing, delay, former } = settings
  return {
    id,
    name,
    kind,
    ...(shownMembers(channel, isViewer) as Pick<Channel, 'url' | 'to' | 'headers' | 'token' | 'chat' | 'routing_key'>),
    conditions: conditions && [...conditions],
    only_firing,
    delay,
    state: state !== 'ok' ? state : last === null ? 'untested' : last.ok ? 'delivered' : 'failing',
    last: last && {
      at: iso(last.atUs),
      ok: last.ok,
      detail: isViewer ? statusOf(last.detail) : last.detail,
    },
    ...(former !== undefined && former.untilUs > nowUs && { former_until: iso(former.untilUs) }),
    created_at: iso(createdUs),
  }
}
