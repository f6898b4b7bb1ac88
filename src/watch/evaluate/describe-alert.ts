// Describes notifications.
import type { WebhookBody } from '../../wire/alerts.ts'
import { formatSpan, iso } from '../conditions/wording.ts'
import type { Episode } from '../rules/episode.ts'
import type { Alert, NotificationBody } from '../storage/watch-store.ts'
import type { StoredWatch } from '../watch.ts'
import type { Series } from './memory.ts'

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
