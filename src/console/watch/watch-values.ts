// What the form of a watch holds, and the watch that it makes. Nothing of an existing watch is lost: what the form does not
// change is not sent.
import type { Channel } from '../../wire/channels.ts'
import { DEFAULT_GRACE } from '../../wire/defaults.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import type { CreateWatch, Watch } from '../../wire/watches.ts'
import { suggestLate, suggestLong } from './suggest-watch.ts'

/** Texts are those of the fields. Those of a condition stay while its box is not checked. */
export interface WatchValues {
  readonly name: string
  readonly process: string
  readonly meta: string | undefined
  readonly isLate: boolean
  readonly kind: 'every' | 'cron'
  readonly every: string
  readonly cron: string
  readonly tz: string
  readonly grace: string
  readonly hasFailed: boolean
  readonly after: string
  readonly exceptions: boolean
  readonly isLong: boolean
  readonly long: string
  readonly isSlow: boolean
  readonly slow: string
  readonly hasMetric: boolean
  readonly metric: string
  readonly of: 'last' | 'min' | 'max' | 'mean'
  readonly window: string
  readonly side: 'above' | 'below'
  readonly threshold: string
  readonly lasting: string
  readonly remind: string
  readonly channels: readonly string[]
}

const here = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

const NOTHING: Omit<WatchValues, 'tz'> = {
  ...{ name: '', process: '', meta: undefined, remind: '', channels: [] },
  ...{ isLate: false, kind: 'every', every: '1d', cron: '', grace: DEFAULT_GRACE },
  ...{ hasFailed: false, after: '1', exceptions: true, isLong: false, long: '', isSlow: false, slow: '2' },
  ...{ hasMetric: false, metric: '', of: 'last', window: '10m', side: 'above', threshold: '', lasting: '' },
}

/** Whether the watch reports each failed run of the process, of every process if that is empty. */
export const reportsFailures = ({ process, meta, failed, state }: Watch, of: string): boolean =>
  (process === '*' || process === of) && meta === null && failed?.after === 1 && state !== 'paused'

/** By the rhythm of its process, which `row` knows. Reports no failure a second time, and notifies all channels. */
export function beginWatch(
  process: string,
  row: OverviewProcess | undefined,
  isFailureReported: boolean,
  channels: readonly Channel[],
): WatchValues {
  const usable = channels.filter(({ state }) => state !== 'disabled').map(({ id }) => id)
  const values = { ...NOTHING, tz: here(), process, hasFailed: !isFailureReported, channels: usable }
  return row === undefined ? values : { ...values, ...suggestValues(row) }
}

export function suggestValues(row: OverviewProcess): Pick<WatchValues, 'isLate' | 'every' | 'grace' | 'long'> {
  const late = suggestLate(row)
  return { isLate: late !== undefined, every: late?.every ?? '1d', grace: late?.grace ?? '1h', long: suggestLong(row) }
}

export function valuesOf(watch: Watch): WatchValues {
  const { late, long, failed, metric, slow } = watch
  const bounds = metric?.above ?? metric?.below
  return {
    ...NOTHING,
    ...{ name: watch.name, process: watch.process, meta: watch.meta ?? undefined, channels: watch.channels },
    ...{ remind: watch.remind ?? '', tz: here() },
    ...(late !== null && {
      isLate: true,
      kind: late.cron === undefined ? 'every' : 'cron',
      ...{ every: late.every ?? NOTHING.every, cron: late.cron ?? '', grace: late.grace ?? '' },
      tz: late.tz ?? (late.cron === undefined ? here() : ''),
    }),
    ...(long !== null && { isLong: true, long }),
    ...(failed !== null && {
      hasFailed: true,
      ...{ after: String(failed.after ?? 1), exceptions: failed.exceptions ?? false },
    }),
    ...(slow !== null && { isSlow: true, slow: String(slow) }),
    ...(metric !== null && {
      ...{ hasMetric: true, metric: metric.name, of: metric.of, window: metric.window },
      ...{ side: metric.above === undefined ? 'below' : 'above', threshold: String(bounds), lasting: metric.for ?? '' },
    }),
  }
}

/** An empty name is that of the process. */
export function toWatch(values: WatchValues): CreateWatch {
  const { process, isLate, kind, hasFailed, hasMetric, side } = values
  const given = (name: string, text: string) => (text.trim() === '' ? {} : { [name]: text.trim() })
  const due =
    kind === 'every' ? { every: values.every.trim() } : { cron: values.cron.trim(), ...given('tz', values.tz) }
  return {
    name: values.name.trim() || process.trim().slice(0, 100),
    process,
    meta: values.meta ?? null,
    late: isLate ? { ...due, ...given('grace', values.grace) } : null,
    long: values.isLong ? values.long.trim() : null,
    failed: hasFailed ? { after: Number(values.after), exceptions: values.exceptions } : null,
    slow: values.isSlow ? Number(values.slow) : null,
    metric: hasMetric
      ? {
          ...{ name: values.metric, window: values.window.trim(), of: values.of },
          [side]: Number(values.threshold),
          ...given('for', values.lasting),
        }
      : null,
    channels: [...values.channels],
    remind: values.remind.trim() || null,
  }
}

export const hasCondition = ({ isLate, isLong, hasFailed, isSlow, hasMetric }: WatchValues): boolean =>
  isLate || isLong || hasFailed || isSlow || hasMetric

/** Only what was changed, so that the alerts of all other conditions continue. */
export function changesOf(before: WatchValues, after: WatchValues): Partial<CreateWatch> {
  const [old, next] = [toWatch(before), toWatch(after)]
  const changed = Object.entries(next).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name as keyof CreateWatch]),
  )
  return Object.fromEntries(changed)
}
