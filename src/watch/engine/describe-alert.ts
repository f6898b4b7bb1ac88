// The rows and notifications of changed alerts: what the judge found, in the words of the conditions.

import type { NewNotification, NotificationBody } from '../../notify/notification.ts'
import type { EndedBy, WebhookBody } from '../../wire/alerts.ts'
import type { FiredAlert } from '../conditions/condition.ts'
import { CONDITIONS } from '../conditions/conditions.ts'
import { formatSpan, iso, subjectName } from '../conditions/wording.ts'
import type { Change, Facts, JudgedAlert } from '../log/judge-interface.ts'
import { createId } from '../random-id.ts'
import type { AlertChange, StoredAlert } from '../storage/watch-store.ts'
import { remindEveryUs, type StoredWatch } from '../watch.ts'

interface Context {
  readonly type: WebhookBody['type']
  readonly alert: StoredAlert
  readonly watch: StoredWatch
  readonly summary: string
  readonly nowUs: number
  readonly publicUrl: string
  readonly facts?: Facts
}

export type Moment = Pick<Context, 'nowUs' | 'publicUrl'>

/** For each channel its notification. */
export const notificationsOf = (channels: readonly string[], context: Context): NewNotification[] =>
  channels.map((channel) => ({ id: createId('msg'), channel, body: toBody(context) }))

/** A stored alert, as the judge sees it. */
export const toJudgedAlert = ({ id, watch, condition, instance, identity, ...alert }: StoredAlert): JudgedAlert => ({
  watch,
  condition,
  instance,
  process: alert.process,
  meta: alert.meta,
  identity: identity ?? id,
  episode: {
    sinceUs: alert.sinceUs,
    ...(alert.uid !== null && { uid: alert.uid }),
    ...(alert.startedUs !== null && { startedUs: alert.startedUs }),
    ...alert.episode,
  },
})

/** A new alert. */
export function toOpen(
  { account, alert: judged, untilUs, awaitsUs, facts }: Extract<Change, { kind: 'open' }>,
  watch: StoredWatch,
  moment: Moment,
): Extract<AlertChange, { kind: 'open' }> {
  const { condition, instance, identity, process, meta, episode } = judged
  const { sinceUs, uid, startedUs } = episode
  const everyUs = remindEveryUs(watch.spec)
  const alert: StoredAlert = {
    id: createId('ale'),
    account,
    watch: watch.id,
    instance,
    condition,
    process,
    meta,
    sinceUs,
    identity,
    episode,
    uid: uid === undefined || uid === '' ? null : uid,
    startedUs: startedUs ?? null,
    resolvedUs: untilUs ?? null,
    notifiedUs: null,
    remindUs: everyUs === undefined ? null : moment.nowUs + everyUs,
    summary: summaryOf(watch, judged),
    endedBy: untilUs === undefined ? null : 'event',
    channels: null,
    acked: null,
  }
  // one notification for an episode that was over when its events arrived
  const end =
    untilUs === undefined
      ? ''
      : `; ${CONDITIONS[condition].summarizeEnd(alert, untilUs, episode, watch.spec[condition])}`
  const summary = `${alert.summary}${end}`
  const context = { type: 'alert.firing', alert, watch, summary, facts, ...moment } as const
  return {
    kind: 'open',
    alert: { ...alert, summary },
    watchSinceUs: watch.sinceUs,
    watchChanged: watch.changed,
    notifications: notificationsOf(watch.spec.channels, context),
    ...(awaitsUs !== undefined && { waitUs: awaitsUs }),
  }
}

/** What an alert says when it opens. */
const summaryOf = ({ spec }: Pick<StoredWatch, 'spec'>, { condition, process, meta, episode }: JudgedAlert): string =>
  CONDITIONS[condition].summarize({ process, meta }, spec[condition], episode)

/** The end that the judge found. */
export function toEndOf(
  { untilUs, endedBy, ended, facts }: Extract<Change, { kind: 'end' }>,
  alert: StoredAlert,
  watch: StoredWatch,
  moment: Moment,
): AlertChange {
  const summary =
    endedBy === 'expired'
      ? expiredSummary(alert, untilUs)
      : CONDITIONS[alert.condition].summarizeEnd(alert, untilUs, ended, watch.spec[alert.condition])
  return toEnd({ alert, watch, endedBy, atUs: untilUs, summary, facts, ...moment })
}

function expiredSummary(alert: FiredAlert & Pick<StoredAlert, 'condition'>, untilUs: number): string {
  const whom = alert.condition === 'long' ? ' from that run' : ''
  return `${subjectName(alert)}: nothing arrived${whom} for ${formatSpan(untilUs - alert.sinceUs)}; the alert expired`
}

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

/** The console's address of an alert. It names the account: a person may have several. */
export const pathOf = ({ id, account }: Pick<StoredAlert, 'id' | 'account'>): string =>
  `/#/alert?${new URLSearchParams({ id, account })}`

/** The content of a notification: the body for webhooks, and more details for people. */
export function toBody({ type, alert, watch, summary, nowUs, publicUrl, facts = {} }: Context): NotificationBody {
  const { condition, process, meta, uid, startedUs, sinceUs, resolvedUs, endedBy, episode } = alert
  const { exception, usualUs } = facts
  const lines: [string, string][] = [
    ['Watch', watch.spec.name],
    ['Process', process],
  ]
  if (meta !== null) lines.push(['Meta', meta])
  if (uid) lines.push(['Run', uid])
  if (startedUs !== null) lines.push(['Started', iso(startedUs)])
  if (episode?.figure !== undefined && condition !== 'metric' && condition !== 'failed')
    lines.push(['Duration', formatSpan(episode.figure)])
  if (usualUs !== undefined) lines.push(['Usually', formatSpan(usualUs)])
  if (exception !== undefined) lines.push(['Exception', exception])
  lines.push(['Since', iso(sinceUs)])
  if (resolvedUs !== null) lines.push(['Until', iso(resolvedUs)])
  return {
    type,
    timestamp: iso(nowUs),
    data: {
      id: alert.id,
      watch: { id: watch.id, name: watch.spec.name },
      condition,
      process,
      meta,
      uid,
      since: iso(sinceUs),
      started_at: startedUs === null ? null : iso(startedUs),
      resolved_at: resolvedUs === null ? null : iso(resolvedUs),
      ended_by: endedBy,
      exception: exception ?? null,
      note: null,
      usual_ms: usualUs === undefined ? null : Math.round(usualUs / 1000),
      summary,
      url: `${publicUrl}${pathOf(alert)}`,
    },
    facts: lines,
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
  type,
  timestamp: iso(nowUs),
  facts,
  data: {
    condition: null,
    process: '',
    meta: null,
    uid: null,
    since: iso(nowUs),
    started_at: null,
    resolved_at: null,
    ended_by: null,
    exception: null,
    usual_ms: null,
    note: null,
    ...data,
  },
})
