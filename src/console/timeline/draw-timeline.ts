// Draws what is in sight of the lanes. A frame costs what is on the screen, not what is in the view: lanes are searched, pixels that are
// painted already are skipped.
//   completed ▬▬▬   running ▬▬▬▷ (to now)   abandoned ├╌╌ (no end came)   orphan ◆ (no start came)
import type { RunState } from '../kit/answers.ts'
import { cutText } from '../kit/cut-text.ts'
import { formatCount, formatDuration } from '../kit/format-number.ts'
import { formatClock, formatDay, formatShortClock } from '../kit/format-time.ts'
import { AXIS_PX, firstVisible, type Layout, type PlacedBand, placeTicks, type Scale, toPx } from './geometry.ts'
import type { Run } from './run.ts'

export type Palette = Readonly<
  Record<RunState | 'text' | 'muted' | 'line' | 'surface' | 'select' | 'onRun' | 'onRunning', string>
> & {
  readonly font: string
}

export interface Picture {
  readonly layout: Layout
  readonly scale: Scale
  readonly heightPx: number
  /** How far it is scrolled down. */
  readonly scrollPx: number
  readonly nowMs: number
  readonly palette: Palette
  readonly hovered: Run | undefined
  readonly chosenId: string | undefined
  /** What is being dragged over, in px across. */
  readonly selection: readonly [number, number] | undefined
}

const LEAST_PX = 2
const LABEL_PX = 56
const STUB_PX = 14

type Context = CanvasRenderingContext2D

export function drawTimeline(ctx: Context, picture: Picture): void {
  const { layout, scale, heightPx, scrollPx, palette } = picture
  ctx.clearRect(0, 0, scale.widthPx, heightPx)
  const ticks = placeTicks(scale, 90)
  ctx.fillStyle = palette.line
  for (const at of ticks.atMs) ctx.fillRect(Math.round(toPx(scale, at)), AXIS_PX, 1, heightPx)

  ctx.textBaseline = 'middle'
  for (const band of layout.bands) {
    if (band.bottomPx - scrollPx < AXIS_PX || band.topPx - scrollPx > heightPx) continue
    drawBand(ctx, picture, band)
  }
  drawNow(ctx, picture)
  drawAxis(ctx, picture, ticks)
  if (picture.selection !== undefined) {
    const [a, b] = picture.selection
    ctx.fillStyle = palette.select
    ctx.fillRect(Math.min(a, b), AXIS_PX, Math.abs(b - a), heightPx)
  }
}

function drawBand(ctx: Context, picture: Picture, band: PlacedBand): void {
  const { layout, scrollPx, heightPx, palette } = picture
  const { lanePx } = layout
  band.lanes.forEach((lane, i) => {
    const y = band.lanesPx + i * lanePx - scrollPx
    if (y + lanePx < AXIS_PX || y > heightPx) return
    drawLane(ctx, picture, lane, y + 1, lanePx - (lanePx > 8 ? 3 : 1))
  })
  ctx.textAlign = 'left'
  ctx.font = `600 13px ${palette.font}`
  ctx.fillStyle = palette.text
  const y = band.topPx - scrollPx + 13
  const name = fitText(ctx, band.process, picture.scale.widthPx - 90)
  ctx.fillText(name, 0, y)
  const namePx = ctx.measureText(name).width
  ctx.font = `12px ${palette.font}`
  ctx.fillStyle = palette.muted
  ctx.fillText(formatCount(band.count), namePx + 8, y)
}

function drawLane(ctx: Context, picture: Picture, lane: readonly Run[], y: number, height: number): void {
  const { scale } = picture
  let paintedPx = Number.NEGATIVE_INFINITY
  for (let i = firstVisible(lane, scale.fromMs); i < lane.length; i++) {
    const run = lane[i]!
    const x = toPx(scale, run.startMs)
    if (x > scale.widthPx) break
    const right = toPx(scale, Math.min(run.endMs, Math.max(picture.nowMs, run.startMs)))
    const isMarked = run === picture.hovered || run.id === picture.chosenId
    if (right < paintedPx && !isMarked) continue
    drawRun(ctx, picture, run, Math.max(x, -4), Math.max(right, x + LEAST_PX), y, height)
    paintedPx = Math.floor(Math.max(right, x + LEAST_PX))
  }
}

function drawRun(ctx: Context, picture: Picture, run: Run, x: number, right: number, y: number, height: number): void {
  const { palette } = picture
  ctx.fillStyle = palette[run.state]
  if (run.state === 'abandoned') drawStub(ctx, x, y, height)
  else if (run.state === 'orphan') drawDiamond(ctx, x, y, height)
  else {
    const end = Math.min(right, picture.scale.widthPx + 4)
    ctx.beginPath()
    ctx.roundRect(x, y, Math.max(LEAST_PX, end - x), height, Math.min(3, height / 2, (end - x) / 2))
    ctx.fill()
    const room = Math.min(end, picture.scale.widthPx) - Math.max(x, 0)
    if (room > LABEL_PX && height >= 11) drawLength(ctx, picture, run, Math.max(x, 0) + 6, y + height / 2 + 0.5)
  }
  if (run === picture.hovered || run.id === picture.chosenId) {
    const isPoint = run.state === 'abandoned' || run.state === 'orphan'
    ctx.strokeStyle = palette.text
    ctx.lineWidth = run.id === picture.chosenId ? 2 : 1
    const width = isPoint ? STUB_PX : right - x
    ctx.strokeRect((run.state === 'orphan' ? x - STUB_PX / 2 : x) - 1.5, y - 1.5, width + 3, height + 3)
  }
}

/** A start whose end never came: a wall, then a line that fades out in dashes. */
function drawStub(ctx: Context, x: number, y: number, height: number): void {
  ctx.fillRect(x, y, 3, height)
  const middle = y + height / 2 - 1
  for (let dash = 5; dash < STUB_PX; dash += 4) ctx.fillRect(x + dash, middle, 2, 2)
}

function drawDiamond(ctx: Context, x: number, y: number, height: number): void {
  const half = Math.min(6, Math.max(3, height / 2))
  const middle = y + height / 2
  ctx.beginPath()
  ctx.moveTo(x - half, middle)
  ctx.lineTo(x, middle - half)
  ctx.lineTo(x + half, middle)
  ctx.lineTo(x, middle + half)
  ctx.fill()
}

function drawLength(ctx: Context, { palette, nowMs }: Picture, run: Run, x: number, y: number): void {
  ctx.font = `11px ${palette.font}`
  ctx.textAlign = 'left'
  ctx.fillStyle = run.state === 'running' ? palette.onRunning : palette.onRun
  ctx.fillText(formatDuration(run.timing.duration_ms ?? Math.max(0, nowMs - run.startMs)), x, y)
}

function drawNow(ctx: Context, { scale, nowMs, heightPx, palette }: Picture): void {
  if (nowMs < scale.fromMs || nowMs > scale.toMs) return
  ctx.fillStyle = palette.running
  ctx.fillRect(Math.min(scale.widthPx - 1, toPx(scale, nowMs)), AXIS_PX - 6, 1, heightPx)
}

function drawAxis(ctx: Context, { scale, palette }: Picture, { stepMs, atMs }: ReturnType<typeof placeTicks>): void {
  ctx.fillStyle = palette.surface
  ctx.fillRect(0, 0, scale.widthPx, AXIS_PX)
  ctx.fillStyle = palette.line
  ctx.fillRect(0, AXIS_PX - 1, scale.widthPx, 1)
  ctx.fillStyle = palette.muted
  ctx.font = `12px ${palette.font}`
  ctx.textAlign = 'center'
  for (const at of atMs) {
    const x = toPx(scale, at)
    if (x > 24 && x < scale.widthPx - 24) ctx.fillText(labelOf(at, stepMs), x, AXIS_PX / 2)
  }
}

function labelOf(ms: number, stepMs: number): string {
  if (stepMs >= 86_400e3 || (stepMs >= 3600e3 && new Date(ms).getHours() === 0)) return formatDay(ms)
  if (stepMs >= 60e3) return formatShortClock(ms)
  return stepMs >= 1000 ? formatClock(ms) : `${formatClock(ms)}.${String(Math.round(ms % 1000)).padStart(3, '0')}`
}

function fitText(ctx: Context, text: string, widthPx: number): string {
  if (ctx.measureText(text).width <= widthPx) return text
  let length = text.length
  const cut = () => `${cutText(text, length)}…`
  while (length > 1 && ctx.measureText(cut()).width > widthPx) length = Math.floor(length * 0.9)
  return cut()
}
