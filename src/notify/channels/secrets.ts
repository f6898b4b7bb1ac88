// The secret parts of a channel, and what responses contain instead.

import { type ChannelKind, type ChannelMember, channelKind, HIDDEN } from '../../wire/channel-kinds.ts'
import type { ChannelMembers } from '../../wire/channels.ts'
import type { StoredChannel } from '../notification.ts'

const SECRET_CHARACTERS = 7

/** The member that is stored as the channel's target; empty if it was omitted. */
export const targetMember = (kind: ChannelKind): 'to' | 'url' => (kind === 'email' ? 'to' : 'url')

export const membersOf = ({ kind, target, settings }: StoredChannel): ChannelMembers => ({
  ...(target !== '' && { [targetMember(kind)]: target }),
  ...settings.members,
})

/** The members as they are returned. A viewer sees no path of a URL: many services keep a token in it. */
export function shownMembers(channel: StoredChannel, isViewer = false): ChannelMembers {
  const { secret = [] } = channelKind(channel.kind)
  const show = ([name, value]: [string, ChannelMembers[ChannelMember]]) => {
    const isSecret = secret.includes(name as ChannelMember)
    if (typeof value === 'object') return [name, isSecret ? hideValues(value) : value]
    if (name === 'url') return [name, isSecret || isViewer ? `${new URL(value!).origin}/${HIDDEN}` : hideQuery(value!)]
    return [name, isSecret ? HIDDEN : value]
  }
  return Object.fromEntries(Object.entries(membersOf(channel)).map(show))
}

const hideValues = (record: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.keys(record).map((name) => [name, HIDDEN]))

/** Receivers often know their callers by a parameter. */
const hideQuery = (url: string): string => url.replace(/([?&][^=&#]*=)[^&#]+/g, `$1${HIDDEN}`)

/** Stored values where HIDDEN was sent back. */
export function restoreHidden(sent: ChannelMembers, stored: ChannelMembers, shown: ChannelMembers): ChannelMembers {
  const restore = ([name, value]: [string, ChannelMembers[ChannelMember]]) => {
    const known = stored[name as ChannelMember]
    if (typeof value === 'object' && typeof known === 'object')
      return [name, Object.fromEntries(Object.entries(value).map(([k, v]) => [k, v === HIDDEN ? (known[k] ?? v) : v]))]
    return [name, typeof value === 'string' && value === shown[name as ChannelMember] ? known : value]
  }
  return Object.fromEntries(Object.entries(sent).map(restore))
}

/** The address of a kind whose `url` is omitted. Not in src/wire's table, which the console's bundle includes. */
const VENDORS: { readonly [K in ChannelKind]?: string } = {
  telegram: 'https://api.telegram.org',
  pagerduty: 'https://events.pagerduty.com/v2/enqueue',
}

/** The URL, or the vendor's address if it was omitted. */
export const serverOf = ({ kind, target }: StoredChannel): string => target || (VENDORS[kind] ?? '')

/**
 * The secret members that a change to another server would send there although it does not give them: who may change a
 * channel cannot read its secrets. The secret that signs is never sent itself.
 */
export function keptElsewhere(before: StoredChannel, after: StoredChannel, sent: ChannelMembers): ChannelMember[] {
  if (originOf(before) === originOf(after)) return []
  const { url: _, ...stored } = membersOf(after)
  return (channelKind(after.kind).secret ?? []).filter((name) => {
    const value = stored[name as keyof typeof stored]
    return value !== undefined && (sent[name] === undefined ? hasValue(value) : isHidden(sent[name]))
  })
}

/** Scheme, host and port. */
const originOf = (channel: StoredChannel): string => {
  const server = serverOf(channel)
  return URL.canParse(server) ? new URL(server).origin : ''
}

const hasValue = (value: string | object): boolean => typeof value === 'string' || Object.keys(value).length > 0

export const isHidden = (value: ChannelMembers[ChannelMember]): boolean =>
  typeof value === 'object' ? Object.values(value).includes(HIDDEN) : value === HIDDEN

/** What must not appear in an answer that is shown: values, and their parts. Short ones would hide ordinary words. */
export function secretsOf(channel: StoredChannel): string[] {
  const { secret = [] } = channelKind(channel.kind)
  const { url, ...members } = membersOf(channel)
  const signing = [channel.secret ?? '', channel.settings.former?.secret ?? '']
  const values = secret.flatMap((name) => Object.values([name === 'url' ? url : members[name as 'token']].flat()))
  const flat = values.flatMap((value) => (typeof value === 'object' ? Object.values(value) : (value ?? [])))
  const { pathname, searchParams } = new URL(URL.canParse(String(url)) ? String(url) : 'http://x/')
  if (secret.includes('url')) flat.push(pathname)
  return [...flat, ...flat.flatMap((text) => text.split(/[\s:/]+/)), ...searchParams.values(), ...signing]
    .filter((text) => text.length >= SECRET_CHARACTERS)
    .sort((a, b) => b.length - a.length)
}
