// The page of a process: one sentence, then what is asked next, in this order: did it run, why not, is it slower, who
// hears of it. The first question is the sentence alone.
import type { ComponentChildren } from 'preact'
import type { OverviewProcess } from '../../wire/overview.ts'
import { ACTION_TEXT } from '../../wire/words.ts'
import { MaintenanceLine } from '../home/maintenance-line.tsx'
import { ApiError } from '../kit/api.ts'
import { metaLabel } from '../kit/ask-processes.ts'
import { Card } from '../kit/icon.tsx'
import { page } from '../kit/page.tsx'
import { formatRoute } from '../kit/route.ts'
import { Select } from '../kit/select.tsx'
import { Link, useView } from '../kit/view.tsx'
import { WatchDialog } from '../watch/watch-dialog.tsx'
import { watchLink } from '../watch/watch-link.ts'
import { type Asked, askRest, type Props, type Rest } from './ask-rest.ts'
import { Calendar } from './calendar.tsx'
import { DurationCard } from './duration-card.tsx'
import { Facts, FactsWithoutRuns, StateSentence } from './facts.tsx'
import { ExceptionList, MetricCharts, RunList } from './lists.tsx'
import { MetaTable } from './meta-table.tsx'
import { NotAvailable } from './not-available.tsx'
import { ProcessNote } from './note.tsx'
import { Notifications } from './notifications.tsx'
import { rangeOf } from './range.ts'
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

/** The chosen one, if the process has it; '' = without meta. */
function metaIn(params: URLSearchParams, { by_meta: metas = [] }: OverviewProcess): string | undefined {
  const meta = params.get('meta') ?? undefined
  return metas.length > 1 && metas.some((known) => (known.meta ?? '') === meta) ? meta : undefined
}

/** `NAME · Stint` */
export const titleOfProcess = (params: URLSearchParams): string => nameIn(params) || 'Process'

export const ProcessPage = page<Answer>({
  name: 'process',
  everyMs: () => EVERY_MS,
  keyOf: nameIn,
  async ask({ app, params, get, early, held }) {
    const [process, range] = [nameIn(params), rangeOf(params)]
    const row = (await get('api/overview', { process })).processes[0]
    early({ row, rest: held?.rest })
    return { row, rest: row && (await askRest(get, row, metaIn(params, row), range, app.nowMs())) }
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

function Content({ answer: { row: whole, rest } }: { answer: Answer }) {
  const { app, params, change, again } = useView()
  if (whole === undefined) return <NotFound />
  const meta = metaIn(params, whole)
  const own = whole.by_meta?.find((it) => (it.meta ?? '') === meta)
  const row: OverviewProcess = { ...whole, ...own }
  const isMade = params.get('watch') === 'new' && app.may('member')
  return (
    <div class="process-content">
      <MetaPicker row={row} chosen={meta} />
      <StateSentence row={row} rest={rest} />
      {rest && !(rest.maintenance instanceof ApiError) && <MaintenanceLine active={rest.maintenance} />}
      {row.runs.length > 0 ? (
        <Facts row={row} week={rest && weekOf(rest.week, meta)} />
      ) : (
        <FactsWithoutRuns row={row} rest={rest} />
      )}
      {rest && <Cards row={row} rest={rest} />}
      {isMade && rest && !(rest.channels instanceof ApiError) && (
        <WatchDialog
          row={row}
          process={row.process}
          channels={rest.channels}
          done={again}
          close={() => change({ watch: undefined }, 'replace')}
        />
      )}
    </div>
  )
}

/** Nothing where there is one meta. */
function MetaPicker({ row: { by_meta: metas = [] }, chosen }: { row: OverviewProcess; chosen: string | undefined }) {
  const { change } = useView()
  if (metas.length < 2) return null
  const names = metas.map(({ meta }) => ({ value: meta ?? '', label: metaLabel(meta) }))
  const all = { value: undefined, label: `All ${metas.length} metas` }
  return (
    <div class="process-meta">
      <Select<string | undefined>
        label="Meta"
        options={[all, ...names.toSorted((a, b) => a.label.localeCompare(b.label))]}
        chosen={chosen}
        choose={(meta) => change({ meta })}
      />
    </div>
  )
}

const weekOf = (week: Rest['week'], meta: string | undefined): Rest['week'] =>
  week instanceof ApiError || meta === undefined
    ? week
    : week.filter((row) => row.meta === undefined || (row.meta ?? '') === meta)

/** All at once: a card that came later would move the others. */
function Cards({ row, rest }: Props) {
  const { process, runs, by_meta: metas = [], note = null, note_by = null, note_at = null } = row
  const { meta, week, timings, groups, metrics, days, channels } = rest
  const hasRuns = runs.length > 0
  const exceptions = (
    <Part title="Exceptions" rows={groups} draw={(groups) => <ExceptionList {...{ row, rest, groups }} />} />
  )
  return (
    <div class={hasRuns ? 'process-grid' : 'process-grid without-runs'}>
      <div class="stack">
        {hasRuns && <RunBars {...{ process, meta, runs }} />}
        {hasRuns && <DurationCard {...{ row, rest }} />}
        {hasRuns && metas.length > 1 && (
          <MetaTable {...{ process, metas, chosen: meta, week: week instanceof ApiError ? undefined : week }} />
        )}
        <Part title="Runs" rows={timings} draw={(timings) => <RunList {...{ row, meta, timings }} />} />
        {hasRuns && exceptions}
        <Part title="Metrics" rows={metrics} draw={(metrics) => <MetricCharts {...{ row, rest, metrics }} />} />
        {!hasRuns && exceptions}
      </div>
      <div class="stack">
        <Notifications row={row} channels={channels} />
        <ProcessNote key={process} process={process} written={{ note, note_by, note_at }} />
        <Part title="90 days" rows={days} draw={(days) => <Calendar {...{ days, process, meta }} />} />
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

const NotFound = () => (
  <div class="empty">
    <p class="empty-title">Process not found</p>
    <p class="muted">
      No event of a process with this name has arrived in the last 40 days. Check the spelling, or look for it in{' '}
      <Link to="home">all processes</Link>.
    </p>
  </div>
)
