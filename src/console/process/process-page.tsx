// The page of a process: one sentence, then what is asked next, in this order: did it run, why not, is it slower, who
// hears of it. The first question is the sentence alone.
import type { ComponentChildren } from 'preact'
import type { OverviewProcess } from '../../wire/overview.ts'
import type { SummaryRow } from '../../wire/timings.ts'
import { ACTION_TEXT } from '../../wire/words.ts'
import { ApiError } from '../kit/api.ts'
import { explainText } from '../kit/explain.ts'
import { Card } from '../kit/icon.tsx'
import { page } from '../kit/page.tsx'
import { formatRoute } from '../kit/route.ts'
import { Segments } from '../kit/segments.tsx'
import { everyMs } from '../kit/time-range.ts'
import { Link, useView } from '../kit/view.tsx'
import { WatchDialog } from '../watch/watch-dialog.tsx'
import { watchLink } from '../watch/watch-link.ts'
import { type Asked, askRest, type Props, type Rest } from './ask-rest.ts'
import { Calendar } from './calendar.tsx'
import { DurationChart } from './duration-chart.tsx'
import { Facts, StateSentence } from './facts.tsx'
import { ExceptionList, MetaList, MetricCharts, RunList } from './lists.tsx'
import { Notifications } from './notifications.tsx'
import { RANGES, rangeOf } from './range.ts'
import { RunBars } from './run-bars.tsx'
import { SendRun } from './send-run.tsx'

const EVERY_MS = 5_000

interface Answer {
  /** Undefined: nothing is known of a process with this name. */
  readonly row: OverviewProcess | undefined
  /** After the second round of questions. */
  readonly rest: Rest | undefined
}

const nameIn = (params: URLSearchParams): string => params.get('process') ?? ''

/** `NAME · Stint` */
export const titleOfProcess = (params: URLSearchParams): string => nameIn(params) || 'Process'

export const ProcessPage = page<Answer>({
  name: 'process',
  everyMs: () => EVERY_MS,
  keyOf: nameIn,
  async ask({ app, params, get, early, held }) {
    const [process, range] = [nameIn(params), rangeOf(params)]
    const row = (await get('api/overview', { process })).processes[0]
    early({ row, rest: held?.rest?.range === range ? held.rest : undefined })
    return { row, rest: row && (await askRest(get, process, range, app.nowMs())) }
  },
  Heading,
  Content,
})

function Heading({ answer }: { answer: Answer | undefined }) {
  const { app, params } = useView()
  const process = nameIn(params)
  const isWatched = (answer?.row?.watches?.length ?? 0) > 0
  const isMember = app.may('member')
  return (
    <header class="process-head">
      <div>
        <p class="crumb">
          <Link to="home">Processes</Link>
        </p>
        <h1 tabIndex={-1} title={process}>
          <bdi>{process}</bdi>
        </h1>
      </div>
      {answer?.row !== undefined && (
        <div class="button-row">
          {isMember && (
            <Link class="button" to="maintenance" of={{ process }}>
              {ACTION_TEXT.maintenance}
            </Link>
          )}
          {(isWatched || isMember) && (
            <a class="button" href={isWatched ? formatRoute('watches') : watchLink(process)}>
              {isWatched ? 'Watches' : 'Watch'}
            </a>
          )}
        </div>
      )}
    </header>
  )
}

function Content({ answer: { row, rest } }: { answer: Answer }) {
  const { app, params, change, again } = useView()
  if (row === undefined) return <NotFound />
  const isMade = params.get('watch') === 'new' && app.may('member')
  return (
    <div class="process-content">
      <StateSentence row={row} groups={rest?.groups} />
      {row.runs.length > 0 && <Facts row={row} week={rest?.week} />}
      {rest && <Cards row={row} rest={rest} />}
      {isMade && rest && !(rest.channels instanceof ApiError) && (
        <WatchDialog
          {...{ row, process: row.process, channels: rest.channels, done: again }}
          close={() => change({ watch: undefined }, 'replace')}
        />
      )}
    </div>
  )
}

/** All at once: a card that came later would move the others. */
function Cards({ row, rest }: Props) {
  const { process, runs, by_meta: metas = [] } = row
  const { timings, groups, metrics, days, channels } = rest
  return (
    <div class="process-grid">
      <div class="stack">
        {runs.length > 0 && <RunBars {...{ process, runs }} />}
        {runs.length > 0 && <Duration {...{ row, rest }} />}
        <Part title="Runs" rows={timings} draw={(timings) => <RunList {...{ row, timings }} />} />
        <Part title="Exceptions" rows={groups} draw={(groups) => <ExceptionList {...{ row, rest, groups }} />} />
        <Part title="Metrics" rows={metrics} draw={(metrics) => <MetricCharts {...{ row, rest, metrics }} />} />
      </div>
      <div class="stack">
        <Notifications row={row} channels={channels} />
        <Part title="90 days" rows={days} draw={(days) => <Calendar {...{ days, process }} />} />
        {metas.length > 1 && <MetaList {...{ process, metas }} />}
        <SendRun process={process} />
      </div>
    </div>
  )
}

interface PartProps<T> {
  readonly title: string
  readonly rows: Asked<readonly T[]>
  /** At least one row. */
  draw(rows: readonly T[]): ComponentChildren
}

/** A card with rows; nothing is drawn without any. */
function Part<T>({ title, rows, draw }: PartProps<T>) {
  if (!(rows instanceof ApiError)) return rows.length > 0 && <>{draw(rows)}</>
  return (
    <Card title={title}>
      <NotAvailable error={rows} />
    </Card>
  )
}

const NotAvailable = ({ error }: { error: ApiError }) => <p class="muted">{`Not available. ${explainText(error)}`}</p>

function Duration({ row, rest: { range, series, fromMs, toMs } }: Props) {
  const { change } = useView()
  const { process } = row
  const items = RANGES.map(({ from: value, label }) => ({ value, label }))
  const ranges = (
    <Segments label="Range" items={items} chosen={range.from} choose={(from) => change({ from }, 'replace')} />
  )
  const isEmpty = (rows: readonly SummaryRow[]) =>
    rows.every(({ p50_ms, failed, abandoned }) => p50_ms === null && failed + abandoned === 0)
  return (
    <Card title="Duration" about={<span class="muted">median, shaded up to p95</span>} end={ranges}>
      {series instanceof ApiError ? (
        <NotAvailable error={series} />
      ) : !isEmpty(series) ? (
        <DurationChart change={row.change} rows={series} stepMs={everyMs(range.every)} {...{ fromMs, toMs }} />
      ) : (
        <p class="muted">
          No run ended in this range.{' '}
          <Link to="runs" of={{ process, from: range.from }}>
            Look at its runs
          </Link>
        </p>
      )}
    </Card>
  )
}

const NotFound = () => (
  <div class="empty">
    <p class="empty-title">Process not found</p>
    <p class="muted">
      No event of a process with this name has arrived in the last 40 days. Check the spelling, or look for it in{' '}
      <Link to="home">all processes</Link>.
    </p>
  </div>
)
