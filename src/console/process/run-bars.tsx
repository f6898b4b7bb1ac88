// The last runs as bars, newest at the right: the height is the duration, cut at three times the median.

import type { OverviewRun } from '../../wire/overview.ts'
import { formatDuration, plural } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { formatRoute } from '../kit/route.ts'
import { describeRun, isTrouble, runLink } from '../kit/run-links.ts'
import { useView } from '../kit/view.tsx'
import { shortMoment } from '../kit/words.ts'

const SLOTS = 60
const CUT_AT = 3
/** The heights of a run without a length, and of the shortest one. */
const UNKNOWN_SHARE = 0.34
const LEAST_SHARE = 0.08

interface Props {
  readonly process: string
  /** The chosen one. */
  readonly meta: string | undefined
  readonly runs: readonly OverviewRun[]
}

const lengthOf = ([at, state, ms]: OverviewRun, nowMs: number): number | null =>
  state === 'running' ? Math.max(0, nowMs - parseTime(at)) : ms

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
}

export function RunBars({ process, meta, runs }: Props) {
  const { nowMs } = useView()
  const shown = runs.slice(0, SLOTS).toReversed()
  const lengths = shown.flatMap((run) => lengthOf(run, nowMs) ?? [])
  const usual = median(shown.flatMap((run) => (run[1] === 'completed' && run[2] !== null ? [run[2]] : [])))
  const top = Math.max(1, Math.min(Math.max(1, ...lengths), CUT_AT * (usual || Number.POSITIVE_INFINITY)))
  const trouble = shown.filter(([, state]) => isTrouble(state)).length
  const about =
    trouble > 0 ? <span class="bad">{plural(trouble, 'problem')}</span> : <span class="muted">no problems</span>
  const timeline = <a href={formatRoute('runs', { process, meta, from: '-24h' })}>On the timeline</a>
  return (
    <Card title={`Last ${plural(shown.length, 'run')}`} about={about} end={timeline}>
      <div
        class="run-bars"
        role="group"
        aria-label={`Last ${plural(shown.length, 'run')}, ${plural(trouble, 'problem')}`}
      >
        {Array.from({ length: SLOTS - shown.length }, (_, i) => (
          <i key={i} class="run-bar run-bar-none" />
        ))}
        {shown.map((run) => (
          <Bar key={`${run[0]} ${run[3]} ${run[4]}`} {...{ process, run, top }} />
        ))}
        {usual > 0 && <i class="run-bars-usual" style={{ '--h': `${Math.min(100, (usual / top) * 100)}%` }} />}
      </div>
      <div class="run-bars-axis sub">
        <span>{shown[0] && shortMoment(parseTime(shown[0][0]), nowMs)}</span>
        <span>{usual > 0 && `median ${formatDuration(usual)}`}</span>
        <span>now</span>
      </div>
    </Card>
  )
}

function Bar({ process, run, top }: { process: string; run: OverviewRun; top: number }) {
  const { nowMs } = useView()
  const ms = lengthOf(run, nowMs)
  const share = !ms ? UNKNOWN_SHARE : Math.max(LEAST_SHARE, Math.min(1, ms / top))
  const text = describeRun(run, nowMs)
  return (
    <a
      class={`run-bar run-bar-${run[1]}${ms !== null && ms > top ? ' run-bar-cut' : ''}`}
      style={{ '--h': `${Math.round(share * 100)}%` }}
      href={runLink(process, run, nowMs)}
      title={text}
      aria-label={text}
      tabIndex={-1}
    />
  )
}
