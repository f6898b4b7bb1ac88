// What this room knows of one alert, without any store: the alert, its watch, who was notified and who was not.
import { heldUntilUs } from '../../notify/maintenance.ts'
import type { StoredChannel } from '../../notify/notification.ts'
import { Problem } from '../../problem.ts'
import { spanUs } from '../../process/span.ts'
import type { AlertDetail, NotNotified, SentNotification } from '../../wire/alert-detail.ts'
import type { WebhookBody } from '../../wire/alerts.ts'
import type { FiredAlert } from '../conditions/condition.ts'
import { iso } from '../conditions/wording.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'
import type { StoredAlert } from '../storage/watch-store.ts'
import { statusOf } from './channel-shape.ts'
import type { createManageAlerts } from './manage-alerts.ts'
import type { createManageWatches } from './manage-watches.ts'

interface ShowAlertOptions {
  readonly store: WatchStore
  readonly alerts: Pick<ReturnType<typeof createManageAlerts>, 'find' | 'answer'>
  readonly watches: Pick<ReturnType<typeof createManageWatches>, 'show'>
  nowUs(): number
}

/** The part of an alert that the stores are asked about. */
export type AlertSubject = FiredAlert & Pick<StoredAlert, 'account' | 'condition'>

/** An alert as this room knows it, before the stores are asked. */
export interface KnownAlert {
  readonly subject: AlertSubject
  readonly shown: Pick<AlertDetail, 'alert' | 'watch' | 'notifications' | 'not_notified'>
}

type Waiting = Awaited<ReturnType<WatchStore['notificationsAbout']>>['waiting'][number]
/** `until_us`: when it is sent if the alert still fires. */
type Reason = readonly [reason: NotNotified['reason'], untilUs?: number | undefined]

/** Rejects with Problem `not_found`, for an alert of another account, too. `isBrief`: answers as their status alone. */
export function createShowAlert({ store, alerts, watches, nowUs }: ShowAlertOptions) {
  return async (account: string, id: string, isBrief: boolean): Promise<KnownAlert> => {
    const subject = await alerts.find(account, id)
    const [alert] = await alerts.answer(account, [subject])
    const watch = await watches.show(account, subject.watch).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'not_found') return null
      throw error
    })
    const [{ sent, waiting }, all, maintenances] = await Promise.all([
      store.notificationsAbout(id),
      store.channels(account),
      store.maintenances(account),
    ])
    const open = new Set(waiting.map((it) => it.id))
    const tried = new Set(sent.map((it) => it.id))
    const ready = waiting.filter((it) => !tried.has(it.id) && !it.isHeld)
    const notifications = [
      ...sent.flatMap(({ id: name, channel, type, last: { atUs, ok, detail } }) => {
        const state = ok ? 'delivered' : open.has(name) ? 'failing' : 'dropped'
        return shownAs(type, { channel, at: iso(atUs), state, answer: isBrief ? statusOf(detail) : detail })
      }),
      ...ready.flatMap(({ channel, body, createdUs }) => {
        const to = all.find((it) => it.id === channel)
        return to === undefined
          ? []
          : shownAs(body.type, { channel: refOf(to), at: iso(createdUs), state: 'waiting', answer: null })
      }),
    ]
    const told = new Set(notifications.filter(({ type }) => type !== 'alert.resolved').map((it) => it.channel.id))
    const specs = maintenances.map(({ spec }) => spec)
    const heldUntil = (us: number) => heldUntilUs(specs, subject.process, us)
    const not_notified = all
      .filter(({ id: name }) => watch?.channels.includes(name) === true && !told.has(name))
      .map((to) => {
        const held = waiting.find((it) => it.channel === to.id && it.isHeld)
        const [reason, untilUs] = reasonOf(to, subject, held, nowUs(), heldUntil)
        return { channel: refOf(to), reason, until: untilUs === undefined ? null : iso(untilUs) }
      })
    return { subject, shown: { alert: alert!, watch, notifications, not_notified } }
  }
}

/** A test is about no alert. */
const shownAs = (type: WebhookBody['type'], shown: Omit<SentNotification, 'type'>): SentNotification[] =>
  type === 'test' ? [] : [{ ...shown, type }]

const refOf = ({ id, name, kind }: StoredChannel) => ({ id, name, kind })

/** Why a channel of the watch got nothing. */
function reasonOf(
  { state, settings: { conditions, delay } }: StoredChannel,
  { condition, sinceUs, resolvedUs }: StoredAlert,
  held: Waiting | undefined,
  nowUs: number,
  heldUntil: (us: number) => number | undefined,
): Reason {
  if (state === 'disabled') return ['disabled']
  if (state === 'pending') return ['unconfirmed']
  if (conditions !== null && !conditions.includes(condition)) return ['conditions']
  const delayUs = delay === null ? 0 : spanUs(delay)
  if (held?.isSilenced === true) return ['acknowledged']
  if (held !== undefined) {
    const [delayedUs, maintenanceUs = 0] = [held.createdUs + delayUs, heldUntil(nowUs)]
    const untilUs = Math.max(delayedUs, maintenanceUs)
    return [delayedUs > nowUs ? 'delay' : 'maintenance', Number.isFinite(untilUs) ? untilUs : undefined]
  }
  if (resolvedUs === null) return ['other']
  if (resolvedUs - sinceUs < delayUs) return ['delay']
  return resolvedUs <= (heldUntil(sinceUs + delayUs) ?? 0) ? ['maintenance'] : ['other']
}
