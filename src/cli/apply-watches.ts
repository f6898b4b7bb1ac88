// `stint watch apply`: creates or changes watches and channels until the server has the content of a file. They are
// identified by their names, trimmed as on the server, which must be unique in the file. The server decides whether one
// changed: it normalises some values, and does not return secrets.

import { type ChannelKind, channelKind } from '../wire/channel-kinds.ts'
import type { ChangedChannel, Channels, CreateChannel, NewChannel } from '../wire/channels.ts'
import { CONDITIONS, DEFAULT_GRACE } from '../wire/conditions.ts'
import type { CreateWatch, Watch, WatchAnswer, Watches } from '../wire/watches.ts'
import { describeNextDue } from '../wire/words.ts'
import { type Api, Refusal } from './api.ts'
import { CliError, EXIT_USAGE } from './io.ts'

type NamedChannel = CreateChannel & { readonly name: string }

interface WatchFile {
  readonly channels: readonly NamedChannel[]
  /** `channels` holds names. */
  readonly watches: readonly CreateWatch[]
}

export interface Applied {
  readonly action: 'created' | 'changed' | 'deleted'
  readonly what: string
  /** Only for a new webhook. */
  readonly secret?: string
  /** When a cron expression without a zone is due. */
  readonly due?: string
}

/** Throws CliError. The server checks the rest. */
export function parseWatchFile(text: string): WatchFile {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch (cause) {
    throw new CliError(`the file is not valid JSON: ${(cause as Error).message}`, EXIT_USAGE, { cause })
  }
  const { channels = [], watches = [], ...others } = (file ?? {}) as Record<string, unknown>
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined)
    throw new CliError(`the file has a member ${unknown}; it takes channels and watches`, EXIT_USAGE)
  const named = readNamed<NamedChannel>('channels', channels)
  const empty = named.flatMap((channel) => {
    const members = Object.keys(channel).filter((member) => channel[member as keyof CreateChannel] === '')
    return members.length === 0 ? [] : [`${members.join(' and ')} of channel ${channel.name}`]
  })
  if (empty.length > 0) throw new CliError(`fill in, in the file: ${empty.join(', ')}`, EXIT_USAGE)
  return {
    channels: named,
    watches: readNamed<CreateWatch>('watches', watches),
  }
}

function readNamed<T extends { readonly name: string }>(member: string, list: unknown): T[] {
  const isNamed = (item: { name?: unknown } | null): item is T => typeof item?.name === 'string'
  if (!Array.isArray(list) || !list.every(isNamed))
    throw new CliError(`${member} must be a list of objects with a name`, EXIT_USAGE)
  const named = list.map((item) => ({ ...item, name: item.name.trim() }))
  const twice = named.find(({ name }, i) => named.findIndex((other) => other.name === name) !== i)
  if (twice !== undefined) throw new CliError(`${member} names ${twice.name} twice`, EXIT_USAGE)
  return named
}

/** Throws CliError at the first refusal, which names the channel or watch; what was applied before stays. */
export async function applyWatches(api: Api, file: WatchFile, prune: boolean): Promise<Applied[]> {
  const done: Applied[] = []
  const ids = new Map<string, string>()
  const change = async <T>(
    what: string,
    ...call: readonly [method: string, path: string, body: unknown]
  ): Promise<T> => {
    try {
      return await api.askWithKey<T>(...call)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      throw new Refusal(`${what}: ${error.message}`, error.code)
    }
  }
  const { channels } = await api.askWithKey<Channels>('GET', '/api/channels')
  for (const known of channels) ids.set(known.name, known.id)
  for (const wanted of file.channels) {
    const known = channels.find(({ name }) => name === wanted.name)
    if (known === undefined) {
      const { channel } = await change<NewChannel>(`channel ${wanted.name}`, 'POST', '/api/channels', wanted)
      ids.set(channel.name, channel.id)
      const { secret } = channel
      done.push({ action: 'created', what: `channel ${wanted.name}`, ...(secret !== undefined && { secret }) })
    } else {
      const { kind, ...rest } = wanted
      if (kind !== undefined && known.kind !== kind)
        throw new CliError(`channel ${wanted.name} is of the kind ${known.kind}; delete it first, or use another name`)
      const body = { ...PLAIN, ...optionalMembers(known.kind), ...rest }
      const path = `/api/channels/${known.id}`
      const { changed } = await change<ChangedChannel>(`channel ${wanted.name}`, 'PATCH', path, body)
      if (changed) done.push({ action: 'changed', what: `channel ${wanted.name}` })
    }
  }
  const { watches } = await api.askWithKey<Watches>('GET', '/api/watches')
  for (const named of file.watches) {
    const what = `watch ${named.name}`
    const wanted = { ...EMPTY, ...named, channels: (named.channels ?? []).map((name) => idOf(ids, name)) }
    const known = watches.find(({ name }) => name === named.name)
    if (known === undefined) {
      const { watch } = await change<WatchAnswer>(what, 'POST', '/api/watches', wanted)
      done.push({ action: 'created', what, ...dueOf(watch) })
    } else if (isOtherWatch(known, wanted)) {
      const { watch } = await change<WatchAnswer>(what, 'PATCH', `/api/watches/${known.id}`, wanted)
      if (isOtherWatch(known, { ...watch, state: known.state, next_due: known.next_due }))
        done.push({ action: 'changed', what, ...dueOf(watch) })
    }
  }
  if (!prune) return done
  for (const { id, name } of watches.filter((known) => !file.watches.some((wanted) => wanted.name === known.name))) {
    await api.askWithKey('DELETE', `/api/watches/${id}`)
    done.push({ action: 'deleted', what: `watch ${name}` })
  }
  return done
}

function dueOf({ late, next_due }: Watch): { due?: string } {
  const due = describeNextDue(late, next_due)
  return due === undefined ? {} : { due }
}

/** A member that the file leaves out is absent on the server, too. A pause is nothing that a file decides. */
const EMPTY = Object.fromEntries(['meta', 'remind', ...CONDITIONS].map((member) => [member, null]))

function idOf(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(String(name).trim())
  if (id === undefined) throw new CliError(`no channel is called ${name}`)
  return id
}

/** Filters and delay of a channel that names none. */
const PLAIN = { conditions: null, only_firing: false, delay: null }

/** Removes what the file omits. */
const optionalMembers = (kind: ChannelKind) =>
  Object.fromEntries((channelKind(kind).optional ?? []).map((member) => [member, null]))

function isOtherWatch(known: Watch, wanted: CreateWatch | Watch): boolean {
  const full = {
    ...wanted,
    late: wanted.late && { ...wanted.late, grace: wanted.late.grace ?? DEFAULT_GRACE },
    failed: wanted.failed && { after: wanted.failed.after ?? 1, exceptions: wanted.failed.exceptions ?? false },
  }
  return Object.entries(full).some(([member, value]) => !Bun.deepEquals(known[member as keyof Watch], value))
}
