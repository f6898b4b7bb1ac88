// `stint channel …`: the channels that watches notify.

import { CHANNEL_KINDS, type ChannelKind, channelKind, HIDDEN, kindOfUrl, membersOfUrl } from '../wire/channel-kinds.ts'
import type { ChangedChannel, Channel, Channels, NewChannel, NewSecret } from '../wire/channels.ts'
import { CONDITIONS, type Condition } from '../wire/conditions.ts'
import { type Api, createApi } from './api.ts'
import { addList, findNamed, JSON_OPTION, type Json, oneOf, printJson } from './commands.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { collect, type Program } from './program.ts'
import { oneLine } from './safe-text.ts'

interface Options extends Json {
  readonly kind?: ChannelKind
  readonly chat?: string
  readonly header?: string[]
  readonly condition?: Condition[]
  readonly onlyFiring?: boolean
  readonly delay?: string
  readonly name?: string
  readonly enable?: boolean
  readonly disable?: boolean
  readonly test: boolean
}

/** The token of telegram and ntfy, the routing key of pagerduty. Not an argument: other processes can read those. */
const SECRET = 'STINT_CHANNEL_SECRET'

export function register(program: Program, io: Io): void {
  const api = () => createApi(io)
  const channel = program.command('channel').description('channels: where watches send notifications (scope manage)')

  addList(channel, io, {
    about: 'list channels',
    ask: () => list(api()),
    heads: ['ID', 'STATE', 'KIND', 'NAME', 'ADDRESS', 'LAST ANSWER'],
    rows: ({ channels }) => channels.map(toRow),
    empty: 'No channels.',
  })
  defineAddChannel(channel.command('add'), io)
  defineTestChannel(channel.command('test'), io)

  withOptions(channel.command('change'))
    .description('change a channel; only what is given changes')
    .argument('<channel>', 'name or id')
    .argument('[address]', 'new address')
    .option('--name <name>', 'new name')
    .option('--enable', 'use a disabled channel again')
    .option('--disable', 'send nothing to it')
    .action(async (which: string, address: string | undefined, options: Options) => {
      const { id, kind } = await find(api(), which)
      const body = {
        ...(options.name !== undefined && { name: options.name }),
        ...(options.enable && { enabled: true }),
        ...(options.disable && { enabled: false }),
        ...toMembers(kind, address, options, io.env[SECRET]),
      }
      if (Object.keys(body).length === 0) throw new CliError('nothing to change; see --help', EXIT_USAGE)
      const { changed } = await api().askWithKey<ChangedChannel>('PATCH', `/api/channels/${id}`, body)
      io.stderr.write(changed ? `Channel ${oneLine(which)} changed.\n` : 'Nothing to change.\n')
    })

  channel
    .command('secret')
    .description('replace the secret that signs a webhook; the one before it signs, too, for a day')
    .argument('<channel>', 'name or id')
    .action(async (which: string) => {
      const { id, name } = await find(api(), which)
      const made = await api().askWithKey<NewSecret>('POST', `/api/channels/${id}/secret`)
      io.stdout.write(`${made.channel.secret}\n`)
      io.stderr.write(`The secret of ${oneLine(name)} is shown only this once; `)
      io.stderr.write(`until ${made.channel.former_until} the one before it signs, too.\n`)
    })

  channel
    .command('rm')
    .description('delete a channel; watches no longer use it')
    .argument('<channel>', 'name or id')
    .action(async (which: string) => {
      const { id, name } = await find(api(), which)
      await api().askWithKey('DELETE', `/api/channels/${id}`)
      io.stderr.write(`Channel ${oneLine(name)} deleted.\n`)
    })
}

export function defineAddChannel(command: Program, io: Io): void {
  const api = () => createApi(io)
  withOptions(command)
    .description('create a channel, which watches notify, and test it; one of this name is changed instead')
    .argument('<name>', 'name of the channel')
    .argument('[address]', 'an e-mail address, or the URL that Slack, Discord, Teams, ntfy … gave you')
    .option('--kind <kind>', `${CHANNEL_KINDS.join(', ')}; default: by the address`, oneOf(CHANNEL_KINDS))
    .option('--no-test', 'send no test notification')
    .option(...JSON_OPTION)
    .action(async (name: string, address: string | undefined, options: Options) => {
      const channels = await listChannels(api())
      const isKnown = channels.some((channel) => channel.name === name)
      const known = isKnown ? findNamed('channel', name, channels) : undefined
      const kind = options.kind ?? kindOfAddress(address, options, io.env[SECRET])
      if (known !== undefined && kind !== known.kind)
        throw new CliError(
          `channel ${oneLine(name)} is of the kind ${known.kind}: delete it first, or use another name`,
        )
      const members = toMembers(kind, address, options, io.env[SECRET])
      const made =
        known === undefined
          ? await create(api(), { name, kind, ...members }, options.test)
          : await change(api(), known, members, options.test)
      if (options.json) return printJson(io, made)
      const { channel, test } = made
      io.stdout.write(`${channel.id}\n`)
      io.stderr.write(`Channel ${oneLine(name)} (${channel.kind}) ${known === undefined ? 'created' : 'changed'}.\n`)
      if (test !== undefined && channel.kind !== 'email') io.stderr.write(`Delivered: ${oneLine(test.detail)}\n`)
      if (channel.state === 'pending')
        io.stderr.write(
          channel.last?.ok === false
            ? `${oneLine(channel.last.detail)}\n`
            : 'Open the link in the e-mail that was sent to confirm the address.\n',
        )
      if (made.channel.secret !== undefined)
        io.stderr.write(`Signing secret, shown only this once: ${oneLine(made.channel.secret)}\n`)
    })
}

const create = (api: Api, body: object, isTested: boolean): Promise<NewChannel> =>
  api.askWithKey<NewChannel>('POST', `/api/channels${isTested ? '?test=true' : ''}`, body)

/** The address of an e-mail channel that did not change needs no other confirmation. */
async function change(api: Api, { id }: Channel, members: object, isTested: boolean): Promise<NewChannel> {
  const { channel } = await api.askWithKey<ChangedChannel>('PATCH', `/api/channels/${id}`, members)
  if (!isTested || channel.state === 'pending') return { channel }
  return { channel, test: await api.askWithKey<{ detail: string }>('POST', `/api/channels/${id}/test`) }
}

function kindOfAddress(address: string | undefined, { chat }: Options, secret: string | undefined): ChannelKind {
  if (address !== undefined) {
    if (/^https?:/i.test(address)) return kindOfUrl(address)
    if (address.includes('@')) return 'email'
  }
  if (chat !== undefined) return 'telegram'
  if (secret !== undefined) return 'pagerduty'
  throw new CliError(`give an address: the URL of a webhook, or an e-mail address; or --kind, see --help`, EXIT_USAGE)
}

export function defineTestChannel(command: Program, io: Io): void {
  const api = () => createApi(io)
  command
    .description('send a test notification')
    .argument('<channel>', 'name or id of a channel')
    .action(async (which: string) => {
      const { id } = await find(api(), which)
      const { detail } = await api().askWithKey<{ detail: string }>('POST', `/api/channels/${id}/test`)
      io.stderr.write(`Delivered: ${oneLine(detail)}\n`)
    })
}

const withOptions = (command: Program) =>
  command
    .option('--chat <chat>', `telegram: id of the chat, or @channel; the bot's token is read from ${SECRET}`)
    .option('--header <header>', 'webhook: "Name: value", sent with each notification; may be repeated', collect)
    .option('--condition <name>', 'only alerts of this condition; may be repeated', collectCondition)
    .option('--only-firing', 'no notification when an alert ends')
    .option('--delay <span>', 'only alerts that still fire after this span, such as 15m')

const list = (api: Api) => api.askWithKey<Channels>('GET', '/api/channels')

export const listChannels = async (api: Api): Promise<Channel[]> => (await list(api)).channels

const find = async (api: Api, which: string): Promise<Channel> => (await findChannels(api, [which]))[0]!

export async function findChannels(api: Api, names: readonly string[]): Promise<Channel[]> {
  if (names.length === 0) return []
  const { channels } = await list(api)
  return names.map((which) => findNamed('channel', which, channels, '; create it with stint channel add'))
}

/** The members of a request that were given. */
function toMembers(kind: ChannelKind, address: string | undefined, options: Options, secret: string | undefined) {
  const { chat, header, condition, onlyFiring, delay } = options
  const secretMember = channelKind(kind).secret?.find((member) => member !== 'url' && member !== 'headers')
  return {
    ...(address !== undefined && (kind === 'email' ? { to: address } : membersOfUrl(kind, address))),
    ...(secret !== undefined && secretMember !== undefined && { [secretMember]: secret }),
    ...(chat !== undefined && { chat }),
    ...(header !== undefined && { headers: Object.fromEntries(header.map(parseHeader)) }),
    ...(condition !== undefined && { conditions: condition }),
    ...(onlyFiring && { only_firing: true }),
    ...(delay !== undefined && { delay }),
  }
}

function parseHeader(text: string): [name: string, value: string] {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw new CliError('a --header is "Name: value"', EXIT_USAGE)
  return [name, value]
}

function toRow({ id, state, kind, name, to, url, chat, last }: Channel): string[] {
  return [id, state, kind, name, to ?? url ?? chat ?? HIDDEN, last?.detail ?? '']
}

const parseCondition = oneOf(CONDITIONS)
const collectCondition = (text: string, before: readonly Condition[] = []): Condition[] => [
  ...before,
  parseCondition(text),
]
