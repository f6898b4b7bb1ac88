// Draws the runs of one lane, or a whole process as a density strip. Binary search finds the first visible run of a
// lane, and runs on pixels that are painted already are skipped.
//   completed ▬▬▬   failed ▬▬▬   running ▬▬▬▷ (to now)   never finished ├╌╌   end without start ◆
import { formatDuration } from '../kit/format-number.ts'
import { firstVisible, type PlacedBand, toPx } from './geometry.ts'
import type { Context, OlderRuns, Picture } from './picture.ts'
import { isLoneEnd, isTrouble, lengthMs, type Run } from './run.ts'
import { isOverdue } from './usual.ts'

const LEAST_PX = 3
const LABEL_PX = 56
const STUB_PX = 14

export function drawLane(ctx: Context, picture: Picture, lane: readonly Run[], y: number, height: number): void {
  const { scale, nowMs } = picture
  let paintedPx = Number.NEGATIVE_INFINITY
  for (let i = firstVisible(lane, scale.fromMs); i < lane.length; i++) {
    const run = lane[i]!
    const x = toPx(scale, run.startMs)
    if (x > scale.widthPx) break
    const right = toPx(scale, Math.min(run.endMs, Math.max(nowMs, run.startMs)))
    // A failed run is drawn even over a completed one: it must not be hidden.
    if (right < paintedPx && !isMarked(picture, run) && !isTrouble(run)) continue
    drawRun(ctx, picture, run, Math.max(x, scale.leftPx - 4), Math.max(right, x + LEAST_PX), y, height)
    paintedPx = Math.floor(Math.max(right, x + LEAST_PX))
  }
}

const isMarked = ({ hovered, chosenId }: Picture, run: Run): boolean => run === hovered || run.id === chosenId

function drawRun(ctx: Context, picture: Picture, run: Run, x: number, right: number, y: number, height: number): void {
  const { palette, scale, nowMs } = picture
  const overdue = run.state === 'running' && isOverdue(run, picture.usualMs(run), nowMs)
  ctx.fillStyle = overdue ? palette.overdue : palette[run.state]
  if (run.state === 'abandoned') drawStub(ctx, x, y, height)
  else if (isLoneEnd(run)) drawDiamond(ctx, x, y, height)
  else {
    const end = Math.min(right, scale.widthPx + 4)
    ctx.beginPath()
    ctx.roundRect(x, y, Math.max(LEAST_PX, end - x), height, Math.min(3, height / 2, (end - x) / 2))
    ctx.fill()
    const left = Math.max(x, scale.leftPx)
    if (Math.min(end, scale.widthPx) - left > LABEL_PX && height >= 11) {
      ctx.font = `11px ${palette.font}`
      ctx.textAlign = 'left'
      ctx.fillStyle = overdue || run.state === 'completed' ? palette.onRun : palette.onStrong
      ctx.fillText(formatDuration(lengthMs(run, nowMs)), left + 6, y + height / 2 + 0.5)
    }
  }
  if (!isMarked(picture, run)) return
  const isPoint = run.state === 'abandoned' || isLoneEnd(run)
  ctx.strokeStyle = palette.text
  ctx.lineWidth = run.id === picture.chosenId ? 2 : 1
  const width = isPoint ? STUB_PX : right - x
  ctx.strokeRect((isLoneEnd(run) ? x - STUB_PX / 2 : x) - 1.5, y - 1.5, width + 3, height + 3)
}

/** A start without an end: a wall, then a dashed line. */
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

/** The counts of runs that are not loaded, each as tall as its share of the process's largest; trouble is red. */
export function drawOlder(
  ctx: Context,
  { scale, scrollPx, palette }: Picture,
  band: PlacedBand,
  older: OlderRuns,
): void {
  const counts = older.counts.get(band.process) ?? []
  const most = Math.max(1, ...counts.map(({ runs }) => runs))
  const base = band.bottomPx - scrollPx - 1
  const room = band.bottomPx - band.lanesPx - 2
  for (const { atMs, runs, troubles } of counts) {
    const x = Math.max(scale.leftPx, toPx(scale, atMs))
    const right = toPx(scale, Math.min(atMs + older.everyMs, older.untilMs))
    if (right <= x || runs === 0) continue
    const tall = Math.max(2, (runs / most) * room)
    const redTall = troubles === 0 ? 0 : Math.max(2, (troubles / most) * room)
    ctx.fillStyle = palette.completed
    ctx.globalAlpha = OLDER_ALPHA
    ctx.fillRect(x, base - tall, Math.max(1, right - x - 1), tall)
    ctx.globalAlpha = 1
    ctx.fillStyle = palette.failed
    ctx.fillRect(x, base - redTall, Math.max(1, right - x - 1), redTall)
  }
}

const OLDER_ALPHA = 0.55
const BIN_PX = 3
const TROUBLE_PX = 5

/** The number of open runs over time: completed ones, running ones above them, and a red row at the top for trouble. */
export function drawStrip(ctx: Context, picture: Picture, band: PlacedBand): void {
  const { scale, scrollPx, nowMs, palette } = picture
  const bins = Math.ceil((scale.widthPx - scale.leftPx) / BIN_PX)
  const settled = new Float64Array(bins + 1)
  const running = new Float64Array(bins + 1)
  const binOf = (ms: number) => Math.floor((toPx(scale, ms) - scale.leftPx) / BIN_PX)
  for (const lane of band.lanes)
    for (const run of lane) {
      const [first, last] = [binOf(run.startMs), binOf(Math.min(run.endMs, Math.max(nowMs, run.startMs)))]
      if (last < 0 || first >= bins) continue
      const counts = run.state === 'running' ? running : settled
      counts[Math.max(0, first)]! += 1
      counts[Math.min(bins, last + 1)]! -= 1
    }
  const top = band.lanesPx - scrollPx
  const base = band.bottomPx - scrollPx
  const room = base - top - TROUBLE_PX - 2
  const perRun = room / Math.max(1, band.lanes.length)
  let [done, open] = [0, 0]
  for (let bin = 0; bin < bins; bin++) {
    done += settled[bin]!
    open += running[bin]!
    const x = scale.leftPx + bin * BIN_PX
    const [doneTall, openTall] = [done > 0 ? Math.max(1, done * perRun) : 0, open > 0 ? Math.max(1, open * perRun) : 0]
    ctx.fillStyle = palette.completed
    ctx.fillRect(x, base - doneTall, BIN_PX, doneTall)
    ctx.fillStyle = palette.running
    ctx.fillRect(x, base - doneTall - openTall, BIN_PX, openTall)
  }
  for (const run of band.troubles) {
    const x = toPx(scale, run.startMs)
    if (x < scale.leftPx - LEAST_PX || x > scale.widthPx) continue
    ctx.fillStyle = palette.failed
    ctx.fillRect(x - 1, top, LEAST_PX, TROUBLE_PX)
    if (!isMarked(picture, run)) continue
    ctx.strokeStyle = palette.text
    ctx.lineWidth = 1
    ctx.strokeRect(x - 2.5, top - 1.5, LEAST_PX + 3, TROUBLE_PX + 3)
  }
}
