// The groups of exceptions of the range: what they say, how often, and when.
import { headlineOf } from '../../wire/headline.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { plural } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { formatRoute } from '../kit/route.ts'
import { useView } from '../kit/view.tsx'
import type { Rest } from './process-answer.ts'

const BINS = 28
const [WIDTH, HEIGHT] = [120, 24]

interface Props {
  readonly row: OverviewProcess
  readonly rest: Rest
}

export function ExceptionList({ row: { process }, rest }: Props) {
  const { nowMs } = useView()
  const { groups, range, fromMs, toMs } = rest
  const { from } = range
  return (
    <Card title="Exceptions" end={<a href={formatRoute('exceptions', { process, from })}>All exceptions</a>}>
      <ul class="group-list">
        {groups.map(({ fingerprint, example, count, first_at, last_at, counts = [] }) => (
          <li key={fingerprint}>
            <div>
              <a
                class="strong clip"
                href={formatRoute('exceptions', { process, from, group: fingerprint })}
                title={example}
              >
                <bdi>{headlineOf(example)}</bdi>
              </a>
              <span class="sub">
                {plural(count, 'time')} in {range.label} · last {formatAgo(parseTime(last_at), nowMs)} · first{' '}
                {formatAgo(parseTime(first_at), nowMs)}
              </span>
            </div>
            <CountBars counts={counts} fromMs={fromMs} toMs={toMs} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

interface CountBarsProps {
  readonly counts: readonly { readonly at: string; readonly count: number }[]
  readonly fromMs: number
  readonly toMs: number
}

function CountBars({ counts, fromMs, toMs }: CountBarsProps) {
  const bins = new Array<number>(BINS).fill(0)
  for (const { at, count } of counts) {
    const bin = Math.floor(((parseTime(at) - fromMs) / (toMs - fromMs)) * BINS)
    if (bin >= 0 && bin < BINS) bins[bin]! += count
  }
  const most = Math.max(1, ...bins)
  return (
    <svg class="count-bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path class="chart-grid" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
      {bins.map((count, i) => {
        const height = count === 0 ? 0 : Math.max(3, (count / most) * HEIGHT)
        const place = { x: (i * WIDTH) / BINS, y: HEIGHT - height, width: WIDTH / BINS - 1, height }
        return height > 0 && <rect key={place.x} class="chart-failed" {...place} />
      })}
    </svg>
  )
}
