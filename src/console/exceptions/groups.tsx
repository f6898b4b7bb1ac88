// Groups of exceptions by fingerprint, those that nobody has dealt with first of all.
import type { ExceptionGroup, ExceptionGroups } from '../../wire/exceptions.ts'
import type { ProcessEntry } from '../../wire/processes.ts'
import { metaOptions, processOptions } from '../kit/ask-processes.ts'
import { DownloadMenu } from '../kit/download-menu.tsx'
import { formatCount, plural } from '../kit/format-number.ts'
import { Icon } from '../kit/icon.tsx'
import type { Question } from '../kit/page.tsx'
import { RangeHeader } from '../kit/page-header.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { SearchField } from '../kit/search-field.tsx'
import { Select } from '../kit/select.tsx'
import { chooseEvery, readRange, type TimeRange } from '../kit/time-range.ts'
import { Link, useView } from '../kit/view.tsx'
import { RANGE } from './group.tsx'
import { GroupTable } from './group-table.tsx'

const BARS_MAX = 40
const GROUPS_MAX = 200
const STATUS_CHOICES = [
  { value: undefined, label: 'Unresolved' },
  { value: 'regressed', label: 'Regressed' },
  { value: 'resolved', label: 'Resolved' },
  { value: 'ignored', label: 'Ignored' },
  { value: 'all', label: 'All' },
] as const

export interface GroupsAnswer {
  readonly groups: readonly ExceptionGroup[]
  readonly hasMore: boolean
  readonly hidden: ExceptionGroups['hidden']
  /** Those that raise exceptions. */
  readonly processes: readonly ProcessEntry[]
  readonly range: TimeRange
  readonly every: string
}

const chosenIn = (params: URLSearchParams) => ({
  process: params.get('process') || undefined,
  meta: params.get('meta') ?? undefined,
  text: params.get('q') || undefined,
})

export async function askGroups({ app, params, get, signal }: Question<unknown>): Promise<GroupsAnswer> {
  const range = readRange(params, app.nowMs(), RANGE)
  const every = chooseEvery(range, BARS_MAX)
  const status = params.get('status') || undefined
  const query = { ...range.query, ...chosenIn(params), status, every, limit: GROUPS_MAX }
  const [{ groups, next, hidden }, processes] = await Promise.all([
    get('api/exceptions/groups', query),
    app.askProcesses(signal),
  ])
  const raising = processes.filter(({ kinds }) => kinds.includes('exception'))
  return { groups, hidden, hasMore: next !== null, processes: raising, range, every }
}

export function GroupsHeading({ processes }: Pick<GroupsAnswer, 'processes'>) {
  const { params, nowMs, change } = useView()
  const { process, meta } = chosenIn(params)
  return (
    <RangeHeader title="Exceptions" range={readRange(params, nowMs, RANGE)} nowMs={nowMs} choose={change}>
      <div class="filters" role="group" aria-label="Filter">
        <Select
          label="Process"
          options={processOptions(processes, process)}
          chosen={process}
          choose={(value) => change({ process: value, meta: undefined })}
        />
        <Select
          label="Meta"
          options={metaOptions(processes, process, meta)}
          chosen={meta}
          choose={(value) => change({ meta: value })}
        />
        <Select<string | undefined>
          label="Status"
          options={STATUS_CHOICES}
          chosen={params.get('status') || undefined}
          choose={(status) => change({ status })}
        />
        <SearchField
          label="Search"
          placeholder="Words of a text"
          text={params.get('q') ?? ''}
          search={(text) => change({ q: text || undefined }, 'replace')}
        />
      </div>
    </RangeHeader>
  )
}

export function GroupsContent({ answer }: { answer: GroupsAnswer }) {
  const { app, params } = useView()
  const { groups, hasMore, hidden, range, every } = answer
  const count = groups.reduce((sum, group) => sum + group.count, 0)
  const { from, to } = range.query
  if (groups.length === 0) return <Nothing params={params} hidden={hidden} />
  return (
    <div class="stack">
      <div>
        <p class="muted" role="status">
          {plural(count, 'exception')} in {hasMore && 'the newest '}
          {plural(groups.length, 'group')}
          {hasMore && '; older groups are not shown: choose a shorter range or a process'}
        </p>
        <HiddenGroups params={params} hidden={hidden} />
      </div>
      <section class="card card-table">
        <GroupTable {...{ groups, range, every }} />
        <DownloadMenu
          app={app}
          what="whole texts"
          path="api/exceptions/export"
          query={{ from, to, ...chosenIn(params) }}
          formats={[
            ['csv', 'CSV'],
            ['jsonl', 'JSON lines'],
          ]}
        />
      </section>
    </div>
  )
}

interface HiddenProps {
  readonly params: URLSearchParams
  readonly hidden: ExceptionGroups['hidden']
}

/** Nothing unless some are. */
function describeHidden(hidden: ExceptionGroups['hidden']): string {
  const { resolved = 0, ignored = 0 } = hidden ?? {}
  const parts = [resolved > 0 && `${formatCount(resolved)} resolved`, ignored > 0 && `${formatCount(ignored)} ignored`]
  const text = parts.filter((part) => part !== false).join(' and ')
  return text && `${text} ${resolved + ignored === 1 ? 'group is' : 'groups are'} not shown.`
}

function HiddenGroups({ params, hidden }: HiddenProps) {
  const text = describeHidden(hidden)
  if (text === '') return null
  return (
    <p class="muted">
      {text} <a href={formatRoute('exceptions', changeParams(params, { status: 'all' }))}>Show all</a>
    </p>
  )
}

function Nothing({ params, hidden }: HiddenProps) {
  const isFiltered = (params.get('status') ?? '') !== '' || describeHidden(hidden) !== ''
  const title = params.get('q')
    ? 'No text in this range contains these words'
    : isFiltered
      ? 'No such groups in this range'
      : 'No exceptions in this range'
  return (
    <div class="empty">
      <Icon name="empty" />
      <p class="empty-title">{title}</p>
      {!params.get('q') && !isFiltered && (
        <p class="muted">
          None in this range.{' '}
          <Link to="exceptions" of={changeParams(params, { from: '-7d', to: undefined })}>
            Show 7 days
          </Link>
        </p>
      )}
      <HiddenGroups params={params} hidden={hidden} />
    </div>
  )
}
