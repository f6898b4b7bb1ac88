// The timeline: a band per process over one axis of time. Dragging selects a range, a click on bars zooms in, a run is
// a link. One stop for the Tab key: arrow keys move among the names and the runs.

import { useEffect, useRef, useState } from 'preact/hooks'
import { wordOf } from '../../wire/process-state.ts'
import { formatCount, formatDuration, plural } from '../kit/format-number.ts'
import { formatMoment } from '../kit/format-time.ts'
import { labelOf, placeTicks, type Scale, toMs, toPx } from '../kit/scale.ts'
import { useWidth } from '../kit/use-width.ts'
import { type Band, binAt, isStepKey, type Loaded, makeBands, moveStop, type Stop } from './make-bands.ts'
import {
  describeLater,
  describeSeen,
  isLoneEnd,
  lengthMs,
  nameOf,
  type Run,
  type Seen,
  type StateFilter,
} from './run.ts'
import { TimelineBand } from './timeline-band.tsx'

const AXIS_PX = 24
const DRAG_PX = 6
/** A click on bars zooms to this share of the range. */
const CLOSER = 1 / 12
const USUAL_PX = 900
const LEAST_PX = 240
const TICK_MS = 1_000

interface Props {
  readonly loaded: Loaded
  readonly state: StateFilter | undefined
  readonly fromMs: number
  readonly toMs: number
  /** `isLive`: the right edge is now. */
  readonly seen: Seen
  readonly chosenId: string | undefined
  nowMs(): number
  isOverdue(run: Run): boolean
  linkTo(run: Run): string
  unfold(): void
  /** `process` is set for a click on that process' bars. */
  zoom(fromMs: number, toMs: number, process?: string): void
}

interface Tip {
  readonly x: number
  readonly y: number
  readonly run?: Run
  readonly lines: readonly string[]
}

export function Timeline(props: Props) {
  const { loaded, state, seen, chosenId, nowMs, isOverdue, linkTo, unfold, zoom, ...range } = props
  const { isLive } = seen
  const [plot, widthPx] = useWidth(USUAL_PX, LEAST_PX)
  const root = useRef<HTMLDivElement>(null)
  const [tip, setTip] = useState<Tip>()
  const [drag, setDrag] = useState<{ readonly fromPx: number; readonly toPx: number }>()
  const [stop, setStop] = useState<Stop>()
  const wasDragged = useRef(false)
  useTicks(isLive && (range.toMs - range.fromMs) / widthPx < 4 * TICK_MS)
  const now = nowMs()
  const lengthOfRange = range.toMs - range.fromMs
  const [fromMs, toMs_] = isLive ? [now - lengthOfRange, now] : [range.fromMs, range.toMs]
  const seenNow = isLive ? { ...seen, atMs: now } : seen
  const scale: Scale = { fromMs, toMs: toMs_, widthPx }
  const shown = makeBands(loaded, state, scale)
  const folded = loaded.folded.quiet + loaded.folded.troubled
  const ticks = placeTicks(scale)
  const drawn = shown.flatMap(({ lanes }) => lanes.flat())
  const hasStop = shown.some(({ process }) => process === stop?.process)
  const stopRun = hasStop ? drawn.find(({ id }) => id === stop?.run?.id) : undefined
  const stopAt: Stop = { process: hasStop ? stop!.process : (shown[0]?.process ?? ''), run: stopRun }

  const placeOf = ({ clientX, clientY }: PointerEvent) => {
    const [box, own] = [plot.current!.getBoundingClientRect(), root.current!.getBoundingClientRect()]
    return { px: clientX - box.left, x: clientX - own.left, y: clientY - own.top, left: box.left - own.left }
  }
  const runOf = (target: EventTarget | null): Run | undefined => {
    const id = (target as Element | null)?.closest('[data-run]')?.getAttribute('data-run')
    return id == null ? undefined : drawn.find((run) => run.id === id)
  }
  const stopOf = (target: EventTarget | null): Stop | undefined => {
    const link = (target as Element | null)?.closest('.run, .band-name a')
    const process = link?.closest('[data-process]')?.getAttribute('data-process')
    return process == null ? undefined : { process, run: runOf(link!) }
  }
  const bandOf = (target: EventTarget | null): Band | undefined => {
    const picture = (target as Element | null)?.closest('.band-picture.bars')
    const process = picture?.closest('[data-process]')?.getAttribute('data-process')
    return picture == null ? undefined : shown.find((band) => band.process === process)
  }
  const inPlot = (px: number) => Math.max(0, Math.min(widthPx, px))

  function onPointerMove(event: PointerEvent): void {
    const { px, x, y } = placeOf(event)
    if (drag !== undefined) {
      if (Math.abs(px - drag.fromPx) >= DRAG_PX) root.current!.setPointerCapture(event.pointerId)
      setDrag({ ...drag, toPx: inPlot(px) })
      setTip(undefined)
      return
    }
    const run = runOf(event.target)
    const band = bandOf(event.target)
    const bin = band && binAt(band, scale, px)
    setTip(
      run !== undefined
        ? { x, y, run, lines: tipOfRun(run, isOverdue(run), seenNow, now) }
        : bin && { x, y, lines: tipOfBin(band.process, bin, now) },
    )
  }
  function onPointerUp(event: PointerEvent): void {
    if (drag === undefined) return
    const [a, b] = [Math.min(drag.fromPx, drag.toPx), Math.max(drag.fromPx, drag.toPx)]
    setDrag(undefined)
    wasDragged.current = b - a >= DRAG_PX
    if (wasDragged.current) {
      zoom(toMs(scale, a), toMs(scale, b))
      return
    }
    const band = bandOf(event.target)
    const halfMs = (lengthOfRange * CLOSER) / 2
    if (band !== undefined) zoom(toMs(scale, a) - halfMs, toMs(scale, a) + halfMs, band.process)
  }
  function onKeyDown(event: KeyboardEvent): void {
    const from = stopOf(event.target)
    if (from === undefined || !isStepKey(event.key)) return
    event.preventDefault()
    const { process, run } = moveStop(shown, from, event.key)
    const link = run === undefined ? '.band-name a' : `[data-run="${CSS.escape(run.id)}"]`
    root.current!.querySelector<HTMLElement>(`[data-process="${CSS.escape(process)}"] ${link}`)?.focus()
  }
  const hasMoved = drag !== undefined && Math.abs(drag.toPx - drag.fromPx) >= DRAG_PX

  return (
    <div
      class="timeline"
      ref={root}
      role="group"
      aria-label="Timeline of runs"
      onPointerDown={(event) => {
        const { px } = placeOf(event)
        if (event.button === 0 && px >= 0 && px <= widthPx && event.pointerType !== 'touch')
          setDrag({ fromPx: px, toPx: px })
      }}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerLeave={() => drag === undefined && setTip(undefined)}
      onPointerCancel={() => setDrag(undefined)}
      onClickCapture={(event) => {
        if (wasDragged.current) event.preventDefault() // the click that ends a selection opens no run
        wasDragged.current = false
      }}
      onDragStart={(event) => event.preventDefault()}
      onKeyDown={onKeyDown}
      onFocusCapture={({ target }) => setStop(stopOf(target) ?? stop)}
    >
      <div class="timeline-axis">
        <div ref={plot}>
          <svg viewBox={`0 0 ${widthPx} ${AXIS_PX}`} width={widthPx} height={AXIS_PX} aria-hidden="true">
            {ticks.atMs
              .filter((at) => toPx(scale, at) > 28 && toPx(scale, at) < widthPx - 28)
              .map((at) => (
                <text key={at} class="chart-text" x={toPx(scale, at)} y={16} text-anchor="middle">
                  {labelOf(at, ticks.stepMs)}
                </text>
              ))}
          </svg>
        </div>
      </div>
      <ul>
        {shown.map((band) => (
          <TimelineBand
            key={band.process}
            band={band}
            scale={scale}
            chosenId={chosenId}
            seen={seenNow}
            stop={stopAt}
            isOverdue={isOverdue}
            linkTo={linkTo}
            nowMs={now}
            ticks={ticks.atMs}
          />
        ))}
      </ul>
      {folded > 0 && (
        <button type="button" class="link timeline-more" onClick={unfold}>
          {loaded.folded.troubled > 0 ? `${formatCount(folded)} more` : `${formatCount(folded)} without trouble`}
        </button>
      )}
      {hasMoved && <Selection {...drag} leftPx={plot.current!.offsetLeft} />}
      {tip !== undefined && (
        <div class="tip" aria-hidden="true" style={{ left: `${tip.x + 12}px`, top: `${tip.y + 16}px` }}>
          {tip.lines.map((line, i) => (i === 0 ? <strong key={line}>{line}</strong> : <span key={line}>{line}</span>))}
        </div>
      )}
    </div>
  )
}

/** Draws again as time goes on. */
function useTicks(isOn: boolean): void {
  const [, setCount] = useState(0)
  useEffect(() => {
    if (!isOn) return
    const timer = setInterval(() => setCount((count) => count + 1), TICK_MS)
    return () => clearInterval(timer)
  }, [isOn])
}

function Selection({ fromPx, toPx: to, leftPx }: { fromPx: number; toPx: number; leftPx: number }) {
  const left = leftPx + Math.min(fromPx, to)
  return <div class="timeline-selection" style={{ left: `${left}px`, width: `${Math.abs(to - fromPx)}px` }} />
}

function tipOfRun(run: Run, isOverdue: boolean, seen: Seen, now: number): string[] {
  const ms = lengthMs(run, seen.atMs)
  const length = ms === null ? '' : ` ${formatDuration(ms)}`
  const later = seen.laterOf(run)
  return [
    nameOf(run),
    `${describeSeen(run, seen, now)}${isOverdue ? ` · ${wordOf('overdue')}` : ''}${length}`,
    ...(later === undefined ? [] : [describeLater(later, now)]),
    `${isLoneEnd(run) ? 'ended' : 'started'} ${formatMoment(run.startMs, now)}`,
  ]
}

function tipOfBin(
  process: string,
  { fromMs, toMs: to, atOnce, runs, troubles, running }: Band['bins'][number],
  now: number,
): string[] {
  const parts = [troubles > 0 && `${formatCount(troubles)} failed`, running > 0 && `${formatCount(running)} running`]
  return [
    process,
    ...(atOnce === undefined ? [] : [`${formatCount(atOnce)} at once`]),
    [plural(runs, 'run'), ...parts].filter(Boolean).join(', '),
    `${formatMoment(fromMs, now)} – ${formatMoment(to, fromMs)}`,
  ]
}
