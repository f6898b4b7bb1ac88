// `stint import healthchecks`: turns a project of Healthchecks (Management API v3) into watches and channels. Can be
// repeated: creates what is missing and changes nothing else, except that a watch without a channel gets them.
import { readFileSync } from 'node:fs'
import { channelKind } from '../wire/channel-kinds.ts'
import type { Channels, NewChannel } from '../wire/channels.ts'
import type { Watches } from '../wire/watches.ts'
import { type Api, createApi, Refusal } from './api.ts'
import { readKey } from './config.ts'
import { describeFetchFault } from './fetch-fault.ts'
import { CliError, EXIT_REFUSED, EXIT_USAGE, type Io } from './io.ts'
import { type Check, type Integration, type Plan, type PlannedChannel, planHealthchecks } from './plan-healthchecks.ts'
import { collect, type Program } from './program.ts'
import { oneLine } from './safe-text.ts'

interface Flags {
  readonly apiKey?: string
  readonly url: string
  readonly address?: string[]
  readonly dryRun?: boolean
}

const KEY = 'HEALTHCHECKS_API_KEY'
const TIMEOUT_MS = 30_000
const HELP = `
The key is read from ${KEY}, from the file that ${KEY}_FILE names, or with --api-key - from
standard input: arguments are visible to other processes. It must be a key that may write: Healthchecks tells others
neither the addresses of pings nor the channels of a check. STINT_API_KEY needs the scope manage, also for --dry-run.`

export function defineHealthchecks(command: Program, io: Io): void {
  command
    .description('create watches and channels from a project of Healthchecks; what exists here stays as it is')
    .option('--api-key <key>', `the project's API key; - reads standard input. Better: ${KEY}`)
    .option('--url <url>', 'where Healthchecks runs', 'https://healthchecks.io')
    .option('--address <name=address>', 'address of an integration, which its API does not tell; repeatable', collect)
    .option('--dry-run', 'print what would be created, and create nothing')
    .addHelpText('after', HELP)
    .action(async (flags: Flags) => {
      const addresses = new Map((flags.address ?? []).map(parseAddress))
      const ask = createAsk(io, readUrl(flags.url), await readGivenKey(io, flags.apiKey))
      const [checks, channels] = [
        await ask<Check>('checks', isCheck),
        await ask<Integration>('channels', isIntegration),
      ]
      const plan = planHealthchecks(checks, channels)
      for (const name of addresses.keys())
        if (!plan.channels.some((channel) => channel.name === name))
          throw new CliError(`no integration is called ${oneLine(name)}; see --dry-run`, EXIT_USAGE)
      await apply(createApi(io), io, plan, addresses, flags.dryRun === true)
    })
}

/** Throws CliError when Stint is away, and at the end when a limit is reached; single refusals are printed. */
async function apply(api: Api, io: Io, plan: Plan, addresses: ReadonlyMap<string, string>, isDry: boolean) {
  const print = (text: string) => void io.stdout.write(`${oneLine(text)}\n`)
  const done = isDry ? 'would create' : 'created'
  const left = [...plan.left]
  const { channels } = await api.askWithKey<Channels>('GET', '/api/channels')
  const { watches } = await api.askWithKey<Watches>('GET', '/api/watches')
  const ids = new Map<string, string>()
  let beyond = 0

  async function create<T>(
    path: string,
    body: Readonly<Record<string, unknown>> & { readonly name: string },
  ): Promise<T | undefined> {
    try {
      return isDry ? undefined : await api.askWithKey<T>('POST', path, body)
    } catch (error) {
      if (!(error instanceof Refusal) || !['fields_invalid', 'limit_reached'].includes(error.code ?? '')) throw error
      if (error.code === 'limit_reached') beyond++
      left.push(`${body.name}: ${error.message.replaceAll(/\s+/g, ' ')}`)
      return undefined
    }
  }

  for (const { id, name, kind } of plan.channels) {
    const known = channels.find((channel) => channel.name === name)
    const address = addresses.get(name)
    if (known?.kind === kind) ids.set(id, known.id)
    else if (known !== undefined) left.push(`integration ${name}: a channel of the kind ${known.kind} has its name`)
    else if (address === undefined || !isPlain(kind))
      left.push(`integration ${name}: ${whyNoChannel({ id, name, kind })}`)
    else {
      const made = await create<NewChannel>('/api/channels', { name, kind, ...toMember(kind, address) })
      if (isDry || made) print(`${done} channel ${name} (${kind})`)
      if (made?.channel.secret)
        io.stderr.write(`  signing secret, shown only this once: ${oneLine(made.channel.secret)}\n`)
      if (isDry || made) ids.set(id, made?.channel.id ?? name)
    }
  }

  const lines: string[] = []
  for (const { watch, integrations, line } of plan.watches) {
    const own = integrations.flatMap((id) => ids.get(id) ?? [])
    const known = watches.find(({ name }) => name === watch.name)
    if (known === undefined) {
      const made = await create('/api/watches', { ...watch, channels: own })
      if (!isDry && made === undefined) continue
      print(`${done} watch ${watch.name}${watch.paused_until ? ', paused' : ''}, with ${count(own)}`)
    } else if (known.channels.length === 0 && own.length > 0) {
      if (!isDry) await api.askWithKey('PATCH', `/api/watches/${known.id}`, { channels: own })
      print(`${isDry ? 'would add' : 'added'} ${count(own)} to watch ${watch.name}`)
    } else print(`unchanged: watch ${watch.name}`)
    lines.push(line)
  }
  if (left.length > 0) print('Not taken over:')
  for (const text of left) print(`  ${text}`)
  print('  of every check: pings and their logs, badges, and who may see the project')
  if (lines.length > 0) print('Lines of the crontab to change, before the watches are late:')
  for (const line of lines) print(`  ${line}`)
  if (beyond > 0) throw new CliError(`${beyond} of them are beyond a limit of the account: see "Not taken over"`)
}

const count = ({ length }: readonly unknown[]): string => (length === 1 ? '1 channel' : `${length} channels`)

/** Whether its address says all. */
const isPlain = (kind: PlannedChannel['kind']): boolean =>
  channelKind(kind).required.length === 1 && kind !== 'pagerduty'
const toMember = (kind: PlannedChannel['kind'], address: string) => ({ [channelKind(kind).required[0]!]: address })

const whyNoChannel = ({ name, kind }: PlannedChannel): string =>
  isPlain(kind)
    ? `its address is not in the API; add --address '${name}=ADDRESS'`
    : `its secret is not in the API; run STINT_CHANNEL_SECRET=… stint channel add '${name}' --kind ${kind}` +
      `${kind === 'telegram' ? ' --chat CHAT' : ''}, then this again`

function parseAddress(text: string): [name: string, address: string] {
  const at = text.indexOf('=')
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)]
  throw new CliError('an --address is "name=address"', EXIT_USAGE)
}

async function readGivenKey(io: Io, given: string | undefined): Promise<string> {
  const path = io.env[`${KEY}_FILE`]
  const text = given === '-' ? await io.readStdin() : (given ?? io.env[KEY] ?? (path && readFile(path)))
  if (!text)
    throw new CliError(`no API key of Healthchecks: set ${KEY} or ${KEY}_FILE, or pass --api-key -`, EXIT_USAGE)
  return readKey('API key of Healthchecks', text)!
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CliError(`cannot read ${KEY}_FILE: file ${oneLine(path)}`, EXIT_USAGE, { cause })
  }
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '')
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  throw new CliError('invalid --url: expected an http or https URL such as https://hc.example.com', EXIT_USAGE)
}

/** The key is sent to this server alone: a redirect is an error. */
function createAsk({ fetch }: Io, url: string, key: string) {
  return async <T>(list: 'checks' | 'channels', isItem: (item: Fields) => boolean): Promise<readonly T[]> => {
    const response = await fetch(`${url}/api/v3/${list}/`, {
      headers: { 'x-api-key': key, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause) => {
      throw new CliError(`cannot reach Healthchecks at ${url} (${describeFetchFault(cause)})`, EXIT_REFUSED, { cause })
    })
    if (response.status === 401 || response.status === 403)
      throw new CliError(`Healthchecks at ${url} refused the API key: use one of the project that may write`)
    const body = (await response.json().catch(() => undefined)) as Record<string, unknown> | null | undefined
    const items = body?.[list]
    if (!response.ok || !Array.isArray(items))
      throw new CliError(`no Management API v3 of Healthchecks at ${url} (status ${response.status})`)
    if (items.every((item) => isItem(item as Fields))) return items as T[]
    throw new CliError(`an unexpected answer from ${url}/api/v3/${list}/: is the API key a read-only one?`)
  }
}

type Fields = Readonly<Record<string, unknown>> | null
const areTexts = (item: Fields, names: readonly string[]): boolean =>
  names.every((name) => typeof item?.[name] === 'string')
const isSeconds = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0

const isIntegration = (item: Fields): boolean => areTexts(item, ['id', 'name', 'kind'])
const isCheck = (item: Fields): boolean =>
  areTexts(item, ['uuid', 'name', 'tags', 'status', 'channels', 'ping_url']) &&
  isSeconds(item?.grace) &&
  (item?.timeout === undefined || isSeconds(item.timeout)) &&
  [item?.schedule, item?.tz, item?.slug].every((text) => text === undefined || typeof text === 'string')
