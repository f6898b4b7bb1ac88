// Exceptions: the groups by fingerprint, those that nobody has dealt with first, or the group that the address names.
import type { ExceptionGroup, ExceptionGroups, ExceptionText } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import { DownloadMenu } from '../kit/download-menu.tsx'
import { Filters, subjectFilters } from '../kit/filters.tsx'
import { formatCount, plural } from '../kit/format-number.ts'
import { toLine } from '../kit/line-chart.tsx'
import { page } from '../kit/page.tsx'
import { Empty, RangeHeader } from '../kit/page-header.tsx'
import { Sparkline } from '../kit/plot.tsx'
import { changeParams } from '../kit/route.ts'
import { actionColumn, Table } from '../kit/table.tsx'
import { Ago } from '../kit/time.tsx'
import { bucketsOf, chooseEvery, inZone, readRange } from '../kit/time-range.ts'
import { Link, useRange, useView } from '../kit/view.tsx'
import { askGroup, GroupContent, GroupHeading, RANGE } from './group.tsx'
import { StatusBadge, StatusMenu } from './group-status.tsx'
import { lineOf } from './line-of.ts'

const BARS_MAX = 40
const GROUPS_MAX = 200
const EVERY_MS = 5_000
const FILTERS = [
  {
    name: 'status',
    label: 'Status',
    choices: [
      { value: undefined, label: 'Unresolved' },
      { value: 'regressed', label: 'Came back' },
      { value: 'resolved', label: 'Resolved' },
      { value: 'ignored', label: 'Ignored' },
      { value: 'all', label: 'All' },
    ],
  },
  { name: 'q', label: 'Search', placeholder: 'Words of a text' },
]

interface Answer {
  readonly found?: ExceptionGroups
  /** Processes that raise exceptions. */
  readonly raising?: readonly ProcessEntry[]
  readonly group?: ExceptionGroup | undefined
  readonly texts?: readonly ExceptionText[]
}

const chosenIn = (params: URLSearchParams) => ({
  process: params.get('process') || undefined,
  meta: params.get('meta') ?? undefined,
  text: params.get('q') || undefined,
})

const sortIn = (params: URLSearchParams) => (params.get('sort') === 'count' ? 'count' : undefined)

export const ExceptionsPage = page<Answer>({
  name: 'exceptions',
  everyMs: (params) => (readRange(params, 0, RANGE).isLive ? EVERY_MS : 0),
  keyOf: String,
  subjectOf: (params) => (params.has('group') ? `${params.get('group')} ${params.get('process')}` : ''),
  async ask({ app, params, get, signal }) {
    const range = readRange(params, app.nowMs(), RANGE)
    if (params.has('group')) return askGroup(app, get, params, range)
    const status = params.get('status') || undefined
    const asked = { status, sort: sortIn(params), ...inZone(chooseEvery(range, BARS_MAX)), limit: GROUPS_MAX }
    const [found, processes] = await Promise.all([
      get('api/exceptions/groups', { ...range.query, ...chosenIn(params), ...asked }),
      app.askProcesses(signal),
    ])
    return { found, raising: processes.filter(({ kinds }) => kinds.includes('exception')) }
  },
  Heading,
  Content: ({ answer: { found, texts, group } }) =>
    found === undefined ? <GroupContent group={group} texts={texts ?? []} /> : <Groups found={found} />,
})

function Heading({ answer }: { answer: Answer | undefined }) {
  const { params } = useView()
  if (params.has('group')) return <GroupHeading group={answer?.group} />
  return (
    <RangeHeader title="Exceptions" fallback={RANGE}>
      <Filters filters={[...subjectFilters(answer?.raising ?? [], params), ...FILTERS]} />
    </RangeHeader>
  )
}

function Groups({ found: { groups, next, hidden } }: { found: ExceptionGroups }) {
  const { params } = useView()
  const { from, to } = useRange(RANGE).query
  const count = groups.reduce((sum, group) => sum + group.count, 0)
  if (groups.length === 0) return <Nothing hidden={hidden} />
  const isByCount = sortIn(params) !== undefined
  const [shown, left] = isByCount ? ['most frequent', 'rarer'] : ['newest', 'older']
  return (
    <div class="stack">
      <div>
        <p class="muted" role="status">
          {plural(count, 'exception')} in {next !== null && `the ${shown} `}
          {plural(groups.length, 'group')}
          {next !== null && `; ${left} groups are not shown: choose a shorter range or a process`}
        </p>
        <Hidden hidden={hidden} />
      </div>
      <section class="card card-table">
        <GroupTable groups={groups} />
        <DownloadMenu what="whole texts" path="api/exceptions/export" query={{ from, to, ...chosenIn(params) }} />
      </section>
    </div>
  )
}

function GroupTable({ groups }: { groups: readonly ExceptionGroup[] }) {
  const { params } = useView()
  const isByCount = sortIn(params) !== undefined
  const range = useRange(RANGE)
  const atMs = bucketsOf(range, chooseEvery(range, BARS_MAX))
  const bars = ({ counts = [] }: ExceptionGroup) =>
    toLine('', counts, atMs, (row) => row.count).values.map((count) => count ?? 0)
  return (
    <Table
      caption="Groups of exceptions"
      class="group-table"
      rows={groups}
      keyOf={({ fingerprint, process }) => `${fingerprint} ${process}`}
      columns={[
        { label: 'Exception', cell: (group) => <Named group={group} /> },
        {
          label: 'When',
          class: 'extra',
          cell: (it) => <Sparkline counts={bars(it)} label={`${plural(it.count, 'exception')} over the range`} />,
        },
        {
          label: 'Count',
          class: 'number',
          sort: isByCount,
          head: <SortButton label="Count" by={isByCount ? undefined : 'count'} />,
          cell: ({ count }) => formatCount(count),
        },
        { label: 'First seen', class: 'extra', cell: ({ first_at: at }) => <Ago at={at} /> },
        {
          label: 'Last seen',
          class: 'minor',
          sort: !isByCount,
          head: <SortButton label="Last seen" />,
          cell: ({ last_at: at }) => <Ago at={at} />,
        },
        actionColumn<ExceptionGroup>((group) => <StatusMenu group={group} />, 'member'),
      ]}
    />
  )
}

/** Descending; without `by` the usual order, also at a second click: a phone has no other column. */
function SortButton({ label, by }: { label: string; by?: string | undefined }) {
  const { change } = useView()
  return (
    <button type="button" class="sort" onClick={() => change({ sort: by }, 'replace')}>
      {label}
    </button>
  )
}

function Named({ group }: { group: ExceptionGroup }) {
  const { params } = useView()
  const { fingerprint, process, last_at: last } = group
  const title = lineOf(group)
  return (
    <>
      <Link
        class="strong clip"
        to="exceptions"
        of={changeParams(params, { group: fingerprint, process })}
        text={title}
      />
      <Link class="sub clip" to="process" of={{ process }} text={process} />
      <span class="sub on-phone">
        last <Ago at={last} />
      </span>
      <StatusBadge group={group} />
    </>
  )
}

interface HiddenProps {
  readonly hidden: ExceptionGroups['hidden']
}

const hiddenIn = ({ hidden }: HiddenProps) => Object.entries(hidden ?? {}).filter(([, count]) => count > 0)

function Hidden(props: HiddenProps) {
  const { params } = useView()
  const shown = hiddenIn(props)
  const total = shown.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return null
  return (
    <p class="muted">
      {shown.map(([status, count]) => `${formatCount(count)} ${status}`).join(' and ')}{' '}
      {total === 1 ? 'group is' : 'groups are'} not shown.{' '}
      <Link to="exceptions" of={changeParams(params, { status: 'all' })}>
        Show all
      </Link>
    </p>
  )
}

function Nothing(props: HiddenProps) {
  const { params } = useView()
  const isFiltered = params.get('status') || hiddenIn(props).length > 0
  const title = params.get('q')
    ? 'No text in this range contains these words'
    : isFiltered
      ? 'No such groups in this range'
      : 'No exceptions in this range'
  return (
    <Empty title={title}>
      {!params.get('q') && !isFiltered && (
        <p class="muted">
          None in this range.{' '}
          <Link to="exceptions" of={changeParams(params, { from: '-7d', to: undefined })}>
            Show 7 days
          </Link>
        </p>
      )}
      <Hidden {...props} />
    </Empty>
  )
}
