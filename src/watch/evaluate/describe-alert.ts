// Describes notifications.
import type { EndedBy, WebhookBody } from '../../wire/alerts.ts'
import { formatSpan, iso } from '../conditions/wording.ts'
import { createId } from '../random-id.ts'
import type { Alert, AlertChange, NewNotification, NotificationBody } from '../storage/watch-store.ts'
import type { StoredWatch } from '../watch.ts'
import type { Series } from './memory.ts'

/** A link shows this stretch around the start of the run. */
const AROUND_US = 3600e6
/** An exception may be reported this long before or after the marks of its run. */
const EARLIER_US = 60e6

interface Context {
  readonly type: WebhookBody['type']
  readonly alert: Alert
  readonly watch: StoredWatch
  readonly summary: string
  readonly nowUs: number
  readonly publicUrl: string
  readonly series?: Series
}

/** For each channel its notification. */
export const notificationsOf = (channels: readonly string[], context: Context): NewNotification[] =>
  channels.map((channel) => ({ id: createId('msg'), channel, body: toBody(context) }))

/** The end of an alert; its channels are those that its firing was sent to. `atUs`: when it happened. */
export function toEnd({
  alert,
  endedBy,
  atUs,
  ...context
}: Omit<Context, 'type'> & { readonly endedBy: EndedBy; readonly atUs: number }): AlertChange {
  const resolvedUs = Math.max(alert.sinceUs, atUs)
  const ended = { ...alert, resolvedUs, endedBy }
  const channels = alert.channels ?? context.watch.spec.channels
  const notifications = notificationsOf(channels, { ...context, type: 'alert.resolved', alert: ended })
  return { kind: 'resolve', id: alert.id, resolvedUs, endedBy, summary: context.summary, notifications }
}

/** The console's address of the run that an alert is about; without one that of the runs of its process. */
export function pathOf({ process, meta, uid, startedUs }: Alert): string {
  const search = new URLSearchParams({ process })
  if (startedUs !== null) {
    const at = `${iso(startedUs).slice(0, -1)}${String(startedUs % 1000).padStart(3, '0')}000Z`
    search.set('from', iso(startedUs - AROUND_US))
    search.set('to', iso(startedUs + AROUND_US))
    search.set('run', [at, process, meta ?? '', uid ?? ''].map(encodeURIComponent).join('/'))
  }
  return `/#/runs?${search}`
}

/** The content of a notification: the body for webhooks, and more details for people. */
export function toBody({ type, alert, watch, summary, nowUs, publicUrl, series }: Context): NotificationBody {
  const { condition, process, meta, uid, startedUs, sinceUs, resolvedUs, endedBy, episode } = alert
  const facts: [string, string][] = [
    ['Watch', watch.spec.name],
    ['Process', process],
  ]
  if (meta !== null) facts.push(['Meta', meta])
  if (uid) facts.push(['Run', uid])
  if (startedUs !== null) facts.push(['Started', iso(startedUs)])
  if (episode?.figure !== undefined && condition !== 'metric' && condition !== 'failed')
    facts.push(['Duration', formatSpan(episode.figure)])
  const usualUs = series && usualDurationUs(series, startedUs ?? nowUs)
  if (usualUs !== undefined) facts.push(['Usually', formatSpan(usualUs)])
  const exception = exceptionOf(alert, series)
  if (exception !== undefined) facts.push(['Exception', exception])
  facts.push(['Since', iso(sinceUs)])
  return {
    type,
    timestamp: iso(nowUs),
    data: {
      ...{ id: alert.id, watch: { id: watch.id, name: watch.spec.name }, condition, process, meta, uid },
      since: iso(sinceUs),
      started_at: startedUs === null ? null : iso(startedUs),
      resolved_at: resolvedUs === null ? null : iso(resolvedUs),
      ended_by: endedBy,
      exception: exception ?? null,
      usual_ms: usualUs === undefined ? null : Math.round(usualUs / 1000),
      summary,
      url: `${publicUrl}${pathOf(alert)}&account=${watch.account}`,
    },
    facts,
  }
}

type Data = WebhookBody['data']

/** A notification that is about no alert. */
export const plainBody = (
  type: WebhookBody['type'],
  nowUs: number,
  data: Pick<Data, 'id' | 'watch' | 'summary' | 'url'> & Partial<Data>,
  facts: NotificationBody['facts'],
): NotificationBody => ({
  ...{ type, timestamp: iso(nowUs), facts },
  data: {
    ...{ condition: null, process: '', meta: null, uid: null, since: iso(nowUs), started_at: null },
    ...{ resolved_at: null, ended_by: null, exception: null, usual_ms: null },
    ...data,
  },
})

/**
 * The first line of the exception of a failed run. One with its uid is its own unless another run with that uid raised
 * it; one without is from its start to its end.
 */
function exceptionOf({ condition, uid, startedUs, sinceUs }: Alert, series: Series | undefined): string | undefined {
  if (condition !== 'failed' || series === undefined) return undefined
  const { marks, exceptions } = series
  const near = exceptions.filter(
    ({ atUs }) => atUs >= (startedUs ?? sinceUs) - EARLIER_US && atUs <= sinceUs + EARLIER_US,
  )
  const same = startedUs === null ? [] : marks.filter((it) => it.uid === (uid ?? ''))
  const beforeUs = same.findLast(({ atUs }) => atUs < startedUs!)?.atUs ?? Number.NEGATIVE_INFINITY
  const nextUs = same.find(({ mark, atUs }) => mark === 'start' && atUs > startedUs!)?.atUs ?? Number.POSITIVE_INFINITY
  const cause = startedUs === null ? near.find(({ atUs }) => atUs === sinceUs) : undefined
  const own = cause ?? near.findLast((it) => uid !== null && it.uid === uid && it.atUs > beforeUs && it.atUs < nextUs)
  const isOpen = (us: number) => us >= (startedUs ?? us) && us <= sinceUs
  const found = own ?? near.findLast((it) => (it.uid === undefined || uid === null) && isOpen(it.atUs))
  return found?.headline.split('\n', 1)[0]?.slice(0, 500)
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
