// A mark, from the series that it belongs to up to the alerts that it opens and ends.
import { findTrack, keepTrack } from './accounts.ts'
import type { Desk } from './desk.ts'
import { countBareSuccess, countSuccess } from './failure-row.ts'
import { foldMark, type Outcome } from './fold-mark.ts'
import { judgeWaiting, lookAgain, noteFailure, noteItsStart, noteUnfinished, succeed } from './judge-failed.ts'
import type { Mark } from './judge-interface.ts'
import { noteHeldStart, noteStart } from './judge-late.ts'
import { endLongs, forgetWaits, holdRun, judgeSlow, planRun, shortenHeld } from './judge-runs.ts'
import { wallOf } from './series.ts'
import type { Account, Track } from './subjects.ts'

export function applyMark(desk: Desk, account: Account, mark: Mark): void {
  const track = findTrack(account, mark.process, mark.meta)
  if (track.watches.length === 0) return
  const own = mark.atUs > mark.arrivedUs ? { ...mark, atUs: mark.arrivedUs } : mark
  if (keepTrack(account, track)) {
    fold(desk, track, own, desk.leadUs)
    return
  }
  // there is no room for its series: only the newest start is remembered, with the watch
  for (const subject of track.late) subject.isKept = true
  const { atUs, arrivedUs, kind } = own
  const wallUs = wallOf(own, desk.leadUs)
  if (kind === 'start') noteStart(desk, track, { atUs, arrivedUs, wallUs, restUs: 0, isEnd: false })
}

/** `leadUs`: 0 for marks whose arrival is not known. */
function fold(desk: Desk, track: Track, mark: Mark, leadUs: number): Outcome {
  const { series, watches } = track
  const isTimed = watches.some(({ rules }) => rules.slow !== undefined)
  const before = series.newestStartUs
  const former = series.open.get(mark.uid)
  if (series.held.length > 0) shortenHeld(series, mark)
  if (mark.kind === 'start') noteHeldStart(track, wallOf(mark, leadUs), desk)
  const outcome = foldMark(series, mark, { maxRunUs: desk.maxRunUs, isTimed, leadUs })
  desk.touchTrack(track)
  if (outcome.kind === 'nothing') return outcome
  const { uid, atUs, arrivedUs } = mark
  if (former !== undefined && series.open.get(uid) !== former) holdRun(desk, track, uid, former, mark)
  endLongs(desk, track, mark)
  switch (outcome.kind) {
    case 'started':
      planRun(desk, track, outcome.run)
      if (outcome.unfinishedUs !== undefined) noteUnfinished(desk, track, mark, outcome.unfinishedUs)
      break
    case 'settled': {
      const { run, isCounted } = outcome
      judgeSlow(desk, track, run, arrivedUs)
      if (!run.failed) succeed(desk, track, run.endedUs, countSuccess(series, run))
      else if (isCounted) noteItsStart(series, uid, run.startedUs, run.endedUs)
      else noteFailure(desk, track, { ...run, atUs: run.endedUs, arrivedUs, cause: 'failed' })
      forgetWaits(desk, track)
      break
    }
    case 'orphan':
      noteHeldStart(track, wallOf(mark, leadUs), desk)
      if (outcome.isFailed) noteFailure(desk, track, { uid, atUs, arrivedUs, cause: 'failed' })
      else succeed(desk, track, atUs, countBareSuccess(series, atUs))
      break
    default:
      outcome satisfies never
  }
  const { newestStartUs, wallUs, restUs } = series
  if (newestStartUs > before)
    noteStart(desk, track, { atUs: newestStartUs, arrivedUs, wallUs, restUs, isEnd: mark.kind !== 'start' })
  return outcome
}

export interface SeedOptions {
  readonly quietUntilUs: number
  readonly keepsOpen: boolean
}

/** Marks of a store: events that came late, of which those of a judged time fire nothing. */
export function seedMarks(
  desk: Desk,
  account: Account,
  marks: readonly Mark[],
  { quietUntilUs, keepsOpen }: SeedOptions,
) {
  const opened = new Map<Track, Map<string, number>>()
  const touched = new Set<Track>()
  const sorted = marks.toSorted((a, b) => a.atUs - b.atUs || Number(a.kind !== 'start') - Number(b.kind !== 'start'))
  for (const mark of sorted) {
    const track = findTrack(account, mark.process, mark.meta)
    if (track.watches.length === 0 || !keepTrack(account, track)) continue
    const isQuiet = mark.atUs <= quietUntilUs
    track.judgedUs = Math.max(track.judgedUs, quietUntilUs)
    const outcome = desk.firing.muted(isQuiet, () => {
      if (isQuiet) judgeWaiting(desk, track, mark.atUs)
      return fold(desk, track, isQuiet ? { ...mark, arrivedUs: mark.atUs } : mark, 0)
    })
    if (outcome.kind !== 'nothing') touched.add(track)
    if (outcome.kind !== 'started') continue
    const own = opened.get(track)
    if (own === undefined) opened.set(track, new Map([[mark.uid, mark.atUs]]))
    else own.set(mark.uid, mark.atUs)
  }
  for (const track of touched) lookAgain(desk, track, keepsOpen ? quietUntilUs : 0)
  if (keepsOpen) return
  for (const [{ series }, runs] of opened)
    for (const [uid, startedUs] of runs) if (series.open.get(uid)?.startedUs === startedUs) series.open.delete(uid)
}
