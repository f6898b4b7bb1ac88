// Five facts: when it ran, when it runs next, how long it takes, how often it fails, and whether somebody hears.
import type { ComponentChildren } from 'preact'
import { formatSpan } from '../../wire/describe-process.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { missedText, RUN_STATE_TEXT } from '../../wire/words.ts'
import { formatCount, formatDuration, plural } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { useView } from '../kit/view.tsx'
import { expectedMoment, shortMoment } from '../kit/words.ts'
import type { Rest } from './process-answer.ts'

interface Props {
  readonly row: OverviewProcess
  /** Undefined until it has come. */
  readonly rest: Rest | undefined
}

interface FactProps {
  readonly name: string
  readonly value: ComponentChildren
  readonly about: ComponentChildren
  readonly tone?: 'bad' | 'warn' | ''
}

const Fact = ({ name, value, about, tone = '' }: FactProps) => (
  <div class={`process-fact ${tone}`}>
    <dt>{name}</dt>
    <dd>{value}</dd>
    <dd class="sub">{about}</dd>
  </div>
)

export const Facts = ({ row, rest }: Props) => (
  <dl class="process-facts">
    <LastStart row={row} />
    <NextStart row={row} />
    <MedianToday row={row} />
    <FailedThisWeek rest={rest} />
    <WhoHears row={row} />
  </dl>
)

function LastStart({ row: { last_start_at: at, runs } }: Omit<Props, 'rest'>) {
  const { nowMs } = useView()
  const [, state, ms, meta] = runs.find(([time]) => time === at) ?? []
  const about = state === undefined ? 'no start in 30 days' : [RUN_STATE_TEXT[state], meta].filter(Boolean).join(', ')
  const value = at === null ? '–' : formatAgo(parseTime(at), nowMs)
  // an end whose start is not known counts as a start
  const isBare = state === 'orphan' || (state === 'failed' && ms === null)
  return <Fact name={isBare ? 'Last end' : 'Last start'} value={value} about={about} />
}

function NextStart({ row }: Omit<Props, 'rest'>) {
  const { nowMs } = useView()
  const { next_start_at: next, late_at: late, every_s: everyS, state } = row
  if (next === null) return <Fact name="Next start" value="–" about="no rhythm yet" />
  const nextMs = parseTime(next)
  const isLate = state === 'silent' || (late !== null && parseTime(late) < nowMs)
  const often = everyS === null ? '' : `every ${formatSpan(everyS * 1000)}`
  const lateText = late === null ? '' : `late from ${shortMoment(parseTime(late), nowMs)}`
  const value = isLate ? missedText(shortMoment(nextMs, nowMs)) : expectedMoment(nextMs, nowMs)
  const about = [often, isLate ? '' : lateText].filter(Boolean).join('; ')
  return <Fact name="Next start" value={value} about={about} tone={isLate ? 'bad' : ''} />
}

function MedianToday({ row: { median_24h_ms: today, change, usual_ms: usual } }: Omit<Props, 'rest'>) {
  const { nowMs } = useView()
  const isSlower = change !== null && change.after_ms > change.before_ms
  const about =
    today === null
      ? 'no completed run'
      : change !== null
        ? `${formatDuration(change.before_ms)} before ${shortMoment(parseTime(change.at), nowMs)}`
        : usual === null || today === usual || Math.abs(today / usual - 1) < 0.25
          ? 'as usual'
          : `usually ${formatDuration(usual)}`
  return <Fact name="Median, 24 h" value={formatDuration(today)} about={about} tone={isSlower ? 'warn' : ''} />
}

function FailedThisWeek({ rest }: Pick<Props, 'rest'>) {
  if (rest === undefined) return <Fact name="Failed, 7 days" value="…" about="" />
  const bad = rest.week.reduce((sum, { failed, abandoned }) => sum + failed + abandoned, 0)
  const all = rest.week.reduce((sum, { count }) => sum + count, bad)
  if (all === 0) return <Fact name="Failed, 7 days" value="–" about="no runs" />
  const share = `${((100 * bad) / all).toFixed(bad > 0 && bad / all < 0.01 ? 2 : 1)} %`
  const about = bad === 0 ? `of ${plural(all, 'run')}` : `of ${plural(all, 'run')}, ${share}`
  return (
    <Fact
      name="Failed, 7 days"
      value={bad === 0 ? 'none' : formatCount(bad)}
      about={about}
      tone={bad > 0 ? 'bad' : ''}
    />
  )
}

function WhoHears({ row: { notified } }: { row: OverviewProcess }) {
  const isHeard = notified.late && notified.channels.length > 0
  const about = isHeard ? notified.channels.join(', ') : notified.late ? 'no channel' : 'no watch for lateness'
  return (
    <Fact
      name="If it is late"
      value={isHeard ? 'notifies' : 'no one is notified'}
      about={about}
      tone={isHeard ? '' : 'warn'}
    />
  )
}
