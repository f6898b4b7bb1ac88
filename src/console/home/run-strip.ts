// The last runs of a process as bars, oldest first: as high as the root of their duration, in the colour of their state. A bar opens its run; for the
// keyboard and for those who hear the page, the process's name beside it leads to the same runs.
import { svg } from '../kit/dom.ts'
import { formatDuration, plural } from '../kit/format-number.ts'
import { formatMoment } from '../kit/format-time.ts'
import { describeState, isTrouble, lengthMs, type Run } from '../timeline/run.ts'
import { STRIP } from './latest-feed.ts'

const STEP = 6
const BAR = 5
const HEIGHT = 26
const LEAST = 4

/** `runs` newest first. */
export function runStrip(runs: readonly Run[], nowMs: number, choose: (run: Run) => void): SVGSVGElement {
  const shown = runs.slice(0, STRIP).toReversed()
  const longest = Math.max(1, ...shown.map((run) => lengthMs(run, nowMs) ?? 0))
  const failed = shown.filter(isTrouble).length
  const first = STRIP - shown.length
  return svg(
    'svg',
    {
      class: 'strip',
      viewBox: `0 0 ${STRIP * STEP} ${HEIGHT}`,
      role: 'img',
      'aria-label': `Last ${plural(shown.length, 'run')}, ${failed} with trouble`,
    },
    ...shown.map((run, i) => {
      const height = Math.max(LEAST, Math.sqrt((lengthMs(run, nowMs) ?? 0) / longest) * HEIGHT)
      const rect = svg(
        'rect',
        {
          class: `bar bar-${barOf(run)}`,
          x: (first + i) * STEP,
          y: (HEIGHT - height).toFixed(1),
          width: BAR,
          height: height.toFixed(1),
          rx: 1,
        },
        svg(
          'title',
          {},
          `${describeState(run)} · ${formatDuration(lengthMs(run, nowMs))} · ${formatMoment(run.startMs, nowMs)}`,
        ),
      )
      rect.addEventListener('click', () => choose(run))
      return rect
    }),
  )
}

const barOf = (run: Run): string => (isTrouble(run) ? 'failed' : run.state)
