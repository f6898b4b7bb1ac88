// `stint channel …`: the channels that watches notify.
import { CONDITIONS, type Condition } from '../wire/alerts.ts'
import { CHANNEL_KINDS, type ChannelKind, channelKind, HIDDEN } from '../wire/channel-kinds.ts'
import type { ChangedChannel, Channel, Channels, NewChannel } from '../wire/channels.ts'
import { type Api, createApi } from './api.ts'
import { readCliConfig } from './config.ts'
import { formatTable } from './format-rows.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { collect, invalidArgument, type Program } from './program.ts'
import { oneLine, safeJson } from './safe-text.ts'

interface Options {
  readonly kind?: ChannelKind
  readonly chat?: string
  readonly header: string[]
  readonly condition: Condition[]
  readonly onlyFiring?: boolean
  readonly delay?: string
  readonly name?: string
  readonly enable?: boolean
  readonly disable?: boolean
  readonly json?: boolean
}

const JSON_OPTION = ['--json', 'print the answer as JSON'] as const
/** The token of telegram and ntfy, the routing key of pagerduty. Not an argument: other processes can read those. */
const SECRET = 'STINT_CHANNEL_SECRET'

export function register(program: Program, io: Io): void {
  const api = () => createApi(readCliConfig(io.env), io)
  const channel = program.command('channel').description('channels: where watches send notifications (scope manage)')

  channel
    .command('list')
    .description('list channels')
    .option(...JSON_OPTION)
    .action(async ({ json }: Options) => {
      const { channels } = await list(api())
      if (json) io.stdout.write(`${safeJson({ channels }, 2)}\n`)
      else if (channels.length === 0) io.stderr.write('No channels.\n')
      else io.stdout.write(formatTable(['ID', 'STATE', 'KIND', 'NAME', 'ADDRESS', 'LAST ANSWER'], channels.map(toRow)))
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
      const { changed } = (await api().askWithKey('PATCH', `/api/channels/${id}`, body)).body as ChangedChannel
      io.stderr.write(changed ? `Channel ${oneLine(which)} changed.\n` : 'Nothing to change.\n')
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
  const api = () => createApi(readCliConfig(io.env), io)
  withOptions(command)
    .description('create a channel, which watches notify')
    .argument('<name>', 'name of the channel')
    .argument('[address]', 'an e-mail address, or the URL of a webhook')
    .option('--kind <kind>', `${CHANNEL_KINDS.join(', ')}; default: by the address, email or webhook`, parseKind)
    .option(...JSON_OPTION)
    .action(async (name: string, address: string | undefined, options: Options) => {
      const { kind = /^https?:/i.test(address ?? '') ? 'webhook' : 'email', json } = options
      const body = { name, kind, ...toMembers(kind, address, options, io.env[SECRET]) }
      const { channel } = (await api().askWithKey('POST', '/api/channels', body)).body as NewChannel
      if (json) {
        io.stdout.write(`${safeJson({ channel }, 2)}\n`)
        return
      }
      io.stdout.write(`${channel.id}\n`)
      if (channel.secret !== undefined)
        io.stderr.write(`Signing secret, shown only this once: ${oneLine(channel.secret)}\n`)
      if (channel.state === 'pending')
        io.stderr.write('Open the link in the e-mail that was sent to confirm the address.\n')
    })
}

export function defineTestChannel(command: Program, io: Io): void {
  const api = () => createApi(readCliConfig(io.env), io)
  command
    .description('send a test notification')
    .argument('<channel>', 'name or id of a channel')
    .action(async (which: string) => {
      const { id } = await find(api(), which)
      const { detail } = (await api().askWithKey('POST', `/api/channels/${id}/test`)).body as { detail: string }
      io.stderr.write(`Delivered: ${oneLine(detail)}\n`)
    })
}

const withOptions = (command: Program) =>
  command
    .option('--chat <chat>', `telegram: id of the chat, or @channel; the bot's token is read from ${SECRET}`)
    .option('--header <header>', 'webhook: "Name: value", sent with each notification; may be repeated', collect, [])
    .option('--condition <name>', 'only alerts of this condition; may be repeated', collectCondition, [])
    .option('--only-firing', 'no notification when an alert ends')
    .option('--delay <span>', 'only alerts that still fire after this span, such as 15m')

const list = async (api: Api) => (await api.askWithKey('GET', '/api/channels')).body as Channels

const find = async (api: Api, which: string): Promise<Channel> => (await findChannels(api, [which]))[0]!

export async function findChannels(api: Api, names: readonly string[]): Promise<Channels['channels']> {
  if (names.length === 0) return []
  const { channels } = await list(api)
  return names.map((which) => {
    const found = channels.find(({ id, name }) => id === which || name === which)
    if (found === undefined)
      throw new CliError(`no channel is called ${oneLine(which)}; create it with stint channel add`)
    return found
  })
}

/** The members of a request that were given. */
function toMembers(kind: ChannelKind, address: string | undefined, options: Options, secret: string | undefined) {
  const { chat, header, condition, onlyFiring, delay } = options
  const secretMember = channelKind(kind).secret?.find((member) => member !== 'url' && member !== 'headers')
  return {
    ...(address !== undefined && { [kind === 'email' ? 'to' : 'url']: address }),
    ...(secret !== undefined && secretMember !== undefined && { [secretMember]: secret }),
    ...(chat !== undefined && { chat }),
    ...(header.length > 0 && { headers: Object.fromEntries(header.map(parseHeader)) }),
    ...(condition.length > 0 && { conditions: condition }),
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

function collectCondition(text: string, before: Condition[]): Condition[] {
  const condition = CONDITIONS.find((known) => known === text)
  if (condition !== undefined) return [...before, condition]
  throw invalidArgument(`Expected ${CONDITIONS.join(', ')}.`)
}

function parseKind(text: string): ChannelKind {
  const kind = CHANNEL_KINDS.find((known) => known === text)
  if (kind !== undefined) return kind
  throw invalidArgument(`Expected ${CHANNEL_KINDS.join(', ')}.`)
}
