// The reminders of alerts that fire.
import type { AlertChange, StoredAlert } from '../storage/watch-store.ts'
import { remindEveryUs, type StoredWatch } from '../watch.ts'
import { notificationsOf } from './describe-alert.ts'

/** The reminder of an alert that is due; undefined when none is. */
export function toReminder(
  watch: StoredWatch,
  alert: StoredAlert,
  { nowUs, publicUrl }: { readonly nowUs: number; readonly publicUrl: string },
): Extract<AlertChange, { kind: 'remind' }> | undefined {
  const everyUs = remindEveryUs(watch.spec)
  if (everyUs === undefined || alert.acked !== null) return undefined
  const dueUs = alert.remindUs ?? alert.sinceUs + everyUs
  const next = { kind: 'remind', id: alert.id, remindUs: nowUs + everyUs } as const
  if (dueUs > next.remindUs) return { ...next, notifications: [] } // the clock was set back
  if (dueUs > nowUs) return undefined
  const context = { type: 'alert.reminder', alert, watch, summary: alert.summary, nowUs, publicUrl } as const
  return { ...next, notifications: notificationsOf(watch.spec.channels, context) }
}
