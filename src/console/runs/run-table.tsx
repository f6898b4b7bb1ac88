// Runs as a table with pages, for reading, searching and screen readers. Of all processes, problems come first.

import { ExportMenu, type ExportRow } from '../kit/export-menu.tsx'
import { formatCount, formatDuration, plural } from '../kit/format-number.ts'
import { formatMoment } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { Table } from '../kit/table.tsx'
import { Moment } from '../kit/time.tsx'
import { Link, useView } from '../kit/view.tsx'
import { describeLater, describeSeen, isTrouble, lengthMs, nameOf, type Run, type Seen } from '../timeline/run.ts'
import { RunState } from '../timeline/run-state.tsx'
import { PAGE_ROWS, type RunPage } from './ask-page.ts'

interface Props {
  readonly shown: RunPage
  /** One process: its name is not repeated. */
  readonly isOne: boolean
  readonly total: number | undefined
  readonly seen: Seen
  readonly chosenId: string | undefined
  /** The first line of the newest exception of a run. */
  whyOf(run: Run): string | undefined
  linkTo(run: Run): string
  turnTo(page: number): void
  exported(): Promise<readonly ExportRow[]>
}

export function RunTable({ shown, total, seen, isOne, chosenId, turnTo, exported, ...links }: Props) {
  const { page, runs, rows, hasMore, trouble } = shown
  const first = (page - 1) * PAGE_ROWS
  const last = first + rows
  const of = total === undefined ? '' : ` of ${formatCount(Math.max(total, last))}`
  const problems = { name: `${plural(trouble.length, 'newest problem')}`, rows: trouble }
  const newest = { name: trouble.length > 0 ? 'Newest runs' : undefined, rows: runs }
  return (
    <Card title="Runs" class="card-table" end={<ExportMenu what="runs" rows={exported} />}>
      <Table<Run>
        caption="Runs"
        parts={[problems, newest].filter((part) => part.rows.length > 0)}
        isChosen={({ id }) => id === chosenId}
        columns={[
          { label: 'Run', cell: (run) => <Started run={run} isOne={isOne} linkTo={links.linkTo} /> },
          !isOne && { label: 'Process', class: 'minor', cell: (run) => <Name run={run} /> },
          { label: 'State', cell: (run) => <State run={run} seen={seen} {...links} /> },
          {
            label: 'Ended',
            class: 'extra',
            cell: ({ timing: { ended_at: at } }) => (at === null ? '–' : <Moment at={at} />),
          },
          {
            label: 'Took',
            class: 'number',
            cell: (run) => (
              <>
                {formatDuration(lengthMs(run, seen.atMs))}
                {run.state === 'running' && <span class="sub">so far</span>}
              </>
            ),
          },
        ]}
      />
      <nav class="pager" aria-label="Pages of the table">
        <p class="muted">{`${formatCount(first + 1)}–${formatCount(last)}${of}`}</p>
        <div class="button-row">
          <button type="button" class="button button-small" disabled={page === 1} onClick={() => turnTo(page - 1)}>
            Newer
          </button>
          <button type="button" class="button button-small" disabled={!hasMore} onClick={() => turnTo(page + 1)}>
            Older
          </button>
        </div>
      </nav>
    </Card>
  )
}

type OfRun = Pick<Props, 'linkTo'> & { readonly run: Run }

function Started({ run, isOne, linkTo }: OfRun & Pick<Props, 'isOne'>) {
  const when = formatMoment(run.startMs, useView().nowMs)
  return (
    <>
      <a
        class="strong"
        href={linkTo(run)}
        aria-label={`Run of ${nameOf(run)}, ${when}`}
        title={run.timing.started_at ?? ''}
      >
        {when}
      </a>
      <div class={isOne ? undefined : 'on-phone'}>{isOne ? <About run={run} /> : <Name run={run} />}</div>
    </>
  )
}

const Name = ({ run }: { run: Run }) => (
  <>
    <Link class="clip" to="process" of={{ process: run.process }} text={run.process} />
    <About run={run} />
  </>
)

function About({ run: { meta, uid } }: { run: Run }) {
  const about = [meta, uid].filter((part) => part !== null).join(' · ')
  return (
    about !== '' && (
      <span class="sub clip" title={about}>
        <bdi>{about}</bdi>
      </span>
    )
  )
}

function State({ run, seen, linkTo, whyOf }: OfRun & Pick<Props, 'seen' | 'whyOf'>) {
  const { nowMs } = useView()
  const later = seen.laterOf(run)
  const why = isTrouble(run) ? whyOf(run) : undefined
  return (
    <>
      <RunState run={run} text={describeSeen(run, seen, nowMs)} />
      {later !== undefined && <span class={isTrouble(later) ? 'sub bad' : 'sub'}>{describeLater(later, nowMs)}</span>}
      {why !== undefined && (
        <a class="sub clip why" href={linkTo(run)}>
          <bdi>{why}</bdi>
        </a>
      )}
    </>
  )
}
