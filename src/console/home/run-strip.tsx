// The last runs of a process as bars, oldest first. The height is proportional to the square root of the duration, the
// colour shows the state: one path per colour, since a page of 200 processes has 6,000 bars. A click opens the run; for
// keyboard and screen reader the process' link leads to the same runs.
import type { OverviewRun } from '../../wire/overview.ts'
import { plural } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { describeRun, isTrouble, runLink } from '../kit/run-links.ts'
import { useView } from '../kit/view.tsx'

const SLOTS = 30
const STEP = 6
const BAR = 5
const HEIGHT = 26
const LEAST = 4
/** The height of a run without a length. */
const UNKNOWN = HEIGHT / 3

interface Props {
  readonly process: string
  /** Newest first. */
  readonly runs: readonly OverviewRun[]
}

export function RunStrip({ process, runs }: Props) {
  const { nowMs } = useView()
  const shown = runs.slice(0, SLOTS).toReversed()
  const first = SLOTS - shown.length
  const lengthOf = ([at, state, ms]: OverviewRun) => (state === 'running' ? nowMs - parseTime(at) : (ms ?? 0))
  const longest = Math.max(1, ...shown.map(lengthOf))
  const paths = new Map<string, string>()
  for (const [i, run] of shown.entries()) {
    const length = lengthOf(run)
    const height = length > 0 ? Math.max(LEAST, Math.sqrt(length / longest) * HEIGHT) : UNKNOWN
    const bar = `M${(first + i) * STEP} ${HEIGHT}v${-height.toFixed(1)}h${BAR}v${height.toFixed(1)}z`
    const colour = isTrouble(run[1]) ? 'failed' : run[1]
    paths.set(colour, (paths.get(colour) ?? '') + bar)
  }
  const runAt = ({ clientX, currentTarget }: { clientX: number; currentTarget: Element }): OverviewRun | undefined => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return shown[Math.floor(((clientX - left) / width) * SLOTS) - first]
  }
  const trouble = shown.filter(([, state]) => isTrouble(state)).length
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${SLOTS * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Last ${plural(shown.length, 'run')}, ${plural(trouble, 'problem')}`}
      onClick={(event) => {
        const run = runAt(event)
        if (run !== undefined) location.assign(runLink(process, run, nowMs))
      }}
      onPointerMove={(event) => {
        const run = runAt(event)
        event.currentTarget.parentElement!.title = run === undefined ? '' : describeRun(run, nowMs)
      }}
    >
      {[...paths].map(([colour, d]) => (
        <path key={colour} class={`bar bar-${colour}`} d={d} />
      ))}
    </svg>
  )
}
