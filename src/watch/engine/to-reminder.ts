// The reminders of alerts that fire.
import type { Alert, AlertChange } from '../storage/watch-store.ts'
import type { StoredWatch, WatchRules } from '../watch.ts'
import { notificationsOf } from './describe-alert.ts'

/** A watch with its rules, built once per version: parsing a cron expression is expensive. */
export interface RuledWatch {
  readonly watch: StoredWatch
  readonly rules: WatchRules
}

/** The reminder of an alert that is due; undefined when none is. */
export function toReminder(
  { watch, rules }: RuledWatch,
  alert: Alert,
  { nowUs, publicUrl }: { readonly nowUs: number; readonly publicUrl: string },
): Extract<AlertChange, { kind: 'remind' }> | undefined {
  const { remindUs: everyUs } = rules
  if (everyUs === undefined || alert.acked !== null) return undefined
  const dueUs = alert.remindUs ?? alert.sinceUs + everyUs
  const next = { kind: 'remind', id: alert.id, remindUs: nowUs + everyUs } as const
  if (dueUs > next.remindUs) return { ...next, notifications: [] } // the clock was set back
  if (dueUs > nowUs) return undefined
  const context = { type: 'alert.reminder', alert, watch, summary: alert.summary, nowUs, publicUrl } as const
  return { ...next, notifications: notificationsOf(watch.spec.channels, context) }
}
