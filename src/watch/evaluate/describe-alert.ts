// Describes alerts and notifications.
import type { WebhookBody } from '../../wire/alerts.ts'
import type { Episode } from '../rules/episode.ts'
import type { Alert, NotificationBody } from '../storage/watch-store.ts'
import type { StoredWatch } from '../watch.ts'
import type { Series } from './memory.ts'

/** `2026-11-21 03:10 UTC`. */
const minute = (us: number): string => `${iso(us).slice(0, 16).replace('T', ' ')} UTC`
export const iso = (us: number): string => new Date(Math.floor(us / 1000)).toISOString()

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** The two largest units, such as `1 h 12 min`; below ten seconds with a decimal. */
export function formatSpan(us: number): string {
  const seconds = us / 1e6
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`
  let rest = Math.round(seconds)
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${unit}`)
    if (parts.length > 0 && (parts.length === 2 || count === 0)) break
  }
  return parts.slice(0, 2).join(' ')
}

const nameOf = (process: string, meta: string | null): string => (meta === null ? process : `${process} (${meta})`)

/** The summary of an alert, in one line. */
export function summarize(
  watch: StoredWatch,
  {
    condition,
    process,
    meta,
    episode,
    nowUs,
  }: {
    readonly condition: Alert['condition']
    readonly process: string
    readonly meta: string | null
    readonly episode: Episode
    readonly nowUs: number
  },
): string {
  const name = nameOf(process, meta)
  const { late, metric, slow } = watch.spec
  switch (condition) {
    case 'late': {
      const due = late?.every === undefined ? `by ${late?.cron} (${late?.tz ?? 'UTC'})` : `every ${late.every}`
      return `${name} is late: it should start ${due}, and did not by ${minute(episode.sinceUs)}`
    }
    case 'long':
      return `${name} is running for more than ${formatSpan(episode.limit ?? 0)}, since ${minute(episode.startedUs ?? nowUs)}`
    case 'failed': {
      const what = { failed: 'failed', abandoned: 'was abandoned: it never ended', exception: 'raised an exception' }
      const often = (episode.figure ?? 1) > 1 ? ` (${episode.figure} in a row)` : ''
      return `${name} ${what[episode.cause ?? 'failed']}${often} at ${minute(episode.sinceUs)}`
    }
    case 'metric': {
      const side = metric?.above === undefined ? `below ${metric?.below}` : `above ${metric.above}`
      return `${name}: ${metric?.name} is ${side} (${metric?.of} of ${metric?.window}: ${round(episode.figure ?? 0)})`
    }
    case 'slow': {
      const took =
        episode.figure === undefined ? 'is taking longer than' : `took ${formatSpan(episode.figure)}, more than`
      return `${name} is slow: a run ${took} ${formatSpan(episode.limit ?? 0)} (${slow} times the usual)`
    }
    default:
      return condition satisfies never
  }
}

const round = (value: number): string => String(Number(value.toPrecision(6)))

export function summarizeEnd(alert: Alert, untilUs: number, episode: Episode | undefined): string {
  const name = nameOf(alert.process, alert.meta)
  const after = formatSpan(untilUs - alert.sinceUs)
  switch (alert.condition) {
    case 'late':
      return `${name} started at ${minute(untilUs)}, ${after} after it was reported late`
    case 'long':
      return `${name} ended or started again after ${formatSpan(untilUs - (alert.startedUs ?? alert.sinceUs))}`
    case 'failed':
      return `${name} completed at ${minute(untilUs)}, after ${after} of failure`
    case 'metric':
      return `${name}: the metric is back after ${after}`
    case 'slow':
      return `${name} is back to its usual duration after ${after}${episode?.figure ? `; the slow run took ${formatSpan(episode.figure)}` : ''}`
    default:
      return alert.condition satisfies never
  }
}

interface Context {
  readonly type: WebhookBody['type']
  readonly alert: Alert
  readonly watch: StoredWatch
  readonly summary: string
  readonly nowUs: number
  readonly publicUrl: string
  readonly episode?: Episode | undefined
  readonly series?: Series | undefined
}

/** The content of a notification: the body for webhooks, and more details for people. */
export function toBody({ type, alert, watch, summary, nowUs, publicUrl, episode, series }: Context): NotificationBody {
  const facts: [string, string][] = [
    ['Watch', watch.spec.name],
    ['Process', alert.process],
  ]
  if (alert.meta !== null) facts.push(['Meta', alert.meta])
  if (alert.uid) facts.push(['Run', alert.uid])
  if (alert.startedUs !== null) facts.push(['Started', iso(alert.startedUs)])
  if (episode?.figure !== undefined && alert.condition !== 'metric' && alert.condition !== 'failed')
    facts.push(['Duration', formatSpan(episode.figure)])
  const usualUs = series && usualDurationUs(series, alert.startedUs ?? nowUs)
  if (usualUs !== undefined) facts.push(['Usual duration', formatSpan(usualUs)])
  const exception = series?.exceptions.findLast(({ atUs }) => atUs >= (alert.startedUs ?? alert.sinceUs) - 60e6)
  if (alert.condition === 'failed' && exception !== undefined)
    facts.push(['Exception', exception.headline.slice(0, 500)])
  facts.push(['Since', iso(alert.sinceUs)])
  return {
    type,
    timestamp: iso(nowUs),
    data: {
      id: alert.id,
      watch: { id: watch.id, name: watch.spec.name },
      condition: alert.condition,
      process: alert.process,
      meta: alert.meta,
      uid: alert.uid,
      since: iso(alert.sinceUs),
      summary,
      url: `${publicUrl}/#/watches?watch=${watch.id}`,
    },
    facts,
  }
}

/** The median of the completed runs before that time. */
function usualDurationUs({ marks }: Series, beforeUs: number): number | undefined {
  const open = new Map<string, number>()
  const durations: number[] = []
  for (const { mark, uid, atUs } of marks) {
    if (atUs > beforeUs) break
    const startedUs = open.get(uid)
    if (mark === 'start') open.set(uid, atUs)
    else open.delete(uid)
    if (mark === 'end' && startedUs !== undefined) durations.push(atUs - startedUs)
  }
  return durations.slice(-20).sort((a, b) => a - b)[Math.floor(Math.min(durations.length, 20) / 2)]
}
