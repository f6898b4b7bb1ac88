// `failed`: n failures in a row, by failure-row.ts. A failure that came late waits for the rest of its backlog: if a
// success is newer by then, it is one notification that is over, and only for `after: 1`.
import { type Desk, factsOf } from './desk.ts'
import { type Due, nextUnfinished } from './due.ts'
import type { Episode } from './episode.ts'
import { countFailure, isOfRun, type RowEnd, rowOf } from './failure-row.ts'
import { keyOf } from './firing.ts'
import type { JudgedAlert, Mark, RaisedException } from './judge-interface.ts'
import { identityOf, noteSeen } from './seen.ts'
import { MAX_LATE, restOf, type Series, tagOf } from './series.ts'
import { type Failure, nameOf, sinceOf, type Track } from './subjects.ts'

/** Older failures fire nothing. */
const OLDEST_US = 7 * 86_400e6
/** Requests overtake each other: the exception of a failed run may arrive after its end. */
const AWAITED_US = 1e6
/** After the next start an end of the run may still follow. */
const UNFINISHED_US = 60e6

const instanceOf = ({ process, meta }: Track): string => keyOf('failed', process, meta)

export function noteFailure(desk: Desk, track: Track, failure: Failure): void {
  const restUs = restOf(failure)
  if (restUs <= failure.arrivedUs || failure.cause === 'abandoned') {
    fail(desk, track, failure)
    return
  }
  const { uid, startedUs, atUs, cause } = failure
  const { late } = track.series
  if (late.length >= MAX_LATE) return
  late.push({
    atUs,
    cause,
    restUs,
    ...(uid !== undefined && { uid }),
    ...(startedUs !== undefined && { startedUs }),
  })
  desk.planRuns(track, restUs)
}

/** The start of a failed end that waits has come. */
export function noteItsStart({ late }: Series, uid: string, startedUs: number, endedUs: number): void {
  const at = late.findIndex((it) => it.cause === 'failed' && it.uid === uid && it.atUs === endedUs)
  if (at >= 0) late[at] = { ...late[at]!, startedUs }
}

/** A start found the former run open. */
export function noteUnfinished(desk: Desk, track: Track, { uid, atUs, arrivedUs }: Mark, startedUs: number): void {
  const { late } = track.series
  if (late.length >= MAX_LATE) return
  const restUs = arrivedUs + UNFINISHED_US
  late.push({ uid, startedUs, atUs, cause: 'abandoned', restUs })
  desk.planRuns(track, restUs)
}

type WaitingFailure = Series['late'][number]

/** When one that waits is judged. */
function dueOf({ account }: Track, { cause, startedUs = 0, atUs, restUs }: WaitingFailure): Due {
  if (cause !== 'abandoned') return { atUs: restUs, sinceUs: restUs, isHeld: false }
  return nextUnfinished({ startedUs, followedUs: atUs, restUs }, account.downtimes)
}

/** Those that waited long enough. Returns when the next one has. */
export function judgeWaiting(desk: Desk, track: Track, us: number): number {
  const { series } = track
  if (series.late.length === 0) return Number.POSITIVE_INFINITY
  const all = series.late.map((failure) => ({ failure, due: dueOf(track, failure) }))
  const isDue = (it: (typeof all)[number]) => it.due.atUs <= us
  const waiting = all.filter((it) => !isDue(it))
  if (waiting.length < all.length) {
    series.late = waiting.map(({ failure }) => failure)
    desk.touchTrack(track)
    const over = all.filter(isDue).sort((a, b) => a.due.atUs - b.due.atUs || a.failure.atUs - b.failure.atUs)
    for (const { failure, due } of over) {
      const { cause, atUs } = failure
      const { lost } = due
      const next = cause === 'abandoned' && { followedUs: atUs, ...(lost && { lost }) }
      fail(desk, track, { ...failure, arrivedUs: due.atUs, ...next })
    }
  }
  return Math.min(...waiting.map(({ due }) => due.atUs))
}

export function fail(desk: Desk, track: Track, failure: Failure): void {
  const { account, process, meta, series, watches } = track
  const { atUs, arrivedUs, cause, uid, startedUs, lost, followedUs } = failure
  const isBare = cause === 'failed' && startedUs === undefined
  const kind = cause === 'exception' ? 'exception' : isBare ? 'bare' : 'run'
  const joined = countFailure(series, {
    atUs,
    kind,
    ...(uid !== undefined && { uid }),
    ...(startedUs && { startedUs }),
  })
  const joins = joined !== 'over'
  const untilUs = successAfter(series, failure)
  const instance = instanceOf(track)
  const headline = cause === 'abandoned' ? undefined : headlineOf(series, failure)
  const isPrompt = restOf(failure) <= arrivedUs
  const awaitsUs = cause === 'failed' && headline === undefined && isPrompt ? AWAITED_US : undefined
  const opened: JudgedAlert[] = []
  for (const watch of watches) {
    const { failed } = watch.rules
    if (failed === undefined || (cause === 'exception' && !failed.exceptions)) continue
    if (joined === 'nothing' || (joined === 'runs' && failed.exceptions)) continue
    if (atUs <= sinceOf(account, watch, 'failed', instance) || atUs <= arrivedUs - OLDEST_US) continue
    const handUs = account.byHand.get(nameOf(watch.id, instance))?.atUs ?? 0
    const row = joins ? rowOf(series, failed.exceptions, handUs) : 1
    if (row < failed.after) continue
    const episode: Episode = {
      sinceUs: lost && followedUs !== undefined ? arrivedUs : atUs,
      figure: row,
      cause,
      ...(uid !== undefined && { uid }),
      ...(followedUs !== undefined && { followedUs }),
      ...(startedUs !== undefined && { startedUs }),
      ...(lost && { lost }),
    }
    const identity = keyOf(instance, atUs)
    const subject = { watch: watch.id, condition: 'failed', process, meta: meta === '' ? null : meta } as const
    const alert = { ...subject, instance, identity, episode: joins ? episode : { ...episode, untilUs } }
    const facts = factsOf(account, process, meta, headline)
    const more = { ...(!joins && { untilUs }), ...(awaitsUs !== undefined && { awaitsUs }) }
    if (desk.firing.open(account.name, alert, facts, more)) opened.push(alert)
  }
  if (opened.length > 0 && awaitsUs !== undefined)
    track.awaiting = { untilUs: arrivedUs + awaitsUs, failure, alerts: opened }
}

/**
 * After earlier failures were read from the stores: a row that is long enough now fires, if its newest failure is of
 * the time that the watch judges, and later than `afterUs`.
 */
export function lookAgain(desk: Desk, track: Track, afterUs: number): void {
  const { account, process, meta, series, watches } = track
  const instance = instanceOf(track)
  for (const watch of watches) {
    const { failed } = watch.rules
    const handUs = account.byHand.get(nameOf(watch.id, instance))?.atUs ?? 0
    if (failed === undefined || desk.firing.find(watch.id, instance) !== undefined) continue
    const row = rowOf(series, failed.exceptions, handUs)
    const own = series.failures.filter(({ kind }) => kind !== (failed.exceptions ? 'part' : 'exception'))
    if (row < failed.after || own.length === 0) continue
    const newest = own.reduce((a, b) => (b.atUs > a.atUs ? b : a))
    const { atUs, startedUs } = newest
    if (atUs <= Math.max(afterUs, sinceOf(account, watch, 'failed', instance))) continue
    const isEnd = startedUs === 0 || series.settled.some((run) => run.failed && run.endedUs === atUs)
    const cause = newest.kind === 'exception' ? 'exception' : isEnd ? 'failed' : 'abandoned'
    const episode = { sinceUs: atUs, figure: row, cause, ...(startedUs > 0 && { startedUs }) } as const
    const subject = { watch: watch.id, condition: 'failed', process, meta: meta === '' ? null : meta } as const
    const alert = { ...subject, instance, identity: keyOf(instance, atUs), episode }
    desk.firing.open(account.name, alert, factsOf(account, process, meta))
  }
}

/** The first known success after a failure that was over when it was judged. */
function successAfter({ settled, okUs }: Series, { atUs, cause }: Failure): number {
  const beganAfter = cause === 'exception' ? atUs : 0
  const ends = settled
    .filter((run) => !run.failed && run.endedUs > atUs && run.startedUs > beganAfter)
    .map(({ endedUs }) => endedUs)
  return Math.min(okUs, ...ends)
}

/** A success ended the row: at `endedUs`. */
export function succeed(desk: Desk, track: Track, endedUs: number, { ofRuns, ofAll }: RowEnd): void {
  if (!ofRuns) return
  const { account, process, meta, watches } = track
  for (const watch of watches) {
    const { failed } = watch.rules
    if (failed === undefined || (failed.exceptions && !ofAll)) continue
    const alert = desk.firing.find(watch.id, instanceOf(track))
    if (alert !== undefined && endedUs > alert.episode.sinceUs)
      desk.firing.end(account.name, alert, factsOf(account, process, meta), { atUs: endedUs })
  }
}

export function noteException(desk: Desk, track: Track, exception: RaisedException): void {
  const { series, account, process, meta } = track
  const { uid, headline, atUs, arrivedUs, isIgnored = false } = exception
  const { id = identityOf(atUs, `${uid} ${headline}`) } = exception
  if (watchesExceptions(track) && noteSeen(series.seen, id)) return
  desk.touchTrack(track)
  series.lastUs = Math.max(series.lastUs, arrivedUs)
  if (atUs >= (series.exception?.atUs ?? 0)) series.exception = { atUs, headline, ...(uid !== undefined && { uid }) }
  const { awaiting } = track
  if (awaiting !== undefined) {
    if (arrivedUs > awaiting.untilUs) track.awaiting = undefined
    else if (headlineOf(series, awaiting.failure) !== undefined) {
      for (const alert of awaiting.alerts)
        desk.firing.explain(account.name, alert, factsOf(account, process, meta, headline))
      track.awaiting = undefined
    }
  }
  if (isIgnored || !watchesExceptions(track)) return
  const startedUs = uid === undefined ? undefined : series.open.get(uid)?.startedUs
  noteFailure(desk, track, {
    atUs,
    arrivedUs,
    cause: 'exception',
    ...(uid !== undefined && { uid }),
    ...(startedUs !== undefined && startedUs <= atUs && { startedUs }),
  })
}

const watchesExceptions = ({ watches }: Track): boolean =>
  watches.some(({ rules }) => rules.failed?.exceptions === true)

/** Would an exception open an alert now? */
export const asksGroup = ({ firing }: Desk, track: Track): boolean =>
  track.watches.some(
    ({ id, rules }) => rules.failed?.exceptions === true && firing.find(id, instanceOf(track)) === undefined,
  )

/** The newest exception, if it is this run's. */
function headlineOf(series: Series, { uid = '', startedUs = 0, atUs, cause }: Failure): string | undefined {
  const { exception } = series
  if (exception === null) return undefined
  const isOwn =
    cause === 'exception'
      ? exception.atUs === atUs
      : isOfRun(series, { atUs: exception.atUs, tag: tagOf(exception.uid ?? '') }, { atUs, tag: tagOf(uid), startedUs })
  return isOwn ? exception.headline : undefined
}
