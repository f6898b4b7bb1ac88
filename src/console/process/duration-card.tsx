// How long the runs of a process take: a dot per run while they are few, else the median and p95 of each interval. From
// two to six metas have a picture each, one below the other over the same times.

import type { SummaryRow } from '../../wire/timings.ts'
import { ApiError } from '../kit/api.ts'
import { metaLabel } from '../kit/ask-processes.ts'
import { formatDuration, plural } from '../kit/format-number.ts'
import { Card } from '../kit/icon.tsx'
import { everyMs } from '../kit/time-range.ts'
import { Link, useView } from '../kit/view.tsx'
import { countEnded, countTroubles } from '../timeline/count-bins.ts'
import { isTrouble, lengthMs, type Run } from '../timeline/run.ts'
import type { Props } from './ask-rest.ts'
import { DurationChart, topOf } from './duration-chart.tsx'
import { type Lane, lanesOf } from './lanes.ts'
import { NotAvailable } from './not-available.tsx'
import { Ranges } from './ranges.tsx'
import { medianOf, RunDots } from './run-dots.tsx'

const HEIGHT = 232
const SHORT_DOTS = 130
const SHORT_LINES = 168

interface Picture {
  readonly lanes: readonly Lane[]
  readonly runs: readonly Run[] | undefined
  readonly rows: readonly SummaryRow[]
}

export function DurationCard({ row, rest }: Props) {
  const { range, series, dots, isSplit } = rest
  if (series instanceof ApiError)
    return (
      <Card title="Duration" end={<Ranges chosen={range} />}>
        <NotAvailable error={series} />
      </Card>
    )
  const lanes = lanesOf(row, rest.meta)
  const runs = dots?.filter(({ state }) => state !== 'orphan')
  const pictures: Picture[] = isSplit
    ? lanes.map((lane) => ({
        lanes: [lane],
        runs: runs?.filter(({ meta }) => meta === lane.meta),
        rows: series.filter(({ meta }) => meta === lane.meta),
      }))
    : [{ lanes, runs, rows: series }]
  const drawn = pictures.filter((picture) => !isEmpty(picture))
  const about = runs === undefined ? 'median, shaded up to p95' : 'a dot per run, × failed; the line is the median'
  return (
    <Card title="Duration" about={<span class="muted">{about}</span>} end={<Ranges chosen={range} />}>
      {drawn.length === 0 && (
        <p class="muted">
          No run ended in this range.{' '}
          <Link to="runs" of={{ process: row.process, meta: rest.meta, from: range.from }}>
            Look at its runs
          </Link>
        </p>
      )}
      {drawn.map((picture) => (
        <PictureOf key={picture.lanes[0]?.meta} {...{ picture, row, rest }} isOne={!isSplit} />
      ))}
      {!isSplit && runs !== undefined && lanes.length > 1 && <Legend lanes={lanes} />}
    </Card>
  )
}

const isEmpty = ({ runs, rows }: Picture): boolean =>
  runs !== undefined ? runs.length === 0 : rows.every((row) => row.p50_ms === null && countTroubles(row) === 0)

interface PictureProps extends Props {
  readonly picture: Picture
  readonly isOne: boolean
}

function PictureOf({ picture: { lanes, runs, rows }, row, rest, isOne }: PictureProps) {
  const { nowMs } = useView()
  const { range, fromMs, toMs, dots } = rest
  const { process } = row
  const [lane] = lanes
  const top = topOf((dots ?? []).flatMap((run) => lengthMs(run, nowMs) ?? [])) // of all pictures, so that they compare
  const change = isOne && lanes.length > 1 ? row.change : (lane?.change ?? null)
  return (
    <div class="duration-picture" style={lanes.length === 1 ? { '--accent': lane!.colour } : undefined}>
      {!isOne && lane !== undefined && <Name {...{ lane, runs, rows }} />}
      {runs === undefined ? (
        <DurationChart
          change={change}
          rows={rows}
          stepMs={everyMs(range.every)}
          fromMs={fromMs}
          toMs={toMs}
          height={isOne ? HEIGHT : SHORT_LINES}
        />
      ) : (
        <RunDots {...{ process, runs, lanes, fromMs, toMs, top }} height={isOne ? HEIGHT : SHORT_DOTS} />
      )}
    </div>
  )
}

/** A link that chooses the meta, and its figures. */
function Name({ lane, runs, rows }: { lane: Lane } & Pick<Picture, 'runs' | 'rows'>) {
  const { change } = useView()
  const median = runs && medianOf(runs)
  const { bad, all } = runs ? { bad: runs.filter(isTrouble).length, all: runs.length } : countEnded(rows)
  return (
    <p class="duration-name">
      <i style={{ background: lane.colour }} />
      <button type="button" class="link strong clip" onClick={() => change({ meta: lane.meta ?? '' })}>
        <bdi>{metaLabel(lane.meta)}</bdi>
      </button>
      <span class="sub">
        {median !== undefined && `median ${formatDuration(median)} · `}
        {bad > 0 ? <span class="bad">{`${bad} of ${plural(all, 'run')} failed`}</span> : plural(all, 'run')}
      </span>
    </p>
  )
}

const Legend = ({ lanes }: { lanes: readonly Lane[] }) => (
  <ul class="chart-legend">
    {lanes.map(({ meta, colour }) => (
      <li key={meta}>
        <i style={{ background: colour }} />
        <bdi>{metaLabel(meta)}</bdi>
      </li>
    ))}
  </ul>
)
