// `stint watch …`: watches from the command line, and as a file that can be applied again and again.

import {
  describeConditions,
  WATCH_FIELD_TEXTS,
  WATCH_FIELDS,
  type WatchField,
  type WatchFieldName,
} from '../wire/conditions.ts'
import type { WatchPreview } from '../wire/watch-preview.ts'
import type { Watch, WatchAnswer, Watches } from '../wire/watches.ts'
import { describeNextDue } from '../wire/words.ts'
import { type Api, createApi } from './api.ts'
import { applyWatches, parseWatchFile } from './apply-watches.ts'
import { defineAddChannel, defineTestChannel, findChannels, listChannels } from './channel.ts'
import {
  addList,
  findNamed,
  JSON_OPTION,
  type Json,
  parseCount,
  parseMoment,
  printJson,
  readInput,
} from './commands.ts'
import { formatTable } from './format-rows.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { collect, invalidArgument, type Program } from './program.ts'
import { oneLine } from './safe-text.ts'

/** Options of the fields, by the names of their flags. */
interface AddOptions extends Json, Readonly<Record<string, unknown>> {
  readonly name?: string
  readonly meta?: string
  readonly channel?: string[]
  readonly preview?: boolean
}

export function register(program: Program, io: Io): void {
  const api = () => createApi(io)
  const watch = program
    .command('watch')
    .description('watches: who is notified when a process is late, slow, hangs or fails (scope manage)')

  addList(watch, io, {
    about: 'list watches',
    ask: () => list(api()),
    heads: ['ID', 'STATE', 'NAME', 'PROCESS', 'CONDITIONS'],
    rows: ({ watches }) => watches.map(toRow),
    empty: 'No watches.',
  })

  const add = watch
    .command('add')
    .description('create a watch, or change the one of this name: what is given replaces what it had')
    .argument('<process>', 'exact name, or with * for any text')
    .option('--name <name>', 'name of the watch; default: the process')
    .option('--meta <meta>', 'only this meta')
  addFieldOptions(add)
  add
    .option('--channel <name>', 'notify this channel, by name or id; may be repeated', collect)
    .option('--preview', 'create nothing, and show what it would have fired in the last 30 days')
    .option(...JSON_OPTION)
    .action(async (process: string, options: AddOptions) => {
      if (options.preview) return preview(api(), io, process, options)
      const named = await findChannels(api(), options.channel ?? [])
      for (const { name, state } of named)
        if (state === 'pending' || state === 'disabled')
          io.stderr.write(`Channel ${oneLine(name)} is ${state}: nothing is sent to it yet.\n`)
      const body = toBody(process, options)
      const ids = named.map(({ id }) => id)
      const { watches } = await list(api())
      const known = watches.some(({ name }) => name === body.name) ? findNamed('watch', body.name, watches) : undefined
      const answer =
        known === undefined
          ? await api().askWithKey<WatchAnswer>('POST', '/api/watches', { ...body, channels: ids })
          : await change(api(), known, { ...body, ...(ids.length > 0 && { channels: ids }) })
      const { watch } = answer
      if (options.json) printJson(io, answer)
      else io.stdout.write(`${watch.id}\n`)
      if (known !== undefined)
        io.stderr.write(`Watch ${oneLine(watch.name)} exists and was changed: ${oneLine(describeConditions(watch))}\n`)
      const due = describeNextDue(watch.late, watch.next_due)
      if (due !== undefined) io.stderr.write('Times are in UTC; use --tz Europe/Berlin for another zone.\n')
      if (watch.channels.length === 0) io.stderr.write(`${await offerChannel(api(), process)}\n`)
    })

  watch
    .command('rm')
    .description('delete a watch; its alerts end and stay in the list')
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
    .argument('[until]', 'local time, RFC 3339 or a span such as 2h; without it the watch is resumed', parseMoment)
    .action(async (which: string, until: string | undefined) => {
      const { id, name } = await find(api(), which)
      await api().askWithKey('PATCH', `/api/watches/${id}`, { paused_until: until ?? null })
      io.stderr.write(`Watch ${oneLine(name)} ${until === undefined ? 'resumed' : `paused until ${oneLine(until)}`}.\n`)
    })

  defineAddChannel(watch.command('channel'), io)
  defineTestChannel(watch.command('test'), io)

  watch
    .command('apply')
    .description(
      'create and change watches and channels until they are as a file says; applying it again changes nothing',
    )
    .argument('<file>', 'JSON: {"channels": […], "watches": […]}, watches name their channels; - reads standard input')
    .option('--prune', 'delete watches that the file does not name')
    .action(async (path: string, { prune = false }: { prune?: boolean }) => {
      const done = await applyWatches(api(), parseWatchFile(await readInput(io, path)), prune)
      for (const { action, what, secret, due } of done) {
        io.stdout.write(`${action} ${oneLine(what)}\n`)
        if (due !== undefined) io.stderr.write(`  without tz its zone is UTC: ${due}\n`)
        if (secret !== undefined) io.stderr.write(`  signing secret, shown only this once: ${oneLine(secret)}\n`)
      }
      if (done.length === 0) io.stderr.write('Nothing to change.\n')
    })
}

const list = (api: Api) => api.askWithKey<Watches>('GET', '/api/watches')

const find = async (api: Api, which: string) => findNamed('watch', which, (await list(api)).watches)

/** Members that `body` lacks stay as they are. */
async function change(api: Api, { id }: Watch, body: object): Promise<WatchAnswer> {
  return api.askWithKey<WatchAnswer>('PATCH', `/api/watches/${id}`, body)
}

async function offerChannel(api: Api, process: string): Promise<string> {
  const [first] = await listChannels(api)
  const add = `stint watch add ${quote(process)} --channel ${quote(first?.name ?? 'on call')}`
  const create = first === undefined ? `stint channel add 'on call' URL-OR-E-MAIL && ` : ''
  return `No one is notified: the watch has no channel. Give it one: ${create}${add}`
}

const quote = (text: string): string => (/^[\w.-]+$/.test(text) ? text : `'${oneLine(text).replaceAll("'", `'\\''`)}'`)

async function preview(api: Api, io: Io, process: string, options: AddOptions): Promise<void> {
  const { name: _, ...body } = toBody(process, options)
  const seen = await api.askWithKey<WatchPreview>('POST', '/api/watches/preview', body)
  if (options.json) return printJson(io, seen)
  const rows = seen.alerts.map(({ since, condition, summary }) => [since, condition, summary])
  if (rows.length > 0) io.stdout.write(formatTable(['SINCE', 'CONDITION', 'ALERT'], rows))
  const events = seen.events.toLocaleString('en-US')
  io.stderr.write(`would have fired ${seen.total} times; tested on ${events} events since ${seen.from}\n`)
}

/** `--every <span>` → `every` */
const optionOf = (flag: string): string => /^--(\w+)/.exec(flag)?.[1] ?? ''

const FIELD_NAMES = Object.keys(WATCH_FIELDS) as WatchFieldName[]

function addFieldOptions(command: Program): void {
  for (const name of FIELD_NAMES) {
    const field: WatchField = WATCH_FIELDS[name]
    const { flag, about } = WATCH_FIELD_TEXTS[name]
    const usual = field.usual === undefined || field.usual === false ? '' : `; default ${field.usual}`
    const text = `${about.replace(/`(\w+)`/g, '--$1')}${usual}`
    const { number } = field
    if (number === undefined) command.option(flag, text)
    else command.option(flag, text, number.step === 1 ? parseCount : 'min' in number ? parseFactor : parseNumber)
  }
}

function toBody(process: string, options: AddOptions) {
  const { name = process, meta } = options
  const body: Record<string, Record<string, unknown> | unknown> = {}
  for (const path of FIELD_NAMES) {
    const value = options[optionOf(WATCH_FIELD_TEXTS[path].flag)]
    const [condition = '', member] = path.split('/')
    if (value === undefined) continue
    body[condition] =
      member === undefined ? value : { ...usualOf(condition), ...(body[condition] as object), [member]: value }
  }
  if (body.metric !== undefined && options.metric === undefined)
    throw new CliError('--above, --below, --of, --window and --for need --metric <name>', EXIT_USAGE)
  return { name, process, ...(meta !== undefined && { meta }), ...body }
}

/** The members of a condition that `stint watch add` sends in any case. */
const usualOf = (condition: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries<WatchField>(WATCH_FIELDS).flatMap(([path, { usual }]) => {
      const [of, member] = path.split('/')
      return of === condition && member !== undefined && usual !== undefined ? [[member, usual]] : []
    }),
  )

const toRow = (watch: Watch): string[] => [watch.id, watch.state, watch.name, watch.process, describeConditions(watch)]

function parseNumber(text: string): number {
  if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  throw invalidArgument('Expected a number.')
}

function parseFactor(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) >= 1) return Number(text)
  throw invalidArgument('Expected a number from 1, such as 2 or 1.5.')
}
