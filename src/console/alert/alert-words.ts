// The sentences of the page of an alert, in the reader's zone. Pure.
import type { AlertDetail, RaisedException, SentNotification } from '../../wire/alert-detail.ts'
import type { Alert } from '../../wire/alerts.ts'
import { formatSpan } from '../../wire/span-text.ts'
import { describeSeen } from '../../wire/words.ts'
import { plural } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { inReadersZone, shortMoment } from '../kit/words.ts'
import { describeAlert } from '../watch/alert-table.tsx'

type Subject = Pick<Alert, 'process' | 'meta'>

const nameOf = ({ process, meta }: Subject): string => (meta === null ? process : `${process} (${meta})`)

/** `nightly import failed` */
export const titleOf = (alert: Alert): string => `${alert.process} ${describeAlert(alert)}`

interface Sentence {
  /** `nightly import (eu) failed at 03:14, 42 min ago` */
  readonly head: string
  /** `It should start every 1d, and did not by 03:10.` */
  readonly more: string
}

/** `was late`: of one that is over. */
const wasText = (alert: Alert): string =>
  alert.condition === 'metric' ? 'had a metric out of range' : describeAlert(alert).replace(/^is /, 'was ')

/** The text of an alert that is over is about its end: it stands below what happened. */
export function sentenceOf(alert: Alert, nowMs: number): Sentence {
  const sinceMs = parseTime(alert.since)
  const summary = inReadersZone(alert.summary, nowMs)
  if (alert.state === 'resolved')
    return {
      head: `${nameOf(alert)} ${wasText(alert)} at ${shortMoment(sinceMs, nowMs)}, ${formatAgo(sinceMs, nowMs)}`,
      more: `${summary}.`,
    }
  const ago = agoOf(alert, nowMs)
  const rest = summary.startsWith(nameOf(alert)) ? summary.slice(nameOf(alert).length) : undefined
  const cut = rest === undefined || rest.startsWith(': ') ? -1 : rest.indexOf(': ')
  if (rest === undefined || cut < 0) return { head: `${summary}, ${ago}`, more: '' }
  const more = rest.slice(cut + 2)
  return {
    head: `${nameOf(alert)}${rest.slice(0, cut)}, ${ago}`,
    more: `${more.charAt(0).toUpperCase()}${more.slice(1)}.`,
  }
}

/** After the moment that the text names: a failure's, of a run that is too long its start; else how long it fires. */
function agoOf({ condition, since, started_at: started }: Alert, nowMs: number): string {
  if (condition === 'failed') return formatAgo(parseTime(since), nowMs)
  if (condition === 'long') return formatAgo(parseTime(started ?? since), nowMs)
  return `for ${formatSpan(nowMs - parseTime(since))}`
}

/** From its last start until now, or until the start that ended the alert; null: not known. */
export function openGapOf(alert: Alert, lastStart: string | null, nowMs: number): number | null {
  const { state, ended_by: by, resolved_at: resolved } = alert
  if (lastStart === null) return null
  if (state === 'firing') return nowMs - parseTime(lastStart)
  return by === 'event' && resolved !== null ? parseTime(resolved) - parseTime(lastStart) : null
}

const WEEK_MS = 7 * 86_400_000

/** `new`, `again after 12 days`, `12 times in 7 days`; undefined where the store did not say. */
export function noveltyOf(raised: RaisedException): string | undefined {
  const { at, previous_at: previous, last_7_days: times } = raised
  if (previous === undefined) return undefined
  const isRare = previous === null || parseTime(at) - parseTime(previous) >= WEEK_MS
  return isRare || times === undefined ? describeSeen(at, previous) || undefined : `${plural(times, 'time')} in 7 days`
}

export const SENT_TEXT = {
  'alert.firing': 'alert',
  'alert.reminder': 'reminder',
  'alert.resolved': 'end of the alert',
} as const satisfies Record<SentNotification['type'], string>

export const SENT_STATE_TEXT = {
  delivered: 'delivered',
  failing: 'failing, is tried again',
  dropped: 'not delivered',
  waiting: 'not sent yet',
} as const satisfies Record<SentNotification['state'], string>

const REASONS = {
  disabled: 'the channel is disabled',
  unconfirmed: 'its address is not confirmed',
  conditions: 'it takes no alerts of this condition',
  delay: 'it takes only alerts that fire for longer',
  maintenance: 'a maintenance was active',
  acknowledged: 'somebody had acknowledged it',
  other: 'not recorded',
} as const satisfies Record<NotNotified['reason'], string>

type NotNotified = AlertDetail['not_notified'][number]

export function whyNot({ reason, until }: NotNotified, nowMs: number): string {
  const later = until === null ? '' : `; it is sent at ${shortMoment(parseTime(until), nowMs)} if the alert still fires`
  return `${REASONS[reason]}${later}`
}
