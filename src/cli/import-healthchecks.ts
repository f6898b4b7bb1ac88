// `stint import healthchecks FILE [FILE]`: answers of Healthchecks' Management API (v3) become a file for `stint watch
// apply`, on standard output. Everything for people is on standard error: what has no counterpart, and the old ping
// addresses with what replaces them. With `--keys` the old addresses work at Stint; repeated, it adds missing keys.
import { channelKind } from '../wire/channel-kinds.ts'
import type { KeyAnswer, Keys } from '../wire/keys.ts'
import { type Api, createApi, Refusal } from './api.ts'
import { printJson, readInput } from './commands.ts'
import { readCliConfig } from './config.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { type Check, type Integration, type PlannedWatch, planHealthchecks } from './plan-healthchecks.ts'
import type { Program } from './program.ts'
import { oneLine } from './safe-text.ts'

const HELP = `
FILE is the answer of GET /api/v3/checks/, fetched with a key that may write: Healthchecks shows others
neither the addresses of pings nor the integrations of a check. A second FILE is the answer of GET /api/v3/channels/.

  curl -fsS -H "X-Api-Key: $KEY" https://healthchecks.io/api/v3/checks/ >checks.json
  stint import healthchecks checks.json >watches.json
  stint watch apply watches.json

--keys needs a STINT_API_KEY with the scopes manage and write.`

export function defineHealthchecks(command: Program, io: Io): void {
  command
    .description('turn checks of Healthchecks into a file for stint watch apply, on standard output')
    .argument('<checks>', 'file with its checks; - reads standard input')
    .argument('[channels]', 'file with its integrations')
    .option('--keys', 'create a ping key for each check, with its UUID as secret: only the host of its address changes')
    .addHelpText('after', HELP)
    .action(async (checksPath: string, channelsPath: string | undefined, { keys }: { keys?: boolean }) => {
      const checks = await readList<Check>(io, checksPath, 'checks', isCheck)
      const integrations =
        channelsPath === undefined ? [] : await readList<Integration>(io, channelsPath, 'channels', isIntegration)
      const plan = planHealthchecks(checks, integrations)
      const empty = plan.channels.map(({ name, kind }) => {
        const { required } = channelKind(kind)
        return { name, kind, ...Object.fromEntries(required.map((member) => [member, ''])) }
      })
      printJson(io, { channels: empty, watches: plan.watches.map(({ watch }) => watch) })
      const { url } = readCliConfig(io.env)
      const made = keys ? await makeKeys(createApi(io), plan.watches) : undefined
      const print = (title: string, lines: readonly string[]) => {
        if (lines.length > 0) io.stderr.write(`${title}\n${lines.map((line) => `  ${oneLine(line)}\n`).join('')}`)
      }
      print(
        'Fill in before stint watch apply, since the API does not have them:',
        empty.map(({ name, kind, ...members }) => `channel ${name}: ${Object.keys(members).join(', ')}`),
      )
      print('Not taken over:', [
        ...plan.left,
        ...(channelsPath === undefined
          ? ['integrations: a second FILE, the answer of GET /api/v3/channels/, has them']
          : []),
        ...(made?.left ?? []),
        'of every check: pings and their logs, badges, and who may see the project',
      ])
      const known = plan.watches.filter(({ pingUrl }) => pingUrl !== undefined)
      if (known.length < plan.watches.length)
        print('No ping addresses:', ['the answer is one to a read-only key; fetch it with a key that may write'])
      const isMade = ({ uuid = '' }: PlannedWatch) => made?.uuids.has(uuid.toLowerCase())
      print(
        'Old address → new:',
        known.map((of) => `${of.pingUrl} → ${isMade(of) ? `${url}/ping/${of.uuid}` : of.command}`),
      )
      if (made !== undefined) print('All of a crontab at once:', toSubstitutions(known.filter(isMade), url))
      if (made !== undefined && made.failed > 0)
        throw new CliError(`${made.failed} keys are missing: see "Not taken over"`)
    })
}

/** The command that replaces the old addresses, those of checks that have a key here and no others. */
function toSubstitutions(watches: readonly PlannedWatch[], url: string): string[] {
  const changes = watches
    .map(({ pingUrl = '', uuid = '' }) => ({ old: pingUrl.slice(0, pingUrl.indexOf(uuid)) + uuid, uuid }))
    // nothing that a shell or sed would read as a command
    .filter(({ old }) => /^https?:\/\/[\w.:/-]+\/[\da-f-]{36}$/i.test(old))
    .map(({ old, uuid }) => `-e 's#${old}#${url}/ping/${uuid}#g'`)
  return changes.length === 0 ? [] : [`crontab -l | sed ${changes.join(' ')} | crontab -`]
}

/** The UUIDs that are keys now, and why others are not. Throws CliError when Stint is away. */
async function makeKeys(api: Api, watches: readonly PlannedWatch[]) {
  const uuids = new Set<string>()
  const left: string[] = []
  let failed = 0
  const { keys } = await api.askWithKey<Keys>('GET', '/api/keys')
  for (const { uuid, watch } of watches) {
    if (uuid === undefined) continue
    const { name, process } = watch
    const secret = uuid.toLowerCase()
    const isOurs = keys.some(
      (key) =>
        key.process === process && key.revoked_at === null && secret.startsWith(key.prefix) && key.expires_at === null,
    )
    try {
      if (!isOurs)
        await api.askWithKey<KeyAnswer>('POST', '/api/keys', {
          name: `ping ${name}`,
          scopes: ['ping'],
          process,
          secret,
        })
      uuids.add(secret)
    } catch (error) {
      if (!(error instanceof Refusal) || !['fields_invalid', 'key_taken'].includes(error.code ?? '')) throw error
      failed++
      left.push(`check ${name}: no key: ${error.message.replaceAll(/\s+/g, ' ')}`)
    }
  }
  return { uuids, left, failed }
}

type Fields = Readonly<Record<string, unknown>> | null

async function readList<T>(
  io: Io,
  path: string,
  list: string,
  isItem: (item: Fields) => boolean,
): Promise<readonly T[]> {
  const what = path === '-' ? 'standard input' : `file ${oneLine(path)}`
  const text = await readInput(io, path)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new CliError(`${what} is not valid JSON`, EXIT_USAGE, { cause })
  }
  const items = (body as Record<string, unknown> | null)?.[list]
  if (Array.isArray(items) && items.every((item) => isItem(item as Fields))) return items as T[]
  throw new CliError(`${what} is no answer of Healthchecks to GET /api/v3/${list}/`, EXIT_USAGE)
}

const areTexts = (item: Fields, names: readonly string[]): boolean =>
  names.every((name) => typeof item?.[name] === 'string')
const isSeconds = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0

const isIntegration = (item: Fields): boolean => areTexts(item, ['id', 'name', 'kind'])
/** An answer to a read-only key lacks `uuid`, `ping_url` and `channels`. */
const isCheck = (item: Fields): boolean =>
  areTexts(item, ['name', 'tags', 'status']) &&
  isSeconds(item?.grace) &&
  (item?.timeout === undefined || isSeconds(item.timeout)) &&
  ['schedule', 'tz', 'slug', 'uuid', 'ping_url', 'channels'].every(
    (name) => item?.[name] === undefined || typeof item[name] === 'string',
  )
