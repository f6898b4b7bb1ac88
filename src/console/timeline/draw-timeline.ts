// Draws the visible part: the axis, the gutter of names, and each process's band. The cost of a frame depends on what
// is visible, not on the size of the view.
import { cutText } from '../kit/dom.ts'
import { formatCount } from '../kit/format-number.ts'
import { formatClock, formatDay, formatShortClock, zoneOffsetMs } from '../kit/format-time.ts'
import { drawLane, drawOlder, drawStrip } from './draw-runs.ts'
import { AXIS_PX, type PlacedBand, placeTicks, toPx } from './geometry.ts'
import type { Context, Picture } from './picture.ts'

export function drawTimeline(ctx: Context, picture: Picture): void {
  const { layout, scale, heightPx, scrollPx, palette } = picture
  ctx.clearRect(0, 0, scale.widthPx, heightPx)
  ctx.textBaseline = 'middle'
  const ticks = placeTicks(scale, 90)
  ctx.fillStyle = palette.line
  for (const at of ticks.atMs) ctx.fillRect(Math.round(toPx(scale, at)), AXIS_PX, 1, heightPx)

  const shown = layout.bands.filter(
    ({ topPx, bottomPx }) => bottomPx - scrollPx >= AXIS_PX && topPx - scrollPx <= heightPx,
  )
  ctx.save()
  ctx.beginPath()
  ctx.rect(scale.leftPx, 0, scale.widthPx - scale.leftPx, heightPx)
  ctx.clip()
  drawUnloaded(ctx, picture)
  for (const band of shown) {
    if (picture.older !== undefined) drawOlder(ctx, picture, band, picture.older)
    drawRuns(ctx, picture, band)
  }
  drawExceptions(ctx, picture)
  drawMoments(ctx, picture)
  ctx.restore()
  for (const band of shown) drawName(ctx, picture, band)
  drawAxis(ctx, picture, ticks)
}

/** Shades the time whose runs are not loaded. */
function drawUnloaded(ctx: Context, { older, scale, heightPx, palette }: Picture): void {
  if (older === undefined || older.untilMs <= scale.fromMs) return
  const right = Math.min(scale.widthPx, toPx(scale, older.untilMs))
  ctx.fillStyle = palette.select
  ctx.fillRect(scale.leftPx, AXIS_PX, right - scale.leftPx, heightPx)
  ctx.fillStyle = palette.muted
  ctx.fillRect(Math.round(right), AXIS_PX, 1, heightPx)
}

function drawRuns(ctx: Context, picture: Picture, band: PlacedBand): void {
  const { layout, scrollPx, heightPx, scale, palette } = picture
  const { lanePx, gutterPx } = layout
  if (gutterPx > 0) {
    ctx.fillStyle = palette.line
    ctx.fillRect(0, Math.round(band.bottomPx - scrollPx) + 2, scale.widthPx, 1)
  }
  if (band.isStrip) {
    drawStrip(ctx, picture, band)
    return
  }
  band.lanes.forEach((lane, i) => {
    const y = band.lanesPx + i * lanePx - scrollPx
    if (y + lanePx < AXIS_PX || y > heightPx) return
    drawLane(ctx, picture, lane, y + 1, lanePx - (lanePx > 8 ? 4 : 1))
  })
}

function drawExceptions(ctx: Context, { exceptions, scale, scrollPx, heightPx, palette }: Picture): void {
  for (const { atMs, topPx, heightPx: tall } of exceptions) {
    const y = topPx - scrollPx
    if (atMs < scale.fromMs || atMs > scale.toMs || y + tall < AXIS_PX || y > heightPx) continue
    const x = Math.round(toPx(scale, atMs))
    ctx.fillStyle = palette.bad
    ctx.fillRect(x, y, 1, tall - 1)
    ctx.beginPath()
    ctx.moveTo(x - 3, y - 2)
    ctx.lineTo(x + 4, y - 2)
    ctx.lineTo(x + 0.5, y + 3)
    ctx.fill()
  }
}

function drawMoments(ctx: Context, { scale, nowMs, heightPx, palette, crosshairMs, selection }: Picture): void {
  const line = (ms: number | undefined, colour: string) => {
    if (ms === undefined || ms < scale.fromMs || ms > scale.toMs) return
    ctx.fillStyle = colour
    ctx.fillRect(Math.min(scale.widthPx - 1, Math.round(toPx(scale, ms))), AXIS_PX - 6, 1, heightPx)
  }
  line(nowMs, palette.text)
  line(crosshairMs, palette.muted)
  if (selection === undefined) return
  const [a, b] = selection
  ctx.fillStyle = palette.select
  ctx.fillRect(Math.min(a, b), AXIS_PX, Math.abs(b - a), heightPx)
}

/** The process's name and its number of runs, or of runs with trouble; in the gutter or above the lanes. */
function drawName(ctx: Context, { layout, scrollPx, scale, palette, older }: Picture, band: PlacedBand): void {
  const { gutterPx } = layout
  const y = (gutterPx > 0 ? band.lanesPx + 9 : band.topPx + 13) - scrollPx
  // A bucket at the boundary also counts runs that are loaded.
  const unloaded = older?.counts.get(band.process)?.filter(({ atMs }) => atMs + older.everyMs <= older.untilMs) ?? []
  const troubles = unloaded.reduce((sum, count) => sum + count.troubles, band.troubles.length)
  const runs = unloaded.reduce((sum, count) => sum + count.runs, band.count)
  const count = troubles > 0 ? `${formatCount(troubles)} ✕` : formatCount(runs)
  ctx.font = `12px ${palette.font}`
  const countPx = ctx.measureText(count).width
  const roomPx = gutterPx > 0 ? gutterPx - countPx - 24 : scale.widthPx - countPx - 24
  ctx.font = `600 13px ${palette.font}`
  ctx.textAlign = 'left'
  ctx.fillStyle = palette.text
  const name = fitText(ctx, band.process, roomPx)
  ctx.fillText(name, 0, y)
  const namePx = ctx.measureText(name).width
  ctx.font = `12px ${palette.font}`
  ctx.fillStyle = troubles > 0 ? palette.bad : palette.muted
  if (gutterPx > 0) {
    ctx.textAlign = 'right'
    ctx.fillText(count, gutterPx - 10, y)
  } else ctx.fillText(count, namePx + 8, y)
  if (!band.isStrip || gutterPx === 0) return
  ctx.textAlign = 'left'
  ctx.fillStyle = palette.muted
  ctx.font = `11px ${palette.font}`
  ctx.fillText(`up to ${formatCount(band.lanes.length)} at once`, 0, y + 16)
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
    if (x > Math.max(scale.leftPx + 8, 28) && x < scale.widthPx - 28) ctx.fillText(labelOf(at, stepMs), x, AXIS_PX / 2)
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

function labelOf(ms: number, stepMs: number): string {
  const isMidnight = (ms + zoneOffsetMs(ms)) % DAY_MS < HOUR_MS
  if (stepMs >= DAY_MS || (stepMs >= HOUR_MS && isMidnight)) return formatDay(ms)
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
