// Finds what the watches of an account are about, and keeps it when they change. Bounded: MAX_SERIES series with a row,
// MAX_TRACKS without one, which hold only their watches and can be found again.
import { CONDITIONS } from '../../wire/conditions.ts'
import { type Desk, nameOfSubject } from './desk.ts'
import { adapt, createGauge, type Gauge } from './gauge.ts'
import { type EndedByHand, type JudgedAlert, type JudgedWatch, MAX_SERIES } from './judge-interface.ts'
import { planHeld, planLate, subjectsOf } from './judge-late.ts'
import { judgeMetric } from './judge-metric.ts'
import type { Series } from './series.ts'
import {
  type Account,
  createTrack,
  type LateState,
  type LateSubject,
  type MetricSubject,
  nameOf,
  type Track,
} from './subjects.ts'

const MAX_TRACKS = 2 * MAX_SERIES
/** So many are named. */
const DROPPED_KEPT = 100
/** A change that a kill may have kept from being judged. */
const RECENT_US = 60e6
/** What was due may have waited for a silent node that is not silent any more: it is judged again, and opens once. */
const WAITED_US = 660e6

const watchesOf = ({ watches }: Account, process: string, meta: string): readonly JudgedWatch[] =>
  watches.filter((it) => (it.meta === null || it.meta === meta) && it.matches(process))

export const tracksOf = function* ({ tracks }: Account): Iterable<Track> {
  for (const metas of tracks.values()) yield* metas.values()
}

export function findTrack(account: Account, process: string, meta: string): Track {
  const known = account.tracks.get(process)?.get(meta)
  if (known !== undefined) return known
  if (account.count >= MAX_TRACKS) forgetEmpty(account)
  const track = createTrack(account, process, meta)
  track.watches = watchesOf(account, process, meta)
  track.late = subjectsOf(track)
  const metas = account.tracks.get(process)
  if (metas === undefined) account.tracks.set(process, new Map([[meta, track]]))
  else metas.set(meta, track)
  account.count++
  return track
}

function forgetEmpty(account: Account): void {
  for (const track of tracksOf(account)) if (!track.isKept) removeTrack(account, track)
}

export function removeTrack(account: Account, { process, meta, isKept }: Track): void {
  const metas = account.tracks.get(process)
  if (metas?.delete(meta) !== true) return
  if (metas.size === 0) account.tracks.delete(process)
  account.count--
  if (isKept) account.kept--
}

/** Remembers that a process is not judged, for want of room. */
function drop(account: Account, process: string): void {
  if (account.dropped.size < DROPPED_KEPT) account.dropped.add(process)
}

/** Gives it a row. False: the account has MAX_SERIES others. */
export function keepTrack(account: Account, track: Track): boolean {
  if (track.isKept) return true
  if (account.kept >= MAX_SERIES) {
    drop(account, track.process)
    return false
  }
  track.isKept = true
  account.kept++
  joinLate(account, track)
  return true
}

/** A pattern expects starts of each process that it saw. */
function joinLate(account: Account, track: Track): void {
  for (const watch of track.watches)
    if (watch.rules.late !== undefined)
      track.late = [...new Set([...track.late, findLate(account, watch, track.process)])]
}

export function loadTrack(account: Account, process: string, meta: string, series: Series): void {
  const track = findTrack(account, process, meta)
  track.series = series
  if (!track.isKept) account.kept++
  track.isKept = true
}

function findLate(account: Account, watch: JudgedWatch, process: string, start?: LateState): LateSubject {
  const name = nameOf(watch.id, process)
  const known = account.late.get(name)
  if (known !== undefined) return known
  const subject: LateSubject = {
    watch,
    account,
    process,
    newestStartUs: 0,
    wallUs: start?.newestStartUs ?? 0,
    restUs: 0,
    held: [],
    ...start,
    isGone: false,
    isKept: start !== undefined,
    plannedUs: Number.POSITIVE_INFINITY,
  }
  account.late.set(name, subject)
  return subject
}

/** Undefined: the account has MAX_SERIES others. */
export function findMetric(
  account: Account,
  watch: JudgedWatch,
  process: string,
  gauge?: Gauge,
): MetricSubject | undefined {
  const name = nameOf(watch.id, process)
  const known = account.metrics.get(name)
  if (known !== undefined) return known
  if (account.metrics.size >= MAX_SERIES) {
    drop(account, process)
    return undefined
  }
  const subject: MetricSubject = {
    watch,
    account,
    process,
    plannedUs: Number.POSITIVE_INFINITY,
    isGone: false,
    gauge: gauge ?? createGauge(watch.rules.metric!),
  }
  account.metrics.set(name, subject)
  return subject
}

/** The watches of an account, and what is stored of their alerts. */
interface WatchSet {
  readonly watches: readonly JudgedWatch[]
  readonly firing: readonly JudgedAlert[]
  readonly byHand: readonly EndedByHand[]
}

/** `judgedUs`: what was due before is judged, except by watches that are new here. */
export function setWatches(
  desk: Desk,
  account: Account,
  set: WatchSet,
  nowUs: number,
  judgedUs: number | undefined,
): void {
  const before = new Map(account.watches.map((watch) => [watch.id, versionOf(watch)]))
  const isFresh = (watch: JudgedWatch) =>
    judgedUs === undefined ? before.get(watch.id) !== versionOf(watch) : sinceAny(watch) > judgedUs - RECENT_US
  account.watches = set.watches
  account.dropped.clear()
  account.byHand = newestByHand(set.byHand)
  const alerts = Map.groupBy(set.firing, ({ watch }) => watch)
  for (const id of new Set([...before.keys(), ...alerts.keys()])) desk.firing.set(id, alerts.get(id) ?? [])
  matchAgain(desk, account)
  for (const alert of set.firing)
    if (alert.condition === 'long')
      findTrack(account, alert.process, alert.meta ?? '').longs.set(nameOf(alert.watch, alert.instance), alert)
  for (const subject of account.late.values()) {
    planHeld(desk, subject)
    planLate(desk, subject, isFresh(subject.watch) ? 0 : (judgedUs ?? 0) - WAITED_US)
  }
  for (const subject of account.metrics.values()) judgeMetric(desk, subject, subject.gauge.crossedUs ?? 0)
  for (const track of tracksOf(account)) {
    if (judgedUs !== undefined) {
      track.judgedUs = judgedUs - 1
      track.longJudgedUs = judgedUs - WAITED_US
    }
    for (const watch of track.watches) if (isFresh(watch)) track.fresh.add(watch.id)
    const { open, late, held } = track.series
    if (open.size + late.length + held.length > 0 && track.watches.length > 0) desk.planRuns(track, judgedUs ?? nowUs)
  }
}

const sinceAny = (watch: JudgedWatch): number => Math.max(...CONDITIONS.map((it) => watch.sinceUs(it)))
const versionOf = (watch: JudgedWatch): string =>
  JSON.stringify([watch.process, watch.meta, CONDITIONS.map((it) => watch.sinceUs(it))])

function newestByHand(list: readonly EndedByHand[]): ReadonlyMap<string, EndedByHand> {
  const newest = new Map<string, EndedByHand>()
  for (const it of list) {
    const name = nameOf(it.watch, it.instance)
    if (it.atUs > (newest.get(name)?.atUs ?? 0)) newest.set(name, it)
  }
  return newest
}

/** Each process and meta with its watches, each watch with its subjects. */
function matchAgain(desk: Desk, account: Account): void {
  const watches = new Map(account.watches.map((watch) => [watch.id, watch]))
  for (const [name, subject] of account.late) {
    const watch = watches.get(subject.watch.id)
    if (watch?.rules.late === undefined || !watch.matches(subject.process)) {
      subject.isGone = true
      account.late.delete(name)
      if (subject.isKept) desk.dropRow(account, nameOfSubject('late', subject.watch.id, subject.process))
    } else subject.watch = watch
  }
  for (const { condition, watch: id, process, state } of account.loaded) {
    const watch = watches.get(id)
    if (watch?.rules[condition] === undefined) desk.dropRow(account, nameOfSubject(condition, id, process))
    else if (condition === 'late') findLate(account, watch, process, state)
    else findMetric(account, watch, process, state)
  }
  account.loaded = []
  for (const [name, subject] of account.metrics) {
    const watch = watches.get(subject.watch.id)
    if (watch?.rules.metric === undefined || !watch.matches(subject.process)) {
      subject.isGone = true
      account.metrics.delete(name)
      desk.dropRow(account, nameOfSubject('metric', subject.watch.id, subject.process))
    } else {
      subject.watch = watch
      adapt(subject.gauge, watch.rules.metric)
    }
  }
  for (const watch of account.watches)
    if (watch.rules.late !== undefined && !watch.process.includes('*')) findLate(account, watch, watch.process)
  for (const track of tracksOf(account)) {
    track.watches = watchesOf(account, track.process, track.meta)
    track.late = subjectsOf(track)
    track.longs.clear()
    if (track.isKept) joinLate(account, track)
    for (const subject of track.late)
      if (track.series.newestStartUs > subject.newestStartUs) {
        subject.newestStartUs = track.series.newestStartUs
        subject.wallUs = track.series.wallUs
        subject.restUs = track.series.restUs
      }
  }
}
