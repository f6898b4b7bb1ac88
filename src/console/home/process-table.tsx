// All processes: the last runs as bars, the last start and the next one, how long it takes, and how often it fails.
import { describeProcess } from '../../wire/describe-process.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { toneOf } from '../../wire/process-state.ts'
import { missedText } from '../../wire/words.ts'
import { formatCount, formatDuration, plural } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { formatRoute } from '../kit/route.ts'
import { isTrouble, markOf } from '../kit/run-links.ts'
import { Ago } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { expectedMoment, shortMoment, wordsAt } from '../kit/words.ts'
import { describeRatio } from '../timeline/usual.ts'
import { RunStrip } from './run-strip.tsx'

const METAS_SHOWN = 3

export const ProcessTable = ({ rows }: { rows: readonly OverviewProcess[] }) => (
  <div class="table-scroll" tabIndex={0} role="region" aria-label="Processes">
    <table class="process-table">
      <caption class="hidden">Processes</caption>
      <thead>
        <tr>
          <th scope="col">Process</th>
          <th scope="col">State</th>
          <th scope="col">Last runs</th>
          <th scope="col">Last start</th>
          <th scope="col" class="minor">
            Next start
          </th>
          <th scope="col" class="number minor">
            Median, 24 h
          </th>
          <th scope="col" class="number minor">
            Failed, 24 h
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.process} row={row} />
        ))}
      </tbody>
    </table>
  </div>
)

function markOfRow({ state, run }: OverviewProcess): string {
  if (toneOf(state) === 'bad') return run !== null && isTrouble(run[1]) ? markOf(run[1]) : 'failed'
  if (state === 'overdue') return 'overdue'
  return run === null ? 'quiet' : markOf(run[1])
}

interface RowProps {
  readonly row: OverviewProcess
}

function Row({ row }: RowProps) {
  const { nowMs } = useView()
  const { process, metas, state, runs, last_24h: day } = row
  const said = describeProcess(row, nowMs, wordsAt(nowMs))
  const tone = toneOf(state)
  return (
    <tr>
      <td class="of-name">
        <a class="strong clip" title={process} href={formatRoute('process', { process })}>
          <bdi>{process}</bdi>
        </a>
        <Metas metas={metas} hasMore={row.more_metas} />
      </td>
      <td class="of-state">
        <span class={`state ${tone === 'good' ? '' : tone}`}>
          <i class={`mark mark-${markOfRow(row)}`} />
          {said.text.replace(/\.$/, '')}
        </span>
      </td>
      <td class="of-runs">{runs.length > 0 && <RunStrip process={process} runs={runs} />}</td>
      <td class="of-start">
        <LastStart row={row} />
      </td>
      <td class="minor">
        <NextStart row={row} />
      </td>
      <td class="number minor">
        <Median row={row} />
      </td>
      <td class="number minor muted">
        {day.failed === 0 ? '–' : `${formatCount(day.failed)} of ${formatCount(day.runs)}`}
        {day.exceptions > day.failed && <span class="sub">{plural(day.exceptions, 'exception')}</span>}
      </td>
    </tr>
  )
}

function Metas({ metas, hasMore }: { metas: OverviewProcess['metas']; hasMore: boolean }) {
  const named = metas.filter((meta) => meta !== null)
  const more = named.length - METAS_SHOWN
  if (named.length === 0) return null
  const rest = more > 0 ? ` and ${formatCount(more)}${hasMore ? ' or more' : ' more'}` : ''
  return <span class="sub clip">{`${named.slice(0, METAS_SHOWN).join(', ')}${rest}`}</span>
}

function LastStart({ row }: RowProps) {
  const { nowMs } = useView()
  const { last_start_at: start, last_seen_at: seen, run } = row
  if (start === null)
    return <span class="muted">{seen === null ? '–' : `seen ${formatAgo(parseTime(seen), nowMs)}`}</span>
  const took = run?.[2] ? formatDuration(run[2]) : null
  return (
    <>
      <Ago at={start} />
      {took !== null && <span class="sub">took {took}</span>}
    </>
  )
}

function NextStart({ row: { next_start_at: next, state } }: RowProps) {
  const { nowMs } = useView()
  if (next === null) return <span class="muted">–</span>
  const ms = parseTime(next)
  if (state === 'silent') return <span class="bad">{missedText(shortMoment(ms, nowMs))}</span>
  return <span>{expectedMoment(ms, nowMs)}</span>
}

function Median({ row: { median_24h_ms: today, median_7d_ms: before } }: RowProps) {
  if (today === null) return <span class="muted">–</span>
  const ratio = before === null || before === 0 ? 'same' : describeRatio(today, before, 'same')
  return (
    <>
      {formatDuration(today)}
      {ratio !== 'same' && <span class="sub">{ratio}</span>}
    </>
  )
}
