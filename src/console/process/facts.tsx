// How a process is, in a sentence and in five facts: when it ran, when it runs next, how long it takes, how often it
// fails, and whether somebody hears.

import { describeProcess } from '../../wire/describe-process.ts'
import type { OverviewProcess, OverviewRunState } from '../../wire/overview.ts'
import { formatSpan } from '../../wire/span-text.ts'
import type { SummaryRow } from '../../wire/timings.ts'
import { RUN_STATE_TEXT } from '../../wire/words.ts'
import { EMPTY_TEXT } from '../exceptions/line-of.ts'
import { ApiError } from '../kit/api.ts'
import { formatCount, formatDuration, formatFigure, plural } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { runLink } from '../kit/run-links.ts'
import { useAnnounced } from '../kit/use-announced.ts'
import { Link, useView } from '../kit/view.tsx'
import { describeNext, shortMoment, wordsAt } from '../kit/words.ts'
import { countEnded } from '../timeline/count-bins.ts'
import { alertLink, alertOf } from '../watch/watch-link.ts'
import type { Asked, Rest } from './ask-rest.ts'
import { lastRun } from './last-run.ts'

interface SentenceProps {
  readonly row: OverviewProcess
  /** Undefined until it has come. */
  readonly rest: Rest | undefined
}

export function StateSentence({ row, rest }: SentenceProps) {
  const { nowMs } = useView()
  const { process, run, exception, fingerprint: group, state } = row
  const alert = alertOf(row)
  const { tone, text, change } = describeProcess(row, nowMs, wordsAt(nowMs))
  const isBad = tone === 'bad'
  useAnnounced([row], true)
  const { groups, range, meta } = rest ?? {}
  const known = groups instanceof ApiError ? undefined : groups
  // not its `runs`: those are only the ones with a uid
  const count = known?.find(({ fingerprint }) => fingerprint === group)?.count
  return (
    <div class="process-top">
      <p class={`process-sentence ${tone}`}>
        <i class={`mark mark-${state}`} />
        <span>{text}</span>
      </p>
      {change !== undefined && <p class="process-change">{change}</p>}
      {isBad && exception !== null && (
        <p class="process-why">
          <code>{exception || EMPTY_TEXT}</code>
        </p>
      )}
      {isBad && run !== null && (
        <p class="button-row">
          <a class="button button-main" href={runLink(process, run, nowMs)}>
            {state === 'silent' ? 'Open the last run' : 'Open this run'}
          </a>
          {alert !== undefined && (
            <a class="button" href={alertLink(alert.id)}>
              Open the alert
            </a>
          )}
          {group !== null && (
            <Link class="button" to="exceptions" of={{ process, meta, from: range?.from ?? '-7d', group }}>
              All {count && formatCount(count)} like this
            </Link>
          )}
        </p>
      )}
    </div>
  )
}

interface Fact {
  readonly name: string
  readonly value: string
  readonly about: string
  readonly tone?: 'bad' | 'warn' | false
}

interface FactsProps {
  readonly row: OverviewProcess
  /** Undefined until it has come. */
  readonly week: Asked<readonly SummaryRow[]> | undefined
}

export function Facts({ row, week }: FactsProps) {
  const { nowMs } = useView()
  const heard = whoHears(row, nowMs)
  const facts = [lastStart(row, nowMs), nextStart(row, nowMs), median(row, nowMs), failures(week)]
  return <FactList facts={heard === undefined ? facts : [...facts, heard]} />
}

function FactList({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="process-facts" style={{ '--facts': facts.length }}>
      {facts.map(({ name, value, about, tone }, i) => (
        <div key={i} class={`process-fact ${tone || ''}`}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd class="sub">{about}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Facts of a process that sends metrics or exceptions alone. */
export function FactsWithoutRuns({ row, rest }: { row: OverviewProcess; rest: Rest | undefined }) {
  const { nowMs } = useView()
  const { last_seen_at: seen, last_24h: day } = row
  const names = new Set(rest === undefined || rest.metrics instanceof ApiError ? [] : rest.metrics.map((it) => it.name))
  return (
    <FactList
      facts={[
        { name: 'Last seen', value: seen === null ? '–' : formatAgo(parseTime(seen), nowMs), about: 'any event' },
        {
          name: 'Metrics',
          value: rest === undefined ? '…' : formatCount(names.size),
          about: rest === undefined ? '' : `in ${rest.range.label}`,
        },
        { name: 'Exceptions, 24 h', value: day.exceptions === 0 ? 'none' : formatCount(day.exceptions), about: '' },
      ]}
    />
  )
}

const IF_LATE = 'If it is late'
const NO_ONE: NonNullable<OverviewProcess['if_late']> = { channels: [], held: false, held_until: null }

function lastStart(row: OverviewProcess, nowMs: number): Fact {
  const { at, run, took } = lastRun(row)
  const [, state, ms, meta] = run ?? []
  // an end whose start is not known counts as a start
  const isBare = state === 'orphan' || (state === 'failed' && ms === null)
  return {
    name: isBare ? 'Last end' : 'Last start',
    value: at === null ? '–' : formatAgo(parseTime(at), nowMs),
    about: state === undefined ? 'no start in 30 days' : [describeEnd(state, took), meta].filter(Boolean).join(', '),
  }
}

const describeEnd = (state: OverviewRunState, took: number | null): string =>
  took === null ? RUN_STATE_TEXT[state] : `${RUN_STATE_TEXT[state]} in ${formatDuration(took)}`

function nextStart(row: OverviewProcess, nowMs: number): Fact {
  const { late_at: late, every_s: everyS } = row
  const { text = '–', isLate = false } = describeNext(row, nowMs) ?? {}
  const often = everyS === null ? 'no rhythm yet' : `every ${formatSpan(everyS * 1000)}`
  const isSaid = isLate || late === null || text.startsWith('late')
  const about = isSaid ? often : `${often}; late from ${shortMoment(parseTime(late), nowMs)}`
  return { name: 'Next start', value: text, about, tone: isLate && 'bad' }
}

/** Several metas: the one that decides the state, because a usual duration is that of one meta. */
function median({ by_meta: metas = [], ...row }: OverviewProcess, nowMs: number): Fact {
  const own = metas.length > 1 ? metas.find(({ meta }) => meta === row.meta) : undefined
  const shown = own ?? row
  const { median_24h_ms: today, change } = shown
  return {
    name: 'Median, 24 h',
    value: formatDuration(today),
    about: [compareMedian(shown, nowMs), own && (own.meta ?? 'without meta')].filter(Boolean).join(', '),
    tone: change !== null && change.after_ms > change.before_ms && 'warn',
  }
}

type Compared = Pick<OverviewProcess, 'median_24h_ms' | 'median_7d_ms' | 'usual_ms' | 'change'>

/** Usual covers the newest 20 runs: only the week before shows that a busy job became slower yesterday. */
export function compareMedian(
  { median_24h_ms: today, median_7d_ms: week, usual_ms: usual, change }: Compared,
  nowMs: number,
) {
  if (today === null) return 'no completed run'
  if (change !== null) return `${formatDuration(change.before_ms)} before ${shortMoment(parseTime(change.at), nowMs)}`
  const isLike = (other: number | null) => other === null || Math.abs(today / other - 1) < 0.25
  if (!isLike(week)) return `${formatDuration(week)} in the week before`
  return isLike(usual) ? 'as usual' : `usually ${formatDuration(usual)}`
}

function failures(week: FactsProps['week']): Fact {
  const name = 'Failed, 7 days'
  if (week === undefined) return { name, value: '…', about: '' }
  if (week instanceof ApiError) return { name, value: '–', about: 'not available' }
  const { bad, all } = countEnded(week)
  if (all === 0) return { name, value: '–', about: 'no runs' }
  const share = bad > 0 ? `, ${formatFigure((100 * bad) / all)} %` : ''
  const value = bad === 0 ? 'none' : formatCount(bad)
  return { name, value, about: `of ${plural(all, 'run')}${share}`, tone: bad > 0 && 'bad' }
}

/** The card of notifications says it, if no one is notified. */
function whoHears({ if_late: { channels, held, held_until: until } = NO_ONE }: OverviewProcess, nowMs: number) {
  if (channels.length === 0) return undefined
  const names = channels.join(', ')
  if (!held) return { name: IF_LATE, value: 'notifies', about: names }
  const about =
    until === null ? 'by a maintenance' : `until ${shortMoment(parseTime(until), nowMs)}, then notifies ${names}`
  return { name: IF_LATE, value: 'held back', about, tone: 'warn' } as const
}
