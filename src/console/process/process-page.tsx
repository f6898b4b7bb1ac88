// The page of a process: one sentence, then what is asked next, in this order: did it run, why not, is it slower, who
// hears of it. The first round of questions is the sentence alone.
import type { OverviewProcess } from '../../wire/overview.ts'
import { ACTION_TEXT } from '../../wire/words.ts'
import { askRows } from '../kit/ask-metrics.ts'
import { page, type Question } from '../kit/page.tsx'
import { formatRoute } from '../kit/route.ts'
import { readRange } from '../kit/time-range.ts'
import { useView } from '../kit/view.tsx'
import { WatchDialog } from '../watch/watch-dialog.tsx'
import { watchLink } from '../watch/watch-link.ts'
import { Calendar } from './calendar.tsx'
import { DurationCard } from './duration-card.tsx'
import { ExceptionList } from './exception-list.tsx'
import { Facts } from './facts.tsx'
import { MetaList } from './meta-list.tsx'
import { MetricCharts } from './metric-charts.tsx'
import { Notifications } from './notifications.tsx'
import type { ProcessAnswer, Rest } from './process-answer.ts'
import { rangeOf } from './range.ts'
import { RunBars } from './run-bars.tsx'
import { RunList } from './run-list.tsx'
import { SendRun } from './send-run.tsx'
import { StateSentence } from './state-sentence.tsx'

const EVERY_MS = 5_000
const RUNS = 8
const WEEK = '-7d'
const METRIC_COLUMNS = 3

const nameIn = (params: URLSearchParams): string => params.get('process') ?? ''

/** `NAME · Stint` */
export const titleOfProcess = (params: URLSearchParams): string => nameIn(params) || 'Process'

async function ask({ app, params, get, early, held }: Question<ProcessAnswer>): Promise<ProcessAnswer> {
  const process = nameIn(params)
  const range = rangeOf(params)
  const { processes } = await get('api/overview', { process })
  const row = processes[0]
  early({ row, rest: held?.rest?.range === range ? held.rest : undefined })
  if (row === undefined) return { row, rest: undefined }

  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone
  const { from, every } = range
  const { fromMs, toMs } = readRange(new URLSearchParams({ from }), app.nowMs())
  const [series, week, days, metrics, groups, channels] = await Promise.all([
    get('api/timings/summary', { process, from, every }),
    from === WEEK ? undefined : get('api/timings/summary', { process, from: WEEK }),
    get('api/timings/summary', { process, from: '-90d', every: '1d', tz }),
    askRows(get, { process, from, every }),
    get('api/exceptions/groups', { process, from, every, limit: 5 }),
    get('api/channels'),
  ])
  const metric = [...new Set(metrics.map(({ name }) => name))].slice(0, METRIC_COLUMNS)
  const { timings } = await get('api/timings', { process, from: '-30d', limit: RUNS, metric })
  const found = {
    series: series.rows,
    week: (week ?? series).rows,
    days: days.rows,
    metrics,
    groups: groups.groups,
  }
  return { row, rest: { range, fromMs, toMs, ...found, channels: channels.channels, timings } }
}

function Heading({ answer }: { answer: ProcessAnswer | undefined }) {
  const { app, params } = useView()
  const process = nameIn(params)
  const isWatched = (answer?.row?.watches?.length ?? 0) > 0
  return (
    <header class="process-head">
      <div>
        <p class="crumb">
          <a href={formatRoute('home')}>Processes</a>
        </p>
        <h1 tabIndex={-1} title={process}>
          <bdi>{process}</bdi>
        </h1>
      </div>
      {answer?.row !== undefined && (
        <div class="button-row">
          {app.may('member') && (
            <a class="button" href={formatRoute('maintenance', { process })}>
              {ACTION_TEXT.maintenance}
            </a>
          )}
          {isWatched && (
            <a class="button" href={formatRoute('watches')}>
              Watches
            </a>
          )}
          {!isWatched && app.may('member') && (
            <a class="button" href={watchLink(process)}>
              Watch
            </a>
          )}
        </div>
      )}
    </header>
  )
}

function Content({ answer }: { answer: ProcessAnswer }) {
  const { app, params, change, again } = useView()
  const { row, rest } = answer
  if (row === undefined) return <NotFound />
  const hasRuns = row.runs.length > 0
  return (
    <div class="process-content">
      <StateSentence row={row} groups={rest?.groups ?? []} />
      {hasRuns && <Facts row={row} rest={rest} />}
      {rest !== undefined && <Cards row={row} rest={rest} />}
      {rest !== undefined && params.get('watch') === 'new' && app.may('member') && (
        <WatchDialog
          {...{ row, process: row.process, channels: rest.channels, done: again }}
          close={() => change({ watch: undefined }, 'replace')}
        />
      )}
    </div>
  )
}

interface CardsProps {
  readonly row: OverviewProcess
  readonly rest: Rest
}

/** All at once: a card that came later would move the others. */
const Cards = ({ row, rest }: CardsProps) => (
  <div class="process-grid">
    <div class="stack">
      {row.runs.length > 0 && <RunBars process={row.process} runs={row.runs} />}
      {row.runs.length > 0 && <DurationCard row={row} rest={rest} />}
      {rest.timings.length > 0 && <RunList row={row} rest={rest} />}
      {rest.groups.length > 0 && <ExceptionList row={row} rest={rest} />}
      {rest.metrics.length > 0 && <MetricCharts row={row} rest={rest} />}
    </div>
    <div class="stack">
      <Notifications row={row} channels={rest.channels} />
      <Calendar process={row.process} days={rest.days} />
      {(row.by_meta?.length ?? 0) > 1 && <MetaList process={row.process} metas={row.by_meta!} />}
      <SendRun process={row.process} />
    </div>
  </div>
)

const NotFound = () => (
  <div class="empty">
    <p class="empty-title">Process not found</p>
    <p class="muted">
      No event of a process with this name has arrived in the last 40 days. Check the spelling, or look for it in{' '}
      <a href={formatRoute('home')}>all processes</a>.
    </p>
  </div>
)

export const ProcessPage = page<ProcessAnswer>({
  name: 'process',
  everyMs: () => EVERY_MS,
  keyOf: nameIn,
  ask,
  Heading,
  Content,
})
