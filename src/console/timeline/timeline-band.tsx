// One process on the timeline: runs as links, or bars of their numbers. What it draws is clipped by its own picture.
//   completed ▬▬▬   failed ▬▬▬   running ▬▬▬▷ (to now)   never finished ├╌╌   end without start ◆   cut at an edge ⦚▬▬
import { formatDuration, plural } from '../kit/format-number.ts'
import { formatMoment } from '../kit/format-time.ts'
import { formatRoute } from '../kit/route.ts'
import { clampPx, type Scale, toPx } from '../kit/scale.ts'
import { type Band, barHeights, type Stop } from './make-bands.ts'
import { describeSeen, isLoneEnd, isTrouble, lengthMs, nameOf, type Run, type Seen } from './run.ts'

const LANE_PX = 18
const RUN_PX = 14
const MARGIN_PX = 4
/** As high as a name with its number. */
const LEAST_BAND_PX = 40
const BARS_PX = 36
const LEAST_PX = 3
const LABEL_PX = 56
const STUB_PX = 14
/** Teeth of a torn edge. */
const TEETH = 2
const TOOTH_PX = 4

interface BandProps {
  readonly band: Band
  readonly scale: Scale
  readonly ticks: readonly number[]
  readonly nowMs: number
  readonly seen: Seen
  readonly chosenId: string | undefined
  /** The name or the run that the Tab key reaches. */
  readonly stop: Stop
  isOverdue(run: Run): boolean
  linkTo(run: Run): string
}

const heightOf = ({ lanes }: Band): number =>
  lanes.length === 0 ? BARS_PX + MARGIN_PX : Math.max(LEAST_BAND_PX, lanes.length * LANE_PX + 2 * MARGIN_PX)

export function TimelineBand(props: BandProps) {
  const { band, scale, ticks, nowMs, stop } = props
  const { process, lanes } = band
  const height = heightOf(band)
  const now = toPx(scale, nowMs)
  return (
    <li class="band" data-process={process}>
      <div class="band-name">
        <a
          href={formatRoute('process', { process })}
          title={process}
          tabIndex={stop.process === process && stop.run === undefined ? 0 : -1}
        >
          <bdi>{process}</bdi>
        </a>
        <BandCount band={band} />
      </div>
      <svg
        class={lanes.length === 0 ? 'band-picture bars' : 'band-picture'}
        viewBox={`0 0 ${scale.widthPx} ${height}`}
        width={scale.widthPx}
        height={height}
        role="group"
        aria-label={`Runs of ${process}`}
      >
        <path class="chart-grid" d={ticks.map((at) => `M${Math.round(toPx(scale, at))}.5 0V${height}`).join('')} />
        {lanes.length === 0 ? <Bars band={band} scale={scale} /> : <Lanes {...props} />}
        {now < scale.widthPx + 1 && (
          <path class="timeline-now" d={`M${Math.min(now, scale.widthPx - 0.5)} 0V${height}`} />
        )}
      </svg>
    </li>
  )
}

function BandCount({ band: { count, troubles } }: { band: Band }) {
  if (troubles === 0) return <span class="sub">{plural(count, 'run')}</span>
  return (
    <span class="sub bad">
      {plural(troubles, 'problem')} in {plural(count, 'run')}
    </span>
  )
}

/** A path per colour: red from the base up by its share, running on top. */
function Bars({ band: { bins }, scale }: Pick<BandProps, 'band' | 'scale'>) {
  const base = BARS_PX + MARGIN_PX - 1
  const heights = barHeights(bins)
  const paths = { completed: '', failed: '', running: '' }
  for (const [i, { fromMs, toMs, runs, troubles, running }] of bins.entries()) {
    const [left, right] = [clampPx(scale, fromMs), clampPx(scale, toMs)]
    if (right - left < 0.5) continue
    const tall = Math.max(2, heights[i]! * BARS_PX)
    const red = troubles === 0 ? 0 : Math.max(2, (troubles / runs) * tall)
    const blue = running === 0 ? 0 : Math.max(2, (running / runs) * tall)
    const width = Math.max(1, right - left - 1).toFixed(1)
    const bar = (bottom: number, height: number) =>
      height <= 0 ? '' : `M${left.toFixed(1)} ${bottom.toFixed(1)}v${-height.toFixed(1)}h${width}v${height.toFixed(1)}z`
    paths.failed += bar(base, red)
    paths.completed += bar(base - red, tall - red - blue)
    paths.running += bar(base - Math.max(red, tall - blue), Math.min(blue, tall - red))
  }
  return (
    <>
      {Object.entries(paths).map(([state, d]) => (
        <path key={state} class={`bar bar-${state}`} d={d} />
      ))}
    </>
  )
}

function Lanes({ band, scale, ...rest }: BandProps) {
  const top = (heightOf(band) - band.lanes.length * LANE_PX) / 2 + (LANE_PX - RUN_PX) / 2
  return (
    <>
      {band.lanes.flatMap((lane, i) =>
        lane
          .filter(({ startMs, endMs }) => endMs >= scale.fromMs && startMs <= scale.toMs)
          .map((run) => <RunMark key={run.id} run={run} y={top + i * LANE_PX} scale={scale} {...rest} />),
      )}
    </>
  )
}

/** `import · eu. Completed, 3 m 00 s, started 21:52:42` */
export const describeRun = (run: Run, seen: Seen, nowMs: number): string =>
  `${nameOf(run)}. ${describeSeen(run, seen, nowMs)}, ${formatDuration(lengthMs(run, seen.atMs))}, ` +
  `${isLoneEnd(run) ? 'ended' : 'started'} ${formatMoment(run.startMs, nowMs)}`

function RunMark(props: Omit<BandProps, 'band' | 'ticks'> & { run: Run; y: number }) {
  const { run, y, scale, nowMs, seen, chosenId, stop, isOverdue, linkTo } = props
  const x = clampPx(scale, run.startMs)
  const end = clampPx(scale, Math.min(run.endMs, Math.max(seen.atMs, run.startMs)))
  const isCut = { left: run.startMs < scale.fromMs, right: run.state === 'running' && !seen.isLive }
  const state = run.state === 'running' && isOverdue(run) ? 'overdue' : run.state
  return (
    <a
      class={`run run-${state}${run.id === chosenId ? ' chosen' : ''}`}
      href={linkTo(run)}
      data-run={run.id}
      aria-label={describeRun(run, seen, nowMs)}
      tabindex={run.id === stop.run?.id ? 0 : -1} // SVG ignores tabIndex
    >
      <Shape {...{ run, x, y, isCut, width: Math.max(LEAST_PX, end - x) }} />
      {isTrouble(run) && run.state === 'completed' && <path class="run-raised" d={`M${x - 3} ${y - 3}h7l-3.5 5z`} />}
      {end - x > LABEL_PX && (
        <text class="run-length" x={x + (isCut.left ? 6 + TOOTH_PX : 6)} y={y + 11}>
          {formatDuration(lengthMs(run, seen.atMs))}
        </text>
      )}
    </a>
  )
}

interface ShapeProps {
  readonly run: Run
  readonly x: number
  readonly y: number
  readonly width: number
  readonly isCut: { readonly left: boolean; readonly right: boolean }
}

function Shape({ run, x, y, width, isCut }: ShapeProps) {
  const middle = y + RUN_PX / 2
  if (run.state === 'abandoned') {
    const dashes = [5, 9, 13].map((dash) => `M${x + dash} ${middle - 1}h2v2h-2z`).join('')
    return <path d={`M${x} ${y}h3v${RUN_PX}h-3z${dashes}M${x} ${y}h${STUB_PX}`} />
  }
  if (isLoneEnd(run)) return <path d={`M${x - 6} ${middle}l6 -6l6 6l-6 6z`} />
  if (isCut.left || isCut.right) return <path class="run-torn" d={tornPath(x, y, width, isCut)} />
  return <rect x={x} y={y} width={width} height={RUN_PX} rx={Math.min(3, width / 2)} />
}

/** Teeth where the run goes on beyond the picture. */
function tornPath(x: number, y: number, width: number, { left, right }: ShapeProps['isCut']): string {
  const tooth = RUN_PX / TEETH / 2
  const deep = Math.min(TOOTH_PX, width / 2)
  const edge = (side: 1 | -1) => `l${-side * deep} ${side * tooth}l${side * deep} ${side * tooth}`.repeat(TEETH)
  return `M${x} ${y}h${width}${right ? edge(1) : `v${RUN_PX}`}h${-width}${left ? edge(-1) : `v${-RUN_PX}`}z`
}
