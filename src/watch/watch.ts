// A watch as it is stored (its spec, as in the API) and as the rules use it.
import type { Fault } from '../problem.ts'
import { parseSpan } from '../query/span.ts'
import type { CreateWatch } from '../wire/watches.ts'
import { createSchedule } from './rules/cron.ts'
import type { FailedRule } from './rules/failed.ts'
import type { LateRule } from './rules/late.ts'
import type { MetricRule } from './rules/metric.ts'

/** The requested spec, with every member present; null = absent. */
export type WatchSpec = {
  readonly [K in Exclude<keyof CreateWatch, 'name' | 'process' | 'channels'>]-?: NonNullable<CreateWatch[K]> | null
} & Readonly<Pick<CreateWatch, 'name' | 'process' | 'channels'>>

/** A row of the store. Times are µs since the epoch. */
export interface StoredWatch {
  readonly id: string
  readonly account: string
  readonly spec: WatchSpec
  readonly createdUs: number
  /** The conditions apply from this time on, when the watch was created or last changed. */
  readonly sinceUs: number
  /** The random part of its badge's URL. */
  readonly badge: string | null
}

/** The input of the rules. */
export interface WatchRules {
  readonly late?: LateRule
  readonly longUs?: number
  readonly failed?: FailedRule
  readonly metric?: MetricRule
  readonly slow?: number
  readonly remindUs?: number
  readonly pausedUntilUs?: number
  /** The shortest span of all conditions: how soon an alert is expected. */
  readonly shortestUs: number
  matches(process: string): boolean
}

const DEFAULT_GRACE = '5m'
/** How much of the past evaluations keep in memory. */
const MAX_WINDOW_US = 86_400e6

const US_PER_NS = 1000n

/** A span in µs; the schema has validated it. */
export function spanUs(text: string): number {
  const ns = parseSpan(text)
  if (ns === undefined) throw new RangeError('not a span')
  return Number(ns / US_PER_NS)
}

/** Fills in omitted members. */
export function toSpec(body: CreateWatch): WatchSpec {
  const { name, process, channels, late = null, failed = null } = body
  return {
    name: name.trim(),
    process,
    channels,
    meta: body.meta ?? null,
    late: late && { ...late, grace: late.grace ?? DEFAULT_GRACE },
    long: body.long ?? null,
    failed: failed && { after: failed.after ?? 1, exceptions: failed.exceptions ?? false },
    metric: body.metric ?? null,
    slow: body.slow ?? null,
    remind: body.remind ?? null,
    paused_until: body.paused_until ?? null,
  }
}

/** Checks what the schema cannot express. Returns all faults; none if the watch is valid. */
export function specFaults(spec: WatchSpec, maxRunUs: number, isChannel: (id: string) => boolean): Fault[] {
  const faults: Fault[] = []
  const fault = (pointer: string, detail: string) => void faults.push({ pointer, detail })
  const span = (pointer: string, text: string | undefined | null, belowUs?: number, limit = '') => {
    if (text == null) return
    const ns = parseSpan(text)
    if (ns === undefined) fault(pointer, 'must be a time span such as 30s, 10m, 26h or 7d, at least 1s')
    else if (belowUs !== undefined && Number(ns / US_PER_NS) >= belowUs) fault(pointer, limit)
  }
  const { late, long, metric } = spec
  span('/late/grace', late?.grace)
  span('/late/every', late?.every)
  if (late && (late.every === undefined) === (late.cron === undefined)) fault('/late', 'must have either every or cron')
  if (late?.cron !== undefined) faults.push(...cronFaults(late.cron, late.tz ?? 'UTC'))
  else if (late?.tz !== undefined) fault('/late/tz', 'belongs to cron')
  span('/long', long, maxRunUs, 'must be shorter than MAX_RUN, after which a run counts as abandoned')
  span('/metric/window', metric?.window, MAX_WINDOW_US + 1, 'must be at most 1d')
  span('/metric/for', metric?.for)
  if (metric && (metric.above === undefined) === (metric.below === undefined))
    fault('/metric', 'must have either above or below')
  span('/remind', spec.remind)
  if (spec.paused_until !== null && Number.isNaN(Date.parse(spec.paused_until)))
    fault('/paused_until', 'must be an RFC 3339 time')
  for (const [i, id] of spec.channels.entries())
    if (!isChannel(id)) fault(`/channels/${i}`, 'is not a channel of this account')
  return faults
}

function cronFaults(cron: string, tz: string): Fault[] {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz })
  } catch {
    return [{ pointer: '/late/tz', detail: 'must be a time zone such as UTC or Europe/Berlin' }]
  }
  try {
    if (createSchedule(cron, tz).nextUs(0) !== undefined) return []
    return [{ pointer: '/late/cron', detail: 'is never due' }]
  } catch {
    return [{ pointer: '/late/cron', detail: 'must be a cron expression of five fields, or six with seconds first' }]
  }
}

/** Converts a valid spec to the numbers that the rules use. */
export function toRules(spec: WatchSpec): WatchRules {
  const { late, long, failed, metric, slow, remind, paused_until } = spec
  const longUs = long === null ? undefined : spanUs(long)
  const lateRule = late === null ? undefined : toLate(late)
  const metricRule = metric === null ? undefined : toMetric(metric)
  const spans = [
    longUs,
    lateRule && 'everyUs' in lateRule ? lateRule.everyUs + lateRule.graceUs : lateRule?.graceUs,
    metricRule?.windowUs,
  ]
  return {
    ...(lateRule && { late: lateRule }),
    ...(longUs !== undefined && { longUs }),
    ...(failed !== null && { failed: { after: failed.after ?? 1, exceptions: failed.exceptions ?? false } }),
    ...(metricRule && { metric: metricRule }),
    ...(slow !== null && { slow }),
    ...(remind !== null && { remindUs: spanUs(remind) }),
    ...(paused_until !== null && { pausedUntilUs: Date.parse(paused_until) * 1000 }),
    shortestUs: Math.min(...spans.filter((us) => us !== undefined)),
    matches: createMatch(spec.process),
  }
}

function toLate({ every, cron = '', tz = 'UTC', grace = DEFAULT_GRACE }: NonNullable<WatchSpec['late']>): LateRule {
  const graceUs = spanUs(grace)
  return every === undefined ? { schedule: createSchedule(cron, tz), graceUs } : { everyUs: spanUs(every), graceUs }
}

function toMetric({ name, of, window, above, below, ...rest }: NonNullable<WatchSpec['metric']>): MetricRule {
  const [side, than] = above === undefined ? (['below', below ?? 0] as const) : (['above', above] as const)
  return { name, of, side, than, windowUs: spanUs(window), forUs: rest.for === undefined ? 0 : spanUs(rest.for) }
}

export const isPattern = (process: string): boolean => process.includes('*')

function createMatch(process: string): (name: string) => boolean {
  if (!isPattern(process)) return (name) => name === process
  const [first = '', ...parts] = process.split(/\*+/)
  const last = parts.pop() ?? ''
  // not a regular expression: a name that almost matches many `*` would block the event loop for hours
  return (name) => {
    const end = name.length - last.length
    let at = first.length
    if (end < at || !name.startsWith(first) || !name.endsWith(last)) return false
    for (const part of parts) {
      const found = name.indexOf(part, at)
      if (found < 0 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}
