// Few runs over time: a dot each in the colour of its meta, failed ones as crosses at their length, and the median of
// each meta as a line, which steps where its duration changed. Each run is a link; the table of runs has them, too.

import { durationTicks } from '../kit/axis-values.ts'
import { formatDuration } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { Plot, TimeAxis, useScales, ValueAxis } from '../kit/plot.tsx'
import { linkToRun } from '../kit/run-links.ts'
import { useView } from '../kit/view.tsx'
import { describeState, isTrouble, lengthMs, type Run } from '../timeline/run.ts'
import { ChangeMark, shortDuration } from './duration-chart.tsx'
import type { Lane } from './lanes.ts'

const DOT_PX = 4
const CROSS_PX = 4.5

interface Props {
  readonly process: string
  readonly runs: readonly Run[]
  readonly lanes: readonly Lane[]
  readonly fromMs: number
  readonly toMs: number
  /** The greatest value on the axis, ms. */
  readonly top: number
  readonly height: number
}

export function RunDots({ process, runs, lanes, fromMs, toMs, top, height }: Props) {
  const { nowMs } = useView()
  const only = lanes.length === 1 ? lanes[0]!.change : null
  return (
    <Plot
      class="chart"
      role="group"
      label={`Durations of the runs of ${process}`}
      height={height}
      x={[fromMs, toMs]}
      y={[0, top]}
      inset={[18, 8, 26, 56]}
    >
      <ValueAxis at={durationTicks(top)} format={shortDuration} />
      <TimeAxis below={20} hasGrid />
      {only !== null && parseTime(only.at) > fromMs && <ChangeMark change={only} toMs={toMs} />}
      {lanes.map((lane) => (
        <MedianLine key={lane.meta} {...{ lane, runs, fromMs, toMs }} />
      ))}
      {runs.map((run) => (
        <Dot key={run.id} {...{ run, nowMs }} colour={colourOf(lanes, run.meta)} />
      ))}
    </Plot>
  )
}

const colourOf = (lanes: readonly Lane[], meta: string | null): string =>
  lanes.find((lane) => lane.meta === meta)?.colour ?? 'var(--edge)'

/** The median of completed runs, in ms; undefined without any. */
export function medianOf(runs: readonly Run[]): number | undefined {
  const lengths = runs.flatMap(({ state, timing }) => (state === 'completed' ? [timing.duration_ms ?? 0] : []))
  const sorted = lengths.sort((a, b) => a - b)
  const place = (sorted.length - 1) / 2
  return sorted.length === 0 ? undefined : (sorted[Math.floor(place)]! + sorted[Math.ceil(place)]!) / 2
}

function MedianLine({ lane, runs, ...range }: Pick<Props, 'runs' | 'fromMs' | 'toMs'> & { lane: Lane }) {
  const { x, y } = useScales()
  const own = runs.filter(({ meta }) => meta === lane.meta)
  const atMs = lane.change === null ? range.fromMs : Math.max(range.fromMs, parseTime(lane.change.at))
  const parts = [
    { from: range.fromMs, to: atMs, of: own.filter(({ startMs }) => startMs < atMs) },
    { from: atMs, to: range.toMs, of: own.filter(({ startMs }) => startMs >= atMs) },
  ]
  const path = parts.flatMap(({ from, to, of }) => {
    const ms = medianOf(of)
    return ms === undefined || from >= to ? [] : [`M${x(from).toFixed(1)} ${y(ms).toFixed(1)}H${x(to).toFixed(1)}`]
  })
  return <path class="dots-median" style={{ '--tone': lane.colour }} d={path.join('')} />
}

function Dot({ run, nowMs, colour }: { run: Run; nowMs: number; colour: string }) {
  const { x, y, box } = useScales()
  const ms = lengthMs(run, nowMs)
  const [cx, cy] = [x(run.startMs), ms === null ? box.bottom : y(ms)]
  const parts = [describeState(run), ms !== null && formatDuration(ms), formatMoment(run.startMs, nowMs), run.meta]
  const text = parts.filter((part) => part !== null && part !== false).join(' · ')
  return (
    <a
      class={`dot dot-${isTrouble(run) && run.state === 'completed' ? 'raised' : run.state}`}
      href={linkToRun(run, nowMs)}
      aria-label={text}
      tabindex={-1} // SVG ignores tabIndex
      style={{ '--tone': colour }}
    >
      <title>{text}</title>
      <circle class="dot-target" cx={cx} cy={cy} r={2.5 * DOT_PX} />
      {run.state === 'failed' || run.state === 'abandoned' ? (
        <path d={crossAt(cx, cy)} />
      ) : (
        <circle cx={cx} cy={cy} r={DOT_PX} />
      )}
    </a>
  )
}

const crossAt = (cx: number, cy: number): string =>
  [1, -1].map((side) => `M${cx - CROSS_PX} ${cy - side * CROSS_PX}L${cx + CROSS_PX} ${cy + side * CROSS_PX}`).join('')
