// Runs as a table with pages, for reading, searching and screen readers. Of all processes, problems come first.

import { ExportMenu, type ExportRow } from '../kit/export-menu.tsx'
import { formatCount, formatDuration, plural } from '../kit/format-number.ts'
import { formatMoment } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { formatRoute } from '../kit/route.ts'
import { Moment } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { describeState, isTrouble, lengthMs, nameOf, type Run } from '../timeline/run.ts'
import { PAGE_ROWS, type RunPage } from './ask-page.ts'

interface Props {
  readonly shown: RunPage
  /** One process: its name is not repeated. */
  readonly isOne: boolean
  readonly total: number | undefined
  readonly chosenId: string | undefined
  /** The first line of the newest exception of a run. */
  whyOf(run: Run): string | undefined
  linkTo(run: Run): string
  turnTo(page: number): void
  exported(): Promise<readonly ExportRow[]>
}

export function RunTable(props: Props) {
  const { shown, total, isOne, turnTo, exported } = props
  const { page, runs, rows, hasMore, trouble } = shown
  const first = (page - 1) * PAGE_ROWS
  const last = first + rows
  const of = total === undefined ? '' : ` of ${formatCount(Math.max(total, last))}`
  const position = `${formatCount(first + 1)}–${formatCount(last)}${of}`
  return (
    <Card title="Runs" class="card-table" end={<ExportMenu what="runs" rows={exported} />}>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Runs">
        <table>
          <caption class="hidden">Runs</caption>
          <thead>
            <tr>
              <th scope="col">Run</th>
              {!isOne && (
                <th scope="col" class="minor">
                  Process
                </th>
              )}
              <th scope="col">State</th>
              <th scope="col" class="extra">
                Ended
              </th>
              <th scope="col" class="number">
                Took
              </th>
            </tr>
          </thead>
          {trouble.length > 0 && (
            <Part name={`${plural(trouble.length, 'newest problem')}`} runs={trouble} {...props} />
          )}
          {runs.length > 0 && <Part name={trouble.length > 0 ? 'Newest runs' : undefined} runs={runs} {...props} />}
        </table>
      </div>
      <nav class="pager" aria-label="Pages of the table">
        <p class="muted">{position}</p>
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

function Part({ name, runs, ...props }: Props & { name: string | undefined; runs: readonly Run[] }) {
  return (
    <tbody>
      {name !== undefined && (
        <tr class="table-part">
          <th colSpan={5} scope="colgroup">
            {name}
          </th>
        </tr>
      )}
      {runs.map((run) => (
        <Row key={run.id} run={run} {...props} />
      ))}
    </tbody>
  )
}

function Row({ run, isOne, chosenId, whyOf, linkTo }: Props & { run: Run }) {
  const { nowMs } = useView()
  const { process, meta, uid, state, timing } = run
  const when = formatMoment(run.startMs, nowMs)
  const why = isTrouble(run) ? whyOf(run) : undefined
  const about = [meta, uid].filter((part) => part !== null).join(' · ')
  const name = (
    <>
      {!isOne && (
        <a class="clip" href={formatRoute('process', { process })} title={process}>
          <bdi>{process}</bdi>
        </a>
      )}
      {about !== '' && (
        <span class="sub clip" title={about}>
          <bdi>{about}</bdi>
        </span>
      )}
    </>
  )
  return (
    <tr class={run.id === chosenId ? 'chosen' : undefined}>
      <td>
        <a
          class="strong"
          href={linkTo(run)}
          aria-label={`Run of ${nameOf(run)}, ${when}`}
          title={timing.started_at ?? ''}
        >
          {when}
        </a>
        <div class={isOne ? undefined : 'on-phone'}>{name}</div>
      </td>
      {!isOne && <td class="minor">{name}</td>}
      <td>
        <span class={`state state-${isTrouble(run) ? 'failed' : state}`}>
          <i class={`mark mark-${state}`} />
          {describeState(run)}
        </span>
        {why !== undefined && (
          <a class="sub clip why" href={linkTo(run)}>
            <bdi>{why}</bdi>
          </a>
        )}
      </td>
      <td class="extra">{timing.ended_at === null ? '–' : <Moment at={timing.ended_at} />}</td>
      <td class="number">
        {formatDuration(lengthMs(run, nowMs))}
        {state === 'running' && <span class="sub">so far</span>}
      </td>
    </tr>
  )
}
