// `long` and `slow`: the open runs of a process and meta by all limits, and MAX_RUN. All have one place in the heap.
import { limitOf } from '../../process/usual.ts'
import type { Condition } from '../../wire/conditions.ts'
import { type Desk, factsOf } from './desk.ts'
import { type Due, exceedsUs, nextLong } from './due.ts'
import type { Episode, EpisodeRun } from './episode.ts'
import { keyOf } from './firing.ts'
import { fail, judgeWaiting } from './judge-failed.ts'
import type { JudgedAlert, JudgedWatch, Mark } from './judge-interface.ts'
import { type EndedRun, MAX_OPEN, type OpenRun, type Series } from './series.ts'
import { nameOf, sinceOf, type Track } from './subjects.ts'

/** A run that was slow longer ago, when its end arrives, fires nothing. */
const SLOW_WITHIN_US = 600e6

/** The conditions with a limit on the duration of an open run. */
type RunCondition = Extract<Condition, 'long' | 'slow'>
const RUN_CONDITIONS = ['long', 'slow'] as const satisfies readonly RunCondition[]

function watchLimitOf(
  { rules }: JudgedWatch,
  condition: RunCondition,
  { usualUs }: { usualUs?: number },
): number | undefined {
  if (condition === 'long') return rules.long
  return rules.slow === undefined || usualUs === undefined ? undefined : limitOf(rules.slow, usualUs)
}

const instanceOfSlow = ({ process, meta }: Track): string => keyOf('slow', process, meta)
const instanceOfLong = ({ process, meta }: Track, uid: string, startedUs: number): string =>
  keyOf('long', process, meta, uid, startedUs)

const isRunWatch = ({ rules }: JudgedWatch): boolean =>
  rules.long !== undefined || rules.slow !== undefined || rules.failed !== undefined

/** When a run that began is first looked at. */
export function planRun(desk: Desk, track: Track, run: OpenRun): void {
  if (!track.watches.some(isRunWatch)) return
  let limitUs = desk.maxRunUs
  for (const watch of track.watches)
    for (const condition of RUN_CONDITIONS) limitUs = Math.min(limitUs, watchLimitOf(watch, condition, run) ?? limitUs)
  desk.planRuns(track, Math.max(exceedsUs(run, limitUs), run.restUs ?? 0))
}

/** Fires what came due since it was last looked at, and plans the next. */
export function judgeRuns(desk: Desk, track: Track, us: number): void {
  const { series, watches, account, judgedUs, longJudgedUs = judgedUs } = track
  forgetWaits(desk, track)
  track.judgedUs = Math.max(us, judgedUs)
  track.plannedUs = Number.POSITIVE_INFINITY
  let nextUs = Number.POSITIVE_INFINITY
  /** Is it due by now? If not, it is looked at when it would be due without downtimes. */
  const isDue = (atUs: number, plainUs: number): boolean => {
    if (atUs > us) nextUs = Math.min(nextUs, plainUs > us ? plainUs : atUs)
    return atUs <= us
  }
  for (const [uid, run] of [...series.open]) {
    for (const watch of watches)
      for (const condition of RUN_CONDITIONS) {
        const limitUs = watchLimitOf(watch, condition, run)
        if (limitUs === undefined) continue
        const due = nextLong(run, limitUs, account.downtimes)
        const sinceUs = watch.sinceUs(condition)
        const atUs = Math.max(due.atUs, sinceUs)
        if (isDue(atUs, Math.max(exceedsUs(run, limitUs), sinceUs))) {
          if (atUs > (condition === 'long' ? longJudgedUs : judgedUs) || track.fresh.has(watch.id))
            fireRun(desk, track, watch, condition, { uid, run, limitUs, due }, us)
        } else noteWait(desk, track, watch, condition, exceedsUs(run, limitUs), due, us)
      }
    const due = nextLong(run, desk.maxRunUs, account.downtimes)
    if (!isDue(due.atUs, exceedsUs(run, desk.maxRunUs))) continue
    series.open.delete(uid)
    desk.touchTrack(track)
    const { atUs, lost } = due
    const { startedUs } = run
    fail(desk, track, { uid, startedUs, atUs, arrivedUs: atUs, cause: 'abandoned', ...(lost && { lost }) })
  }
  nextUs = Math.min(nextUs, judgeHeldRuns(desk, track, us))
  track.fresh.clear()
  track.longJudgedUs = undefined
  desk.planRuns(track, Math.min(nextUs, judgeWaiting(desk, track, us)))
}

/**
 * A run ended, or another one of its uid began, after a limit that passed while a silent node was waited for: it is
 * judged when the node is back, because that may hold an earlier end of it.
 */
export function holdRun(desk: Desk, track: Track, uid: string, run: OpenRun, mark: Mark): void {
  const { account, series, watches } = track
  const { startedUs, leadUs, restUs = 0 } = run
  if (mark.arrivedUs > account.heldUntilUs || series.held.length >= MAX_OPEN) return
  const dues = watches.flatMap((watch) => {
    const limitUs = watch.rules.long
    if (limitUs === undefined || startedUs + limitUs >= mark.atUs) return []
    if (isCovered(track, watch, { uid, startedUs })) return []
    const due = nextLong(run, limitUs, account.downtimes)
    return due.isHeld && due.atUs > mark.arrivedUs ? [due.atUs] : []
  })
  if (dues.length === 0) return
  series.held.push({ uid, startedUs, restUs, endedUs: mark.atUs, ...(leadUs !== undefined && { leadUs }) })
  desk.planRuns(track, Math.min(...dues))
}

/** A mark of that uid that a silent node held: the run ended earlier. */
export function shortenHeld({ held }: Series, { uid, atUs }: Mark): void {
  for (const [i, run] of held.entries())
    if (run.uid === uid && run.startedUs < atUs && atUs < run.endedUs) held[i] = { ...run, endedUs: atUs }
}

/** Returns when the next of them is due. */
function judgeHeldRuns(desk: Desk, track: Track, us: number): number {
  const { account, series, watches, process, meta } = track
  let nextUs = Number.POSITIVE_INFINITY
  series.held = series.held.filter((run) => {
    const { uid, startedUs, endedUs } = run
    let isWaiting = false
    for (const watch of watches) {
      const limit = watch.rules.long
      if (limit === undefined || startedUs + limit >= endedUs || endedUs <= watch.sinceUs('long')) continue
      const { atUs, sinceUs, lost } = nextLong(run, limit, account.downtimes)
      if (atUs > us) {
        nextUs = Math.min(nextUs, atUs)
        isWaiting = true
        continue
      }
      const instance = instanceOfLong(track, uid, startedUs)
      const since = Math.max(sinceUs, watch.sinceUs('long'))
      const figure = endedUs - startedUs
      const episode: Episode = { sinceUs: since, uid, startedUs, limit, figure, ...(lost && { lost }) }
      const subject = { watch: watch.id, condition: 'long', process, meta: meta === '' ? null : meta } as const
      const alert = { ...subject, instance, identity: keyOf(instance, startedUs), episode }
      const more = { untilUs: Math.max(endedUs, since), isApart: true }
      desk.firing.open(account.name, alert, factsOf(account, process, meta), more)
    }
    if (!isWaiting) desk.touchTrack(track)
    return isWaiting
  })
  return nextUs
}

interface Exceeded {
  readonly uid: string
  readonly run: OpenRun
  readonly limitUs: number
  readonly due: Due
}

function fireRun(
  desk: Desk,
  track: Track,
  watch: JudgedWatch,
  condition: RunCondition,
  { uid, run, limitUs, due }: Exceeded,
  us: number,
): void {
  const { account, process, meta, series } = track
  const { startedUs } = run
  const slow = instanceOfSlow(track)
  if (condition === 'slow' && due.atUs <= (account.byHand.get(nameOf(watch.id, slow))?.atUs ?? 0)) return
  if (condition === 'long' && isCovered(track, watch, { uid, startedUs })) return
  const runs = condition === 'long' && due.lost ? runsAcross(track, watch, { limitUs, due }, us) : []
  const episode: Episode = {
    sinceUs: Math.max(due.sinceUs, watch.sinceUs(condition)),
    uid,
    startedUs,
    limit: limitUs,
    ...(due.lost && { lost: due.lost }),
    ...(runs.length > 1 && { runs }),
    ...(condition === 'long' && series.others > 0 && { others: series.others }),
  }
  const instance = condition === 'slow' ? slow : instanceOfLong(track, uid, startedUs)
  const identity = keyOf(instance, condition === 'slow' ? keyOf(uid, startedUs) : startedUs)
  const subject = { watch: watch.id, condition, process, meta: meta === '' ? null : meta }
  const alert = { ...subject, instance, identity, episode }
  if (desk.firing.open(account.name, alert, factsOf(account, process, meta)) && condition === 'long')
    track.longs.set(nameOf(watch.id, instance), alert)
}

export const runsOf = ({ episode: { runs, uid, startedUs, sinceUs } }: JudgedAlert): readonly EpisodeRun[] =>
  runs ?? [{ uid: uid ?? '', startedUs: startedUs ?? sinceUs }]

/** Another alert is about this run, too. */
function isCovered({ longs }: Track, watch: JudgedWatch, { uid, startedUs }: EpisodeRun): boolean {
  for (const alert of longs.values())
    if (alert.watch === watch.id && runsOf(alert).some((it) => it.uid === uid && it.startedUs === startedUs))
      return true
  return false
}

/** All runs whose end the same downtime may have hidden, and that no other alert is about. */
function runsAcross(
  track: Track,
  watch: JudgedWatch,
  { limitUs, due: { lost } }: Pick<Exceeded, 'limitUs' | 'due'>,
  us: number,
): EpisodeRun[] {
  const { account, series } = track
  const runs: EpisodeRun[] = []
  for (const [uid, run] of series.open) {
    const due = nextLong(run, limitUs, account.downtimes)
    const name = { uid, startedUs: run.startedUs }
    if (due.lost === lost && due.atUs <= us && !isCovered(track, watch, name)) runs.push(name)
  }
  return runs.sort((a, b) => a.startedUs - b.startedUs)
}

const waitName = ({ process, meta }: Track, watch: JudgedWatch, condition: RunCondition): string =>
  nameOf(watch.id, keyOf(condition, process, meta))

export function forgetWaits(desk: Desk, track: Track): void {
  if (desk.waits.size === 0) return
  for (const watch of track.watches)
    for (const condition of RUN_CONDITIONS) desk.waits.delete(waitName(track, watch, condition))
}

function noteWait(
  desk: Desk,
  track: Track,
  watch: JudgedWatch,
  condition: RunCondition,
  plainUs: number,
  { atUs, lost }: Due,
  us: number,
): void {
  if (lost === undefined || plainUs > us) return
  const wait = { account: track.account.name, watch: watch.id, condition, process: track.process, sinceUs: plainUs }
  desk.waits.set(waitName(track, watch, condition), { ...wait, judgedAtUs: atUs, lost })
}

/** A mark of a uid ends the alerts about its earlier runs; one about several runs ends with the last of them. */
export function endLongs(desk: Desk, track: Track, { uid, atUs, kind }: Mark): void {
  const { account, process, meta, series, longs } = track
  if (longs.size === 0) return
  const isOver = (run: EpisodeRun) =>
    run.uid === uid && (kind === 'start' ? run.startedUs < atUs : run.startedUs <= atUs)
  const isOpen = (run: EpisodeRun) => series.open.get(run.uid)?.startedUs === run.startedUs
  for (const [name, alert] of longs) {
    const runs = runsOf(alert)
    if (!runs.some(isOver) || !runs.every((run) => isOver(run) || !isOpen(run))) continue
    longs.delete(name)
    const figure = atUs - (alert.episode.startedUs ?? alert.episode.sinceUs)
    const endedAs = kind === 'start' ? 'started again' : kind === 'end' ? 'completed' : 'failed'
    desk.firing.end(account.name, alert, factsOf(account, process, meta), { atUs, ended: { figure, endedAs } })
  }
}

/** A run that ended: it was slow, or it ends the alert. */
export function judgeSlow(desk: Desk, track: Track, run: EndedRun, arrivedUs: number): void {
  const { account, process, meta, watches } = track
  const { uid, startedUs, endedUs, usualUs, failed } = run
  for (const watch of watches) {
    if (watch.rules.slow === undefined) continue
    const instance = instanceOfSlow(track)
    const alert = desk.firing.find(watch.id, instance)
    const limit = usualUs === undefined ? undefined : limitOf(watch.rules.slow, usualUs)
    const figure = endedUs - startedUs
    const isSlow = limit !== undefined && figure > limit
    if (alert !== undefined) {
      if (!isSlow && !failed && startedUs >= (alert.episode.startedUs ?? 0))
        desk.firing.end(account.name, alert, factsOf(account, process, meta), { atUs: endedUs })
      continue
    }
    const sinceUs = sinceOf(account, watch, 'slow', instance)
    if (!isSlow || endedUs <= sinceUs || endedUs <= arrivedUs - SLOW_WITHIN_US) continue
    const episode: Episode = { sinceUs: Math.max(startedUs + limit, sinceUs), uid, startedUs, limit, figure }
    const subject = { watch: watch.id, condition: 'slow', process, meta: meta === '' ? null : meta } as const
    const identity = keyOf(instance, keyOf(uid, startedUs))
    desk.firing.open(account.name, { ...subject, instance, identity, episode }, factsOf(account, process, meta))
  }
}
