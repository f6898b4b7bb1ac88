// A watch and a channel in words.
import { CHANNEL_TABLE, HIDDEN } from '../../wire/channel-kinds.ts'
import type { Channel } from '../../wire/channels.ts'
import { describeNextDue } from '../../wire/next-due.ts'
import type { Watch } from '../../wire/watches.ts'

type Conditions = Pick<Watch, 'late' | 'long' | 'failed' | 'metric' | 'slow' | 'next_due'>

/** `runs longer than 1 min, or fails`. */
export function describeConditions({ late, long, failed, metric, slow, next_due }: Conditions): string {
  const due = describeNextDue(late, next_due)
  const parts = [
    late &&
      `is late (${late.every === undefined ? late.cron : `every ${spell(late.every)}`}${due === undefined ? '' : `, ${due}`})`,
    long && `runs longer than ${spell(long)}`,
    failed && ((failed.after ?? 1) > 1 ? `fails ${failed.after} times in a row` : 'fails'),
    failed?.exceptions && 'raises an exception',
    slow && `takes ${slow}× the usual time`,
    metric && `${metric.name} is ${metric.above === undefined ? `below ${metric.below}` : `above ${metric.above}`}`,
  ].filter((text) => typeof text === 'string')
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}, or ${parts.at(-1)}`
}

/** `1m` → `1 min`. */
const spell = (span: string): string =>
  span.replace(/^(\d+)([smhd])$/, (_, n, unit) => `${n} ${unit === 'm' ? 'min' : unit}`)

/** `Slack · https://hooks.slack.com/… · after 15 min · only late, failed`. */
export const describeChannel = (channel: Channel): string =>
  [
    CHANNEL_TABLE[channel.kind].label,
    addressOf(channel),
    channel.delay && `after ${spell(channel.delay)}`,
    channel.conditions && `only ${channel.conditions.join(', ')}`,
    channel.only_firing && 'not when resolved',
  ]
    .filter(Boolean)
    .join(' · ')

/** Where it goes, without what is secret. */
const addressOf = ({ to, url, chat }: Channel): string =>
  [to ?? url?.replace(HIDDEN, '…'), chat].filter((part) => part !== undefined).join(' · ')
