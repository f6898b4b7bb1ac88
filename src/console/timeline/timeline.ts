// The timeline of runs: a canvas as large as what can be seen of it, in a box that scrolls through all lanes. Dragging across chooses a
// range, a click chooses a run. Frames are drawn when something changed, and as now moves on while the view is live.
import { fill, h } from '../kit/dom.ts'
import { formatDuration } from '../kit/format-number.ts'
import { formatMoment } from '../kit/format-time.ts'
import { onSchemeChange } from '../kit/scheme.ts'
import { drawTimeline } from './draw-timeline.ts'
import { findRunAt, type Layout, placeBands, type Scale, toMs } from './geometry.ts'
import { layRuns } from './lay-runs.ts'
import { readPalette } from './palette.ts'
import { nameOf, type Run, STATE_TEXT } from './run.ts'

const DRAG_PX = 6
/** A stub or a diamond is wider than it is long. */
const POINT_PAD_PX = 18

export interface TimelineOptions {
  nowMs(): number
  choose(run: Run): void
  zoom(fromMs: number, toMs: number): void
}

export interface TimelineView {
  readonly fromMs: number
  readonly toMs: number
  /** The right edge is now. */
  readonly isLive: boolean
  readonly chosenId: string | undefined
}

export interface Timeline {
  readonly element: HTMLElement
  show(runs: readonly Run[], view: TimelineView): void
  close(): void
}

export function createTimeline({ nowMs, choose, zoom }: TimelineOptions): Timeline {
  const canvas = h('canvas', { class: 'timeline-canvas', 'aria-hidden': 'true' })
  const space = h('div', { class: 'timeline-space' }, canvas)
  const tip = h('div', { class: 'tip', 'aria-hidden': 'true' })
  tip.hidden = true
  const scroller = h(
    'div',
    {
      class: 'timeline',
      tabindex: 0,
      role: 'region',
      'aria-label': 'Timeline of runs; the table below lists the same runs',
    },
    space,
  )
  const element = h('div', { class: 'timeline-box' }, scroller, tip)
  const ctx = canvas.getContext('2d')!

  let palette = readPalette(document.body)
  let view: TimelineView = { fromMs: 0, toMs: 1, isLive: false, chosenId: undefined }
  let layout: Layout = placeBands([])
  let [widthPx, heightPx] = [0, 0]
  let hovered: Run | undefined
  let drag: { readonly fromPx: number; toPx: number } | undefined
  let frame = 0
  let drawnNowMs = 0

  const scaleAt = (now: number): Scale =>
    view.isLive ? { fromMs: now - (view.toMs - view.fromMs), toMs: now, widthPx } : { ...view, widthPx }

  function draw(): void {
    frame = 0
    if (widthPx === 0) return
    drawnNowMs = nowMs()
    const selection = drag === undefined ? undefined : ([drag.fromPx, drag.toPx] as const)
    const scale = scaleAt(drawnNowMs)
    const { chosenId } = view
    const scrollPx = scroller.scrollTop
    drawTimeline(ctx, { layout, scale, heightPx, scrollPx, nowMs: drawnNowMs, palette, hovered, chosenId, selection })
    if (view.isLive) frame = requestAnimationFrame(follow)
  }
  /** Draws again once now has moved on by half a pixel. */
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

  function resize(): void {
    widthPx = scroller.clientWidth
    heightPx = scroller.clientHeight
    const ratio = devicePixelRatio
    canvas.width = Math.round(widthPx * ratio)
    canvas.height = Math.round(heightPx * ratio)
    canvas.style.width = `${widthPx}px`
    canvas.style.height = `${heightPx}px`
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0)
    draw()
  }

  const placeOf = (event: PointerEvent) => {
    const box = canvas.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }
  const runAt = (event: PointerEvent): Run | undefined => {
    const { x, y } = placeOf(event)
    return findRunAt(layout, scaleAt(drawnNowMs), x, y + scroller.scrollTop)
  }
  function hover(run: Run | undefined, event: PointerEvent): void {
    if (run !== hovered) redraw()
    hovered = run
    canvas.style.cursor = run === undefined ? 'crosshair' : 'pointer'
    tip.hidden = run === undefined
    if (run === undefined) return
    fill(tip, ...tipLines(run, nowMs()))
    const { x, y } = placeOf(event)
    tip.style.left = `${Math.max(0, Math.min(x + 12, widthPx - tip.offsetWidth))}px`
    tip.style.top = `${y + 18}px`
  }

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    canvas.setPointerCapture(event.pointerId)
    const { x } = placeOf(event)
    drag = { fromPx: x, toPx: x }
  })
  canvas.addEventListener('pointermove', (event) => {
    if (drag === undefined) return hover(runAt(event), event)
    drag.toPx = Math.max(0, Math.min(widthPx, placeOf(event).x))
    tip.hidden = true
    redraw()
  })
  canvas.addEventListener('pointerup', (event) => {
    if (drag === undefined) return
    const [a, b] = [Math.min(drag.fromPx, drag.toPx), Math.max(drag.fromPx, drag.toPx)]
    drag = undefined
    redraw()
    if (b - a >= DRAG_PX) return zoom(toMs(scaleAt(drawnNowMs), a), toMs(scaleAt(drawnNowMs), b))
    const run = runAt(event)
    if (run !== undefined) choose(run)
  })
  const letGo = (event: PointerEvent) => {
    drag = undefined
    hover(undefined, event)
    redraw()
  }
  canvas.addEventListener('pointercancel', letGo)
  canvas.addEventListener('pointerleave', (event) => {
    if (drag === undefined) letGo(event)
  })
  scroller.addEventListener('scroll', redraw, { passive: true })
  const resizing = new ResizeObserver(resize)
  resizing.observe(scroller)
  const endScheme = onSchemeChange(() => {
    palette = readPalette(document.body)
    redraw()
  })

  return {
    element,
    show(runs, next) {
      view = next
      const msPerPx = (view.toMs - view.fromMs) / Math.max(1, widthPx || 1000)
      layout = placeBands(layRuns(runs, ({ startMs, endMs }) => (endMs > startMs ? 0 : POINT_PAD_PX * msPerPx)))
      space.style.height = `${layout.heightPx}px`
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

function tipLines(run: Run, now: number): HTMLElement[] {
  const { state, timing } = run
  const length =
    state === 'completed' || state === 'running'
      ? formatDuration(timing.duration_ms ?? Math.max(0, now - run.startMs))
      : ''
  return [
    h('strong', {}, nameOf(run)),
    h('span', {}, `${STATE_TEXT[state]} ${length}`),
    h('span', { class: 'muted' }, `${state === 'orphan' ? 'ended' : 'started'} ${formatMoment(run.startMs, now)}`),
  ]
}
