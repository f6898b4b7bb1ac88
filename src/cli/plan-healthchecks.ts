// Checks and integrations of Healthchecks → watches, channels, commands, and what has no counterpart. Pure.
import { stripText } from '../event/fields.ts'
import { cronFaults } from '../watch/conditions/cron-faults.ts'
import type { ChannelKind } from '../wire/channel-kinds.ts'
import { formatSpanS } from '../wire/span-text.ts'
import type { CreateWatch } from '../wire/watches.ts'

/** As `GET /api/v3/checks/` returns it; a read-only key gets no `uuid`, `ping_url` and `channels`. */
export interface Check {
  readonly uuid?: string
  readonly name: string
  /** In the address of a ping; empty in projects that ping by id alone. */
  readonly slug?: string
  readonly tags: string
  readonly desc?: string
  readonly grace: number
  readonly status: string
  /** Seconds, of a simple schedule; the others have a `schedule` and `tz`. */
  readonly timeout?: number
  readonly schedule?: string
  readonly tz?: string
  readonly channels?: string
  readonly ping_url?: string
  readonly last_duration?: number
  readonly manual_resume?: boolean
  readonly methods?: string
  readonly filter_subject?: boolean
  readonly filter_body?: boolean
  readonly filter_http_body?: boolean
  readonly filter_default_fail?: boolean
}

/** As `GET /api/v3/channels/` returns it: neither address nor secrets. */
export interface Integration {
  readonly id: string
  readonly name: string
  readonly kind: string
}

interface PlannedChannel {
  readonly id: string
  readonly name: string
  readonly kind: ChannelKind
}

export interface PlannedWatch {
  /** `channels` are names. */
  readonly watch: CreateWatch
  readonly uuid: string | undefined
  readonly pingUrl: string | undefined
  /** Instead of a ping. */
  readonly command: string
}

export interface Plan {
  readonly channels: readonly PlannedChannel[]
  readonly watches: readonly PlannedWatch[]
  /** One sentence each. */
  readonly left: readonly string[]
}

const KINDS: Readonly<Record<string, ChannelKind>> = {
  email: 'email',
  webhook: 'webhook',
  slack: 'slack',
  mattermost: 'slack', // it takes the same requests
  ntfy: 'ntfy',
  discord: 'discord',
  msteamsw: 'teams',
  telegram: 'telegram',
  pd: 'pagerduty',
}
/** Healthchecks pauses without an end. */
const WITHOUT_END = '2100-01-01T00:00:00.000Z'
const NAME_MAX = 80
/** MAX_RUN of Stint unless its operator sets another one: `long` must be shorter. */
const MAX_RUN_S = 86_400

export function planHealthchecks(checks: readonly Check[], integrations: readonly Integration[]): Plan {
  const left: string[] = []
  const names = uniqueNames(integrations.map(({ id, name, kind }) => ({ id, name: name || kind })))
  const channels = integrations.flatMap(({ id, kind }): PlannedChannel[] => {
    const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
    if (known !== undefined) return [{ id, name: names.get(id)!, kind: known }]
    left.push(`integration ${names.get(id)}: Stint has no channels of the kind ${kind}`)
    return []
  })
  const known = new Set(channels.map(({ id }) => id))
  const idOf = ({ uuid = '' }: Check, i: number) => uuid || `${i + 1}`
  const processes = uniqueNames(checks.map((check, i) => ({ id: idOf(check, i), name: check.name || 'check' })))
  const watches = checks.flatMap((check, i): PlannedWatch[] => {
    const name = processes.get(idOf(check, i))!
    const late = toLate(check)
    if (typeof late === 'string') {
      left.push(`check ${name}: ${late}`)
      return []
    }
    left.push(...lostOf(check).map((what) => `check ${name}: ${what}`))
    const process = processOf(check, name, checks)
    const long = hasLimit(check) && check.grace < MAX_RUN_S ? formatSpanS(check.grace) : undefined
    return [
      {
        watch: {
          name,
          process,
          late,
          failed: { after: 1, exceptions: false },
          channels: (check.channels ?? '').split(',').flatMap((id) => (known.has(id) ? names.get(id)! : [])),
          ...(long !== undefined && { long }),
          ...(check.status === 'paused' && { paused_until: WITHOUT_END }),
        },
        uuid: check.uuid,
        pingUrl: check.ping_url,
        command: toCommand(check, process),
      },
    ]
  })
  return { channels, watches, left }
}

/** Pings of a project name the slug, so that the process is called so; without one of its own it bears the name. */
function processOf({ slug = '' }: Check, name: string, checks: readonly Check[]): string {
  const isUnique = checks.filter((other) => other.slug === slug).length === 1
  return slug !== '' && isUnique && slug === toText(slug) ? slug : name
}

/** A check that measures runs. */
const hasLimit = ({ last_duration }: Check): boolean => last_duration !== undefined

/** The condition, or the reason why the check cannot have one. */
function toLate({ timeout, schedule, tz = 'UTC', grace }: Check): NonNullable<CreateWatch['late']> | string {
  if (timeout !== undefined) return { every: formatSpanS(timeout), grace: formatSpanS(grace) }
  if (schedule === undefined) return 'its schedule is of a kind that Stint does not know'
  const [fault] = cronFaults('', schedule, tz)
  if (fault === undefined) return { cron: schedule, tz, grace: formatSpanS(grace) }
  return (
    `its schedule "${schedule}" (${tz}) is no cron expression that Stint can use: ${fault.detail}. OnCalendar is ` +
    'not supported; write it as cron'
  )
}

/** Properties without a counterpart in a watch or process. */
function lostOf(check: Check): string[] {
  const filters = [check.filter_subject, check.filter_body, check.filter_http_body, check.filter_default_fail]
  const maxRun = 'a run takes less than MAX_RUN (24h unless its operator set another)'
  const isTooLong = hasLimit(check) && check.grace >= MAX_RUN_S
  return [
    ...(check.desc ? ['its description'] : []),
    ...(isTooLong ? [`its limit of a run, ${formatSpanS(check.grace)}: ${maxRun}`] : []),
    ...(check.manual_resume ? ['manual resume: here a start after a pause needs no button'] : []),
    ...(check.methods ? ['it accepts POST only: a ping address here accepts GET, POST and HEAD'] : []),
    ...(filters.includes(true) ? ['its filters of keywords: report a failure by the exit code or /fail'] : []),
  ]
}

/** The tags become the meta of its events: the watch takes any meta, so that a ping without it is not late. */
function toCommand({ tags }: Check, process: string): string {
  const meta = toText(tags)
  return `stint exec --process ${quote(process)}${meta === '' ? '' : ` --meta ${quote(meta)}`} -- COMMAND`
}

/** Without `'` in it, for `toText` strips that. */
const quote = (text: string): string => `'${text}'`

/** As the server strips it. A `*` would make a pattern of a watch. */
const toText = (text: string): string =>
  stripText(
    text
      .toWellFormed()
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .replaceAll('*', '_'),
  ).trim()

/** A watch is found again by its name, so names that occur twice end with a part of the id, which does not change. */
function uniqueNames(items: readonly { readonly id: string; readonly name: string }[]): ReadonlyMap<string, string> {
  const cut = items.map(({ id, name }) => ({
    id,
    name: [...toText(name)].slice(0, NAME_MAX).join('').trim() || 'unnamed',
  }))
  const counts = Map.groupBy(cut, ({ name }) => name)
  return new Map(
    cut.map(({ id, name }) => [
      id,
      counts.get(name)!.length > 1 || name === 'check' ? `${name} ${id.slice(0, 8)}` : name,
    ]),
  )
}
