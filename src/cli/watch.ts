// `stint watch …` and `stint alerts`: watches from the command line, and as a file that can be applied again and again.
import { systemClock } from '../clock.ts'
import { type Alert, type AlertPage, CONDITIONS, type Condition } from '../wire/alerts.ts'
import { CHANNEL_KINDS, type ChannelKind, type Channels, type NewChannel } from '../wire/channels.ts'
import type { Watch, WatchAnswer, Watches } from '../wire/watches.ts'
import { type Api, createApi } from './api.ts'
import { applyWatches, parseWatchFile } from './apply-watches.ts'
import { readCliConfig } from './config.ts'
import { parseSpanS } from './exec/parse-exec-call.ts'
import { formatTable } from './format-rows.ts'
import { formatLocalTime, parseLocalTime } from './format-time.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { invalidArgument, type Program } from './program.ts'
import { oneLine, safeJson } from './safe-text.ts'

interface Json {
  readonly json?: boolean
}

interface AddOptions extends Json {
  readonly name?: string
  readonly meta?: string
  readonly every?: string
  readonly cron?: string
  readonly tz?: string
  readonly grace?: string
  readonly long?: string
  readonly failed?: number
  readonly exceptions?: boolean
  readonly slow?: number
  readonly metric?: string
  readonly above?: number
  readonly below?: number
  readonly of?: string
  readonly window?: string
  readonly for?: string
  readonly channel: string[]
}

const JSON_OPTION = ['--json', 'print the answer as JSON'] as const

export function register(program: Program, io: Io): void {
  const api = () => createApi(readCliConfig(io.env), io)
  const printJson = (body: unknown) => io.stdout.write(`${safeJson(body, 2)}\n`)
  const watch = program
    .command('watch')
    .description('watches: who is notified when a process is late, slow, hangs or fails (scope manage)')

  watch
    .command('list')
    .description('list watches')
    .option(...JSON_OPTION)
    .action(async ({ json }: Json) => {
      const { watches } = await list(api())
      if (json) printJson({ watches })
      else if (watches.length === 0) io.stderr.write('No watches.\n')
      else io.stdout.write(formatTable(['ID', 'STATE', 'NAME', 'PROCESS', 'CONDITIONS'], watches.map(toRow)))
    })

  watch
    .command('add')
    .description('create a watch')
    .argument('<process>', 'exact name, or with * for any text')
    .option('--name <name>', 'name of the watch; default: the process')
    .option('--meta <meta>', 'only this meta')
    .option('--every <span>', 'late: a start is due this long after the last one, such as 1h')
    .option('--cron <expression>', 'late: a start is due at these moments, such as "0 3 * * *"')
    .option('--tz <zone>', 'time zone of --cron; default UTC')
    .option('--grace <span>', 'how late a start may be; default 5m')
    .option('--long <span>', 'a run may take no longer')
    .option('--failed <n>', 'after n failed runs in a row', parseCount)
    .option('--exceptions', 'an exception counts as a failure, too')
    .option('--slow <factor>', 'a run takes this many times the usual', parseFactor)
    .option('--metric <name>', 'a figure of this metric is --above or --below a number')
    .option('--above <number>', 'fires above it', parseNumber)
    .option('--below <number>', 'fires below it', parseNumber)
    .option('--of <figure>', 'last, min, max or mean over the window; default last')
    .option('--window <span>', 'window of the metric; default 10m')
    .option('--for <span>', 'fires once the figure was across for so long; default at once')
    .option('--channel <name>', 'notify this channel, by name or id; may be repeated', collect, [])
    .option(...JSON_OPTION)
    .action(async (process: string, options: AddOptions) => {
      const channels = await findChannels(api(), options.channel)
      for (const { name, state } of channels)
        if (state === 'pending' || state === 'disabled')
          io.stderr.write(`Channel ${oneLine(name)} is ${state}: nothing is sent to it yet.\n`)
      const ids = channels.map(({ id }) => id)
      const body = toBody(process, options, ids)
      const { watch: made } = (await api().askWithKey('POST', '/api/watches', body)).body as WatchAnswer
      if (options.json) printJson({ watch: made })
      else io.stdout.write(`${made.id}\n`)
    })

  watch
    .command('rm')
    .description('delete a watch and its alerts')
    .argument('<watch>', 'name or id')
    .action(async (which: string) => {
      const { id, name } = await find(api(), which)
      await api().askWithKey('DELETE', `/api/watches/${id}`)
      io.stderr.write(`Watch ${oneLine(name)} deleted.\n`)
    })

  watch
    .command('pause')
    .description('pause a watch until a time, or resume it')
    .argument('<watch>', 'name or id')
    .argument('[until]', 'local time, RFC 3339 or a span such as 2h; without it the watch is resumed', parseUntil)
    .action(async (which: string, until: string | undefined) => {
      const { id, name } = await find(api(), which)
      await api().askWithKey('PATCH', `/api/watches/${id}`, { paused_until: until ?? null })
      io.stderr.write(`Watch ${oneLine(name)} ${until === undefined ? 'resumed' : `paused until ${oneLine(until)}`}.\n`)
    })

  watch
    .command('channel')
    .description('create a channel, which watches notify')
    .argument('<name>', 'name of the channel')
    .argument('<address>', 'an e-mail address, or the URL of a webhook')
    .option(
      '--kind <kind>',
      'email, webhook, slack or ntfy; default: email for an address with @, webhook for a URL',
      parseKind,
    )
    .option(...JSON_OPTION)
    .action(async (name: string, address: string, options: Json & { kind?: ChannelKind }) => {
      const { kind = /^https?:/i.test(address) ? 'webhook' : 'email' } = options
      const body = { name, kind, ...(kind === 'email' ? { to: address } : { url: address }) }
      const { channel } = (await api().askWithKey('POST', '/api/channels', body)).body as NewChannel
      if (options.json) return printJson({ channel })
      io.stdout.write(`${channel.id}\n`)
      if (channel.secret !== undefined)
        io.stderr.write(`Signing secret, shown only this once: ${oneLine(channel.secret)}\n`)
      if (channel.state === 'pending')
        io.stderr.write('Open the link in the e-mail that was sent to confirm the address.\n')
    })

  watch
    .command('test')
    .description('send a test notification')
    .argument('<channel>', 'name or id of a channel')
    .action(async (which: string) => {
      const [channel] = await findChannels(api(), [which])
      const { detail } = (await api().askWithKey('POST', `/api/channels/${channel!.id}/test`)).body as {
        detail: string
      }
      io.stderr.write(`Delivered: ${oneLine(detail)}\n`)
    })

  watch
    .command('apply')
    .description(
      'create and change watches and channels until they are as a file says; applying it again changes nothing',
    )
    .argument('<file>', 'JSON: {"channels": […], "watches": […]}, watches name their channels; - reads standard input')
    .option('--prune', 'delete watches that the file does not name')
    .action(async (path: string, { prune = false }: { prune?: boolean }) => {
      const text = path === '-' ? await io.readStdin() : await readFile(path)
      const done = await applyWatches(api(), parseWatchFile(text), prune)
      for (const { action, what, secret } of done) {
        io.stdout.write(`${action} ${oneLine(what)}\n`)
        if (secret !== undefined) io.stderr.write(`  signing secret, shown only this once: ${oneLine(secret)}\n`)
      }
      if (done.length === 0) io.stderr.write('Nothing to change.\n')
    })

  program
    .command('alerts')
    .description('list alerts, newest first (scope manage)')
    .option('--state <state>', 'firing or resolved')
    .option('--limit <n>', 'at most so many', parseCount, 20)
    .option(...JSON_OPTION)
    .action(async ({ state, limit, json }: Json & { state?: string; limit: number }) => {
      const search = new URLSearchParams({ limit: String(limit), ...(state !== undefined && { state }) })
      const page = (await api().askWithKey('GET', `/api/alerts?${search}`)).body as AlertPage
      if (json) printJson(page)
      else if (page.alerts.length === 0) io.stderr.write('No alerts.\n')
      else io.stdout.write(formatTable(['SINCE', 'STATE', 'CONDITION', 'SUMMARY'], page.alerts.map(alertRow)))
    })
}

const list = async (api: Api) => (await api.askWithKey('GET', '/api/watches')).body as Watches

async function find(api: Api, which: string): Promise<Watch> {
  const found = (await list(api)).watches.filter(({ id, name }) => id === which || name === which)
  if (found.length === 1) return found[0]!
  throw new CliError(
    found.length === 0
      ? `no watch is called ${oneLine(which)}`
      : `several watches are called ${oneLine(which)}; use the id`,
  )
}

async function findChannels(api: Api, names: readonly string[]): Promise<Channels['channels']> {
  if (names.length === 0) return []
  const { channels } = (await api.askWithKey('GET', '/api/channels')).body as Channels
  return names.map((which) => {
    const found = channels.find(({ id, name }) => id === which || name === which)
    if (found === undefined)
      throw new CliError(`no channel is called ${oneLine(which)}; create it with stint watch channel`)
    return found
  })
}

function toBody(process: string, options: AddOptions, channels: string[]) {
  const { name = process, meta, every, cron, tz, grace, long, failed, exceptions, slow } = options
  const isLate = every !== undefined || cron !== undefined
  return {
    name,
    process,
    channels,
    ...(meta !== undefined && { meta }),
    ...(isLate && { late: { every, cron, tz, grace } }),
    ...(long !== undefined && { long }),
    ...((failed !== undefined || exceptions) && { failed: { after: failed ?? 1, exceptions: exceptions ?? false } }),
    ...(slow !== undefined && { slow }),
    ...toMetric(options),
  }
}

function toMetric({ metric, above, below, of, window, for: lasting }: AddOptions) {
  if (metric !== undefined)
    return { metric: { name: metric, window: window ?? '10m', of: of ?? 'last', above, below, for: lasting } }
  const isGiven = [above, below, of, window, lasting].some((value) => value !== undefined)
  if (isGiven) throw new CliError('--above, --below, --of, --window and --for need --metric <name>', EXIT_USAGE)
  return {}
}

const CONDITION_CELLS: { readonly [C in Condition]: (watch: Watch) => string | null | 0 } = {
  late: ({ late }) => late && `late ${late.every ?? late.cron}`,
  long: ({ long }) => long && `long ${long}`,
  failed: ({ failed }) => failed && `failed ${failed.after ?? 1}`,
  metric: ({ metric }) =>
    metric && `${metric.name} ${metric.above === undefined ? '<' : '>'} ${metric.above ?? metric.below}`,
  slow: ({ slow }) => slow && `slow ${slow}×`,
}

function toRow(watch: Watch): string[] {
  const conditions = CONDITIONS.map((name) => CONDITION_CELLS[name](watch)).filter(Boolean)
  return [watch.id, watch.state, watch.name, watch.process, conditions.join(', ')]
}

const alertRow = ({ since, state, condition, summary }: Alert): string[] => [
  formatLocalTime(since),
  state,
  condition,
  summary,
]

const collect = (value: string, before: string[]): string[] => [...before, value]

function parseCount(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw invalidArgument('Expected a whole number from 1.')
}

function parseKind(text: string): ChannelKind {
  const kind = CHANNEL_KINDS.find((known) => known === text)
  if (kind !== undefined) return kind
  throw invalidArgument(`Expected ${CHANNEL_KINDS.join(', ')}.`)
}

function parseNumber(text: string): number {
  if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  throw invalidArgument('Expected a number.')
}

function parseFactor(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) >= 1) return Number(text)
  throw invalidArgument('Expected a number from 1, such as 2 or 1.5.')
}

async function readFile(path: string): Promise<string> {
  try {
    return await Bun.file(path).text()
  } catch (cause) {
    throw new CliError(`cannot read ${oneLine(path)}: ${(cause as Error).message}`, EXIT_USAGE, { cause })
  }
}

/** RFC 3339; a span counts from now. */
function parseUntil(text: string): string {
  const seconds = /^[1-9]\d*[smhd]$/.test(text) ? parseSpanS(text) : undefined
  const time = seconds === undefined ? parseLocalTime(text) : new Date(systemClock.wallUs() / 1000 + seconds * 1000)
  if (time instanceof Date && !Number.isNaN(time.getTime())) return time.toISOString()
  if (typeof time === 'string' && !time.startsWith('-')) return time
  throw invalidArgument('Expected an existing local time ("2026-11-20 21:00"), RFC 3339 or a span such as 2h.')
}
