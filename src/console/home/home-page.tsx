// Home answers "is everything all right?": its heading is the sentence, then all processes in one table, those that
// need somebody now first. One question; the address holds search, order and state.

import type { Maintenance } from '../../wire/maintenance.ts'
import type { Overview, OverviewProcess } from '../../wire/overview.ts'
import { clausesOf, STORE_AWAY } from '../../wire/process-state.ts'
import { formatSpan } from '../../wire/span-text.ts'
import { uncheckedText } from '../../wire/words.ts'
import { isOperator } from '../health/rejected-events.tsx'
import { formatCount, plural } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { Icon } from '../kit/icon.tsx'
import { page, type Question } from '../kit/page.tsx'
import { formatRoute } from '../kit/route.ts'
import { fixRange } from '../kit/time-range.ts'
import { useAnnounced } from '../kit/use-announced.ts'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'
import { shortMoment } from '../kit/words.ts'
import { HomeFilters } from './home-filters.tsx'
import { MaintenanceLine } from './maintenance-line.tsx'
import { ProcessTable } from './process-table.tsx'
import { FILTERS_FROM, queryOf, readHomeView } from './select-rows.ts'

const EVERY_MS = 5_000
/** Pages of 100 of what the address searches, sorts or asks for. */
const PAGES_MAX = 10
const DAY_MS = 86_400_000

interface HomeAnswer {
  readonly overview: Overview
  /** As the address asks for them. */
  readonly rows: readonly OverviewProcess[]
  readonly found: number
  readonly maintenance: readonly Maintenance[]
  /** A sentence about watches that are gone. */
  readonly lost: string | undefined
  /** The account has sent 80 % of its quota, or all of it. */
  readonly quota: string | undefined
}

async function ask({ params, get }: Question<HomeAnswer>): Promise<HomeAnswer> {
  const [overview, { maintenance }, { warnings }] = await Promise.all([
    get('api/overview'),
    get('api/maintenance'),
    get('api/health'),
  ])
  const view = readHomeView(params)
  let part: Overview = view.isChosen ? await get('api/overview', queryOf(view)) : overview
  const rows = [...part.processes]
  for (let page = 1; part.next !== null && page < PAGES_MAX && view.isChosen; page++) {
    part = await get('api/overview', { ...queryOf(view), cursor: part.next })
    rows.push(...part.processes)
  }
  // a job that hangs now is shown, however many others failed
  if (!view.isChosen && overview.next !== null && overview.counts.overdue > 0) {
    const known = new Set(rows.map(({ process }) => process))
    const hanging = await get('api/overview', { state: 'overdue' })
    rows.push(...hanging.processes.filter(({ process }) => !known.has(process)))
  }
  return {
    overview,
    rows,
    found: part.found,
    maintenance: maintenance.filter(({ active }) => active),
    lost: warnings.find(({ code }) => code === 'watches_lost')?.detail,
    quota: warnings.find(({ code }) => code === 'quota')?.detail,
  }
}

function Heading({ answer }: { answer: HomeAnswer | undefined }) {
  if (answer === undefined) return <h1 tabIndex={-1}>Home</h1>
  const { counts, unjudged, failing_channels: failingChannels } = answer.overview
  const clauses = clausesOf({ counts, unjudged, failingChannels })
  return (
    <h1 tabIndex={-1} class="answer">
      {clauses.length === 0 && 'No processes yet'}
      {clauses.map(({ text, after, tone }) => [<span class={tone}>{text}</span>, after])}
    </h1>
  )
}

function Content({ answer }: { answer: HomeAnswer }) {
  const { params } = useView()
  const { overview, rows, found, maintenance, lost, quota } = answer
  useAnnounced(overview.processes)
  const view = readHomeView(params)
  const total = Object.values(overview.counts).reduce((sum, count) => sum + count, 0)
  const notices = (
    <>
      {lost !== undefined && <LostWatches text={lost} />}
      {quota !== undefined && <p class="banner banner-warn">{quota}</p>}
      {overview.stale_s !== null && <Stale seconds={overview.stale_s} />}
      <MaintenanceLine active={maintenance} />
      <WatchTrouble overview={overview} />
    </>
  )
  if (total === 0)
    return (
      <div class="home-content">
        {notices}
        <NothingYet />
      </div>
    )
  return (
    <div class="home-content">
      {overview.stale_s !== 0 && <DayLine overview={overview} />}
      {notices}
      <h2 class="hidden">All processes</h2>
      <section class="card card-table">
        {total >= FILTERS_FROM && <HomeFilters view={view} counts={overview.counts} />}
        {rows.length > 0 ? (
          <ProcessTable rows={rows} isParted={view.isWhole} />
        ) : (
          <p class="muted">No process matches.</p>
        )}
        {found > rows.length && view.isChosen && (
          <p class="home-more muted">
            The first {formatCount(rows.length)} of {formatCount(found)}: search to find the others.
          </p>
        )}
        {overview.next !== null && !view.isChosen && (
          <p class="home-more">
            <a href={formatRoute('home', { all: '1' })}>Show all {formatCount(total)} processes</a>
          </p>
        )}
      </section>
    </div>
  )
}

/** Its links lead to what it counts. */
function DayLine({ overview: { last_24h: day, counts_since: since, at } }: { overview: Overview }) {
  const { nowMs } = useView()
  const text = `${formatCount(day.failed)} of ${plural(day.runs, 'run')} failed`
  const fromMs = parseTime(since)
  const toMs = parseTime(at)
  const range = fixRange(fromMs, toMs)
  return (
    <p class="day-line">
      <span class="muted" title={since}>
        {fromMs > toMs - DAY_MS ? `Since ${shortMoment(fromMs, nowMs)}` : 'Last 24 hours'}:
      </span>{' '}
      <a href={formatRoute('runs', { ...range, state: 'failed' })}>{text}</a>
      {day.exceptions > 0 && (
        <>
          {', '}
          <a href={formatRoute('exceptions', range)}>{plural(day.exceptions, 'exception')}</a>
        </>
      )}
    </p>
  )
}

const Stale = ({ seconds }: { seconds: number }) => (
  <div class="banner banner-warn">
    <Icon name="warning" />
    {seconds === 0 ? (
      <p role="alert">{STORE_AWAY}</p>
    ) : (
      <p>
        <span role="alert">Alerts are current; everything else is old, because events wait to be read:</span>{' '}
        {formatSpan(seconds * 1000)} behind.
      </p>
    )}
  </div>
)

/** Troubles that keep people from being notified. */
function WatchTrouble({ overview: { failing_channels: failing, unjudged } }: { overview: Overview }) {
  const texts = [
    ...(failing > 0 ? [`${plural(failing, 'channel')} failing: notifications do not arrive.`] : []),
    ...(unjudged > 0 ? [`${uncheckedText(formatCount(unjudged), unjudged)}.`] : []),
  ]
  if (texts.length === 0) return null
  return (
    <p class="banner banner-warn">
      <span>
        {texts.join(' ')} <a href={formatRoute('watches')}>Open watches</a>
      </span>
    </p>
  )
}

const NothingYet = () => (
  <div class="empty">
    <Icon name="empty" />
    <p class="muted">A process appears as soon as your code sends its first event.</p>
    <a class="button button-main" href={formatRoute('welcome')}>
      Send the first event
    </a>
  </div>
)

export const HomePage = page<HomeAnswer>({
  name: 'home',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})

/** Watches that are gone with their file: nobody is notified by them. The operator may dismiss the line. */
function LostWatches({ text }: { text: string }) {
  const { app, again } = useView()
  const { attempt, fault } = useAttempt()
  const dismiss = () =>
    attempt(async () => {
      await app.api.send('DELETE', 'api/health/lost-watches')
      again()
    })
  return (
    <div class="banner banner-danger" role="alert">
      <span>{text}</span>
      {isOperator(app) && (
        <button type="button" class="button button-small" onClick={dismiss}>
          Dismiss
        </button>
      )}
      {fault}
    </div>
  )
}
