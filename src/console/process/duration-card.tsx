// How long it takes, over the range that is chosen: the card with its ranges around the chart.
import type { OverviewProcess } from '../../wire/overview.ts'
import { Card } from '../kit/icon.tsx'
import { formatRoute } from '../kit/route.ts'
import { everyMs } from '../kit/time-range.ts'
import { useView } from '../kit/view.tsx'
import { DurationChart } from './duration-chart.tsx'
import type { Rest } from './process-answer.ts'
import { RANGES } from './range.ts'

interface Props {
  readonly row: OverviewProcess
  readonly rest: Rest
}

export function DurationCard({ row, rest }: Props) {
  const { change } = useView()
  const { process } = row
  const { range, series, fromMs, toMs } = rest
  const ranges = (
    <div class="segments" role="group" aria-label="Range">
      {RANGES.map(({ from, label }) => (
        <button key={from} type="button" aria-pressed={from === range.from} onClick={() => change({ from }, 'replace')}>
          {label}
        </button>
      ))}
    </div>
  )
  const isDrawn = series.some(({ p50_ms, failed, abandoned }) => p50_ms !== null || failed + abandoned > 0)
  return (
    <Card title="Duration" about={<span class="muted">median, shaded up to p95</span>} end={ranges}>
      {isDrawn ? (
        <DurationChart row={row} rows={series} fromMs={fromMs} toMs={toMs} stepMs={everyMs(range.every)} />
      ) : (
        <p class="muted">
          No run ended in this range. <a href={formatRoute('runs', { process, from: range.from })}>Look at its runs</a>
        </p>
      )}
    </Card>
  )
}
