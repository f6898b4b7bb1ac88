// The newest runs as a table, with the first metrics as columns.
import type { OverviewProcess } from '../../wire/overview.ts'
import { formatDuration, formatValue } from '../kit/format-number.ts'
import { formatMoment } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { formatRoute } from '../kit/route.ts'
import { linkToRun } from '../kit/run-links.ts'
import { useView } from '../kit/view.tsx'
import { describeState, isTrouble, lengthMs, type Run, toRun } from '../timeline/run.ts'
import { describeRatio } from '../timeline/usual.ts'
import type { Rest } from './process-answer.ts'

interface Props {
  readonly row: OverviewProcess
  readonly rest: Rest
}

export function RunList({ row, rest }: Props) {
  const { process, usual_ms: usualMs } = row
  const runs = rest.timings.map(toRun)
  const names = [...new Set(rest.timings.flatMap(({ metrics }) => Object.keys(metrics ?? {})))]
  const hasMetas = row.metas.length > 1
  const all = <a href={formatRoute('runs', { process, from: '-7d' })}>All runs</a>
  return (
    <Card title="Runs" end={all}>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Runs">
        <table class="run-list">
          <thead>
            <tr>
              <th scope="col">Started</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Took
              </th>
              {names.map((name) => (
                <th key={name} scope="col" class="number minor">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <Row key={run.id} {...{ run, names, hasMetas, usualMs }} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

interface RowProps {
  readonly run: Run
  readonly names: readonly string[]
  readonly hasMetas: boolean
  readonly usualMs: number | null
}

function Row({ run, names, hasMetas, usualMs }: RowProps) {
  const { nowMs } = useView()
  const ms = lengthMs(run, nowMs)
  const ratio = run.state === 'completed' && ms !== null && usualMs ? describeRatio(ms, usualMs) : 'as usual'
  const href = linkToRun(run.process, run.startMs, run.id, nowMs)
  return (
    <tr>
      <td>
        <a class="quiet-link" href={href}>
          {formatMoment(run.startMs, nowMs)}
        </a>
        {hasMetas && <span class="sub clip">{run.meta ?? 'without meta'}</span>}
      </td>
      <td>
        <span class={`state state-${isTrouble(run) ? 'failed' : run.state}`}>
          <i class={`mark mark-${run.state}`} />
          {describeState(run)}
        </span>
      </td>
      <td class="number">
        {run.state === 'running' ? `${formatDuration(ms)} so far` : formatDuration(ms)}
        {ratio !== 'as usual' && <span class="sub">{ratio}</span>}
      </td>
      {names.map((name) => {
        const value = run.timing.metrics?.[name]
        return (
          <td key={name} class="number minor">
            {value == null ? '–' : formatValue(value)}
          </td>
        )
      })}
    </tr>
  )
}
