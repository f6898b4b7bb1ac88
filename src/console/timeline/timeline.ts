// The timeline of runs: a canvas of the size of the viewport, in a box that scrolls through all processes. Dragging
// selects a range. A click opens a run, filters by a process (on its name), or zooms into a density strip; arrow keys
// and Enter do the same. Frames are drawn when something changes, and continuously while the view is live.
import { fill, h, nameText, onSchemeChange, setText } from '../kit/dom.ts'
import { formatDuration } from '../kit/format-number.ts'
import { formatMoment } from '../kit/format-time.ts'
import type { Crosshair } from '../kit/line-chart.ts'
import { drawTimeline } from './draw-timeline.ts'
import {
  type ExceptionMark,
  findBandAt,
  findRunAt,
  gutterPxFor,
  isStepKey,
  type Layout,
  placeBands,
  placeExceptions,
  type Scale,
  stepRun,
  type Tick,
  toMs,
  toPx,
} from './geometry.ts'
import { layRuns } from './lay-runs.ts'
import { type OlderRuns, readPalette } from './picture.ts'
import { describeState, isLoneEnd, isTrouble, lengthMs, nameOf, type Run } from './run.ts'
import { isOverdue } from './usual.ts'

const DRAG_PX = 6
/** Stubs and diamonds need room although they have no duration. */
const POINT_PAD_PX = 18
/** A click on a density strip zooms to this share of the range. */
const CLOSER = 1 / 12

export interface TimelineOptions {
  readonly crosshair: Crosshair
  nowMs(): number
  choose(run: Run): void
  chooseProcess(process: string): void
  /** `process` is set for a click on that process's density strip. */
  zoom(fromMs: number, toMs: number, process?: string): void
}

export interface TimelineView {
  readonly fromMs: number
  readonly toMs: number
  /** The right edge is now. */
  readonly isLive: boolean
  readonly chosenId: string | undefined
  readonly exceptions: readonly ExceptionMark[]
  readonly older: OlderRuns | undefined
  /** The usual duration, which decides whether a run is overdue. */
  usualMs(run: Run): number | undefined
}

export function createTimeline(options: TimelineOptions) {
  const { nowMs, choose, zoom, crosshair } = options
  const canvas = h('canvas.timeline-canvas', { 'aria-hidden': 'true' })
  const space = h('div.timeline-space', canvas)
  const tip = h('div.tip', { 'aria-hidden': 'true' })
  const spoken = h('p.hidden', { 'aria-live': 'polite' })
  tip.hidden = true
  const scroller = h(
    'div.timeline',
    {
      tabindex: 0,
      role: 'application',
      'aria-label':
        'Timeline of runs. Arrow keys move between runs, Enter opens one; the table below lists the same runs.',
    },
    space,
  )
  const element = h('div.timeline-box', scroller, tip, spoken)
  const ctx = canvas.getContext('2d')!

  let palette = readPalette(document.body)
  let view: TimelineView = {
    ...{ fromMs: 0, toMs: 1, isLive: false, chosenId: undefined, exceptions: [], older: undefined },
    usualMs: () => undefined,
  }
  let runs: readonly Run[] = []
  let layout: Layout = placeBands([])
  let ticks: readonly Tick[] = []
  let [widthPx, heightPx] = [0, 0]
  let hovered: Run | undefined
  let crosshairMs: number | undefined
  let drag: { readonly fromPx: number; toPx: number } | undefined
  let frame = 0
  let drawnNowMs = 0

  function scaleAt(now: number): Scale {
    const { fromMs, toMs } = view
    const leftPx = layout.gutterPx
    return view.isLive
      ? { fromMs: now - (toMs - fromMs), toMs: now, leftPx, widthPx }
      : { fromMs, toMs, leftPx, widthPx }
  }

  function draw(): void {
    frame = 0
    if (widthPx === 0) return
    drawnNowMs = nowMs()
    const { chosenId, usualMs, older } = view
    const common = { layout, heightPx, palette, hovered, chosenId, usualMs, crosshairMs, older, exceptions: ticks }
    const selection = drag === undefined ? undefined : ([drag.fromPx, drag.toPx] as const)
    const scale = scaleAt(drawnNowMs)
    drawTimeline(ctx, { ...common, scale, selection, scrollPx: scroller.scrollTop, nowMs: drawnNowMs })
    if (view.isLive) frame = requestAnimationFrame(follow)
  }
  /** Redraws once the time has moved by half a pixel. */
  function follow(): void {
    frame = 0
    const msPerPx = (view.toMs - view.fromMs) / widthPx
    if (nowMs() - drawnNowMs >= msPerPx / 2) draw()
    else frame = requestAnimationFrame(follow)
  }
  function redraw(): void {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(draw)
  }
  function layOut(): void {
    const gutterPx = gutterPxFor(widthPx)
    const msPerPx = (view.toMs - view.fromMs) / Math.max(1, widthPx - gutterPx)
    const padOf = ({ startMs, endMs }: Run) => (endMs > startMs ? 0 : POINT_PAD_PX * msPerPx)
    layout = placeBands(layRuns(runs, padOf, view.older?.counts.keys()), gutterPx)
    ticks = placeExceptions(layout, view.exceptions)
    space.style.height = `${layout.heightPx}px`
  }

  function resize(): void {
    const hadGutter = layout.gutterPx
    widthPx = scroller.clientWidth
    heightPx = scroller.clientHeight
    const ratio = devicePixelRatio
    canvas.width = Math.round(widthPx * ratio)
    canvas.height = Math.round(heightPx * ratio)
    canvas.style.width = `${widthPx}px`
    canvas.style.height = `${heightPx}px`
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0)
    if (gutterPxFor(widthPx) !== hadGutter) layOut()
    draw()
  }

  const placeOf = (event: PointerEvent) => {
    const box = canvas.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top + scroller.scrollTop }
  }
  const isInGutter = (x: number, y: number): boolean => {
    const band = findBandAt(layout, y)
    return band !== undefined && (layout.gutterPx > 0 ? x < layout.gutterPx : y < band.lanesPx)
  }
  const momentAt = (x: number): number => toMs(scaleAt(drawnNowMs), x)

  function showTip(run: Run | undefined, x: number, y: number): void {
    if (run !== hovered) redraw()
    hovered = run
    tip.hidden = run === undefined
    if (run === undefined) return
    fill(tip, ...tipLines(run, view.usualMs(run), nowMs()))
    tip.style.left = `${Math.max(0, Math.min(x + 12, widthPx - tip.offsetWidth))}px`
    tip.style.top = `${y - scroller.scrollTop + 18}px`
  }
  function hover(event: PointerEvent): void {
    const { x, y } = placeOf(event)
    const run = findRunAt(layout, scaleAt(drawnNowMs), x, y)
    const isStrip = findBandAt(layout, y)?.isStrip ?? false
    canvas.style.cursor = run !== undefined || isInGutter(x, y) ? 'pointer' : isStrip ? 'zoom-in' : 'crosshair'
    showTip(run, x, y)
    crosshairMs = x < layout.gutterPx ? undefined : momentAt(x)
    crosshair.move(crosshairMs, element)
    redraw()
  }
  function click(x: number, y: number): void {
    const band = findBandAt(layout, y)
    const run = findRunAt(layout, scaleAt(drawnNowMs), x, y)
    const halfMs = ((view.toMs - view.fromMs) * CLOSER) / 2
    if (band !== undefined && isInGutter(x, y)) options.chooseProcess(band.process)
    else if (run !== undefined) choose(run)
    else if (band !== undefined && (band.isStrip || momentAt(x) < (view.older?.untilMs ?? 0)))
      zoom(momentAt(x) - halfMs, momentAt(x) + halfMs, band.process)
  }

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    canvas.setPointerCapture(event.pointerId)
    const { x } = placeOf(event)
    drag = { fromPx: x, toPx: x }
  })
  canvas.addEventListener('pointermove', (event) => {
    if (drag === undefined) return hover(event)
    drag.toPx = Math.max(layout.gutterPx, Math.min(widthPx, placeOf(event).x))
    tip.hidden = true
    redraw()
  })
  canvas.addEventListener('pointerup', (event) => {
    if (drag === undefined) return
    const [a, b] = [Math.min(drag.fromPx, drag.toPx), Math.max(drag.fromPx, drag.toPx)]
    drag = undefined
    redraw()
    const { x, y } = placeOf(event)
    if (b - a < DRAG_PX) click(x, y)
    else zoom(momentAt(Math.max(a, layout.gutterPx)), momentAt(b))
  })
  function letGo(): void {
    drag = undefined
    crosshairMs = undefined
    crosshair.move(undefined, element)
    showTip(undefined, 0, 0)
    redraw()
  }
  canvas.addEventListener('pointercancel', letGo)
  canvas.addEventListener('pointerleave', () => {
    if (drag === undefined) letGo()
  })
  scroller.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && hovered !== undefined) choose(hovered)
    if (!isStepKey(event.key)) return
    const run = stepRun(layout, hovered, event.key)
    if (run === undefined) return
    event.preventDefault()
    const band = layout.bands.find(({ process }) => process === run.process)!
    if (band.topPx < scroller.scrollTop || band.bottomPx > scroller.scrollTop + heightPx)
      scroller.scrollTop = band.topPx - heightPx / 2
    showTip(run, Math.max(layout.gutterPx, toPx(scaleAt(nowMs()), run.startMs)), band.lanesPx)
    setText(
      spoken,
      `${nameOf(run)}. ${describeState(run)}, ${formatDuration(lengthMs(run, nowMs()))}, ` +
        `started ${formatMoment(run.startMs, nowMs())}`,
    )
  })
  scroller.addEventListener('blur', letGo)
  scroller.addEventListener('scroll', redraw, { passive: true })
  crosshair.follow(element, (ms) => {
    crosshairMs = ms
    redraw()
  })
  const resizing = new ResizeObserver(resize)
  resizing.observe(scroller)
  const endScheme = onSchemeChange(() => {
    palette = readPalette(document.body)
    redraw()
  })

  return {
    element,
    show(next: readonly Run[], nextView: TimelineView) {
      const isSame =
        next === runs && nextView.older === view.older && nextView.toMs - nextView.fromMs === view.toMs - view.fromMs
      view = nextView
      runs = next
      if (isSame) ticks = placeExceptions(layout, view.exceptions)
      else layOut()
      if (hovered !== undefined) hovered = runs.find(({ id }) => id === hovered?.id)
      if (hovered === undefined) tip.hidden = true
      redraw()
    },
    close() {
      cancelAnimationFrame(frame)
      resizing.disconnect()
      endScheme()
    },
  }
}

function tipLines(run: Run, usual: number | undefined, now: number): HTMLElement[] {
  const ms = lengthMs(run, now)
  const overdue = isOverdue(run, usual, now) ? ' · overdue' : ''
  return [
    h('strong', nameText(nameOf(run))),
    h(
      'span',
      { class: isTrouble(run) ? 'bad' : undefined },
      `${describeState(run)}${overdue} ${ms === null ? '' : formatDuration(ms)}`,
    ),
    h('span.muted', `${isLoneEnd(run) ? 'ended' : 'started'} ${formatMoment(run.startMs, now)}`),
  ]
}
