// One group of exceptions: its first line is the heading, then the whole text, when it occurred, in which runs, and
// last what it is recognized by.
import type { ExceptionGroup, ExceptionText } from '../../wire/exceptions.ts'
import type { App } from '../kit/app.ts'
import type { Get } from '../kit/ask.ts'
import { countTicks } from '../kit/axis-values.ts'
import { DownloadMenu } from '../kit/download-menu.tsx'
import { formatCount, plural } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { LineChart, toLine } from '../kit/line-chart.tsx'
import { Empty } from '../kit/page-header.tsx'
import { Preformatted } from '../kit/preformatted.tsx'
import { RangePicker } from '../kit/range-picker.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { Table } from '../kit/table.tsx'
import { Ago, Moment } from '../kit/time.tsx'
import { bucketsOf, chooseEvery, describeEvery, fixRange, inZone, type TimeRange } from '../kit/time-range.ts'
import { Link, useRange, useView } from '../kit/view.tsx'
import { StatusActions, StatusBadge } from './group-status.tsx'
import { EMPTY_TEXT, lineOf } from './line-of.ts'

export const RANGE = '-24h'
const POINTS_MAX = 60
const TEXTS = 20
const AROUND_MS = 300_000

export async function askGroup(app: App, get: Get, params: URLSearchParams, range: TimeRange) {
  const query = {
    ...range.query,
    fingerprint: params.get('group') ?? '',
    process: params.get('process') || undefined,
    meta: params.get('meta') ?? undefined,
  }
  const [{ groups }, { exceptions }] = await Promise.all([
    get('api/exceptions/groups', { ...query, ...inZone(chooseEvery(range, POINTS_MAX)) }),
    get('api/exceptions', { ...query, limit: TEXTS }),
  ])
  const [group] = groups
  if (group !== undefined) app.setTitle(lineOf(group))
  return { group, texts: exceptions }
}

interface Props {
  readonly group: ExceptionGroup | undefined
}

export function GroupHeading({ group }: Props) {
  const { app, params } = useView()
  return (
    <>
      <header class="process-head">
        <div>
          <p class="crumb">
            <Link to="exceptions" of={changeParams(params, { group: undefined, process: undefined })}>
              All groups
            </Link>
          </p>
          <h1 tabIndex={-1} class="group-title" title={group && lineOf(group)}>
            <bdi>{group === undefined ? 'Exception' : lineOf(group)}</bdi>
          </h1>
        </div>
        {group !== undefined && (
          <div class="button-row">
            <StatusBadge group={group} />
            {app.may('member') && <StatusActions group={group} />}
          </div>
        )}
      </header>
      <div class="toolbar">
        <RangePicker fallback={RANGE} />
      </div>
    </>
  )
}

export function GroupContent({ group, texts }: Props & { texts: readonly ExceptionText[] }) {
  const { from, to } = useRange(RANGE).query
  if (group === undefined)
    return (
      <Empty title="No exception of this group in this range">
        <p class="muted">Choose a longer range.</p>
      </Empty>
    )
  const { process, fingerprint, first_at: first, last_at: last, normalized } = group
  const about = (
    <span class="muted">
      <Link to="process" of={{ process }} text={process} /> · first <Ago at={first} /> · last <Ago at={last} />
    </span>
  )
  return (
    <div class="stack">
      <Card title="Newest text" about={about}>
        <Preformatted label="Exception as it was sent">{texts[0]?.exception || EMPTY_TEXT}</Preformatted>
        <DownloadMenu what="whole texts" path="api/exceptions/export" query={{ from, to, fingerprint, process }} />
      </Card>
      <Occurrences group={group} />
      <Card title="When it occurred" class="card-table">
        <Times texts={texts} />
      </Card>
      {normalized !== undefined && (
        <Card title="Shared pattern" about={<code class="muted">{fingerprint}</code>}>
          <p class="muted">The fingerprint is a hash of this text; parts that vary are placeholders.</p>
          <Preformatted class="normalized" label="Normalised text">
            {(normalized || EMPTY_TEXT)
              .split(PLACEHOLDER)
              .map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))}
          </Preformatted>
        </Card>
      )}
    </div>
  )
}

/** A split has every second part from it. */
const PLACEHOLDER = /(<(?:uuid|date|address|number|string)>)/

function Occurrences({ group: { counts = [], count, runs } }: { group: ExceptionGroup }) {
  const { change } = useView()
  const range = useRange(RANGE)
  const every = chooseEvery(range, POINTS_MAX)
  const atMs = bucketsOf(range, every)
  const { label, values } = toLine('Exceptions', counts, atMs, (row) => row.count)
  return (
    <section class="card">
      <LineChart
        title="Occurrences"
        look="bars"
        formatValue={formatCount}
        ticksOf={countTicks}
        zoom={(fromMs, toMs) => change(fixRange(fromMs, toMs))}
        data={{ ...range, atMs, lines: [{ label, values: values.map((value) => value ?? 0) }] }}
        summary={`${plural(count, 'exception')} in ${describeEvery(every)}.${describeRuns(runs)}`}
      />
    </section>
  )
}

/** How many raised those without a uid is not known. */
const describeRuns = (runs: number): string => (runs > 0 ? ` Their uids name ${plural(runs, 'run')}.` : '')

const Times = ({ texts }: { texts: readonly ExceptionText[] }) => (
  <Table
    caption="Newest occurrences"
    rows={texts}
    keyOf={({ at, uid }) => `${at} ${uid}`}
    columns={[
      { label: 'Time', cell: ({ at }) => <Moment at={at} /> },
      {
        label: 'Meta · uid',
        cell: ({ meta, uid }) => <bdi>{[meta, uid].filter(Boolean).join(' · ') || '–'}</bdi>,
      },
      {
        label: 'Runs',
        cell({ at, process, uid }, { nowMs }) {
          const ms = parseTime(at)
          const around = fixRange(ms - AROUND_MS, Math.min(nowMs, ms + AROUND_MS))
          const label = uid ? 'This run' : 'Runs at that time'
          const href = formatRoute('runs', { process, ...(uid && { uid }), ...around })
          return (
            <a href={href} aria-label={`${label}, ${formatMoment(ms, nowMs)}`}>
              {label}
            </a>
          )
        },
      },
    ]}
  />
)
