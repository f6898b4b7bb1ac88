// Marks of one process and meta → its runs, by the pairing rule (store/pair-marks.ts), each with its settling time.

/** A mark as the rules see it. */
export interface WatchMark {
  readonly mark: 'start' | 'end' | 'failed'
  /** '' = without uid. */
  readonly uid: string
  readonly atUs: number
  /** Its time before the clock was set back, if it was moved. */
  readonly ownUs?: number
  /** Only for a start that arrived late. */
  readonly trust?: Trust
}

/** An open start is a run once all accepted before `us` is stored; before `fromUs` never: its end may be unknown. */
export interface Trust {
  readonly us: number
  readonly fromUs: number
}

export interface Run {
  readonly uid: string
  readonly state: 'completed' | 'failed' | 'running' | 'abandoned'
  readonly startedUs: number
  /** The time of its start before the clock was set back, if that was moved. */
  readonly ownUs?: number
  /** When its state became certain: its end, the next start, or MAX_RUN after its start. Infinity while it runs. */
  readonly settledUs: number
  /** The next mark with the same uid, whatever it is; absent until it exists. */
  readonly nextUs?: number
  /** Abandoned only because of another start: without uid a concurrent run, with one a retry of the caller. */
  readonly isDoubtful: boolean
  /**
   * A downtime of this length may hide its end and the next start, so that the known end is another run's: half the
   * shortest pause before it between runs with its uid. Infinity: it is the first one; 0: its own end is not known.
   */
  readonly hiddenUs: number
}

const RANK = { start: 0, end: 1, failed: 2 } as const

/** By time, a start before an end. Equal marks are one event: an event with its own time is identified by content. */
export function compareMarks(a: WatchMark, b: WatchMark): number {
  if (a.atUs !== b.atUs) return a.atUs - b.atUs
  if (a.mark !== b.mark) return RANK[a.mark] - RANK[b.mark]
  return a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0
}

/**
 * The runs that started at or before `knownUs`, as known then. `marks` are sorted by `compareMarks`. Orphans, and open
 * starts that are not trusted yet, are not runs.
 */
export function findRuns(marks: readonly WatchMark[], knownUs: number, maxRunUs: number): Run[] {
  const runs: Run[] = []
  const open = new Map<string, WatchMark>()
  const ends = new Map<string, number>()
  const pauses = new Map<string, number>()
  for (const mark of marks) {
    const { uid, atUs } = mark
    if (atUs > knownUs) break
    const start = open.get(uid)
    if (start !== undefined) runs.push(settle(start, mark, maxRunUs, pauses.get(uid)))
    if (mark.mark === 'start') {
      const endUs = ends.get(uid)
      ends.delete(uid)
      if (endUs !== undefined) pauses.set(uid, Math.min(pauses.get(uid) ?? Number.POSITIVE_INFINITY, atUs - endUs))
      open.set(uid, mark)
    } else {
      ends.set(uid, atUs)
      open.delete(uid)
    }
  }
  for (const start of open.values()) {
    const { trust } = start
    if (trust !== undefined && (trust.us > knownUs || start.atUs < trust.fromUs)) continue
    const endsUs = start.atUs + maxRunUs
    const isRunning = knownUs <= endsUs
    runs.push({
      uid: start.uid,
      state: isRunning ? 'running' : 'abandoned',
      startedUs: start.atUs,
      ...(start.ownUs !== undefined && { ownUs: start.ownUs }),
      settledUs: isRunning ? Number.POSITIVE_INFINITY : endsUs,
      isDoubtful: false,
      hiddenUs: 0,
    })
  }
  return runs
}

function settle(start: WatchMark, next: WatchMark, maxRunUs: number, pauseUs = Number.POSITIVE_INFINITY): Run {
  const own = start.ownUs === undefined ? {} : { ownUs: start.ownUs }
  const hiddenUs = next.mark === 'start' ? 0 : pauseUs / 2
  const run = { uid: start.uid, startedUs: start.atUs, ...own, nextUs: next.atUs, isDoubtful: false, hiddenUs }
  if (next.atUs - start.atUs > maxRunUs) return { ...run, state: 'abandoned', settledUs: start.atUs + maxRunUs }
  if (next.mark === 'start') {
    return { ...run, state: 'abandoned', settledUs: next.atUs, isDoubtful: true }
  }
  return { ...run, state: next.mark === 'end' ? 'completed' : 'failed', settledUs: next.atUs }
}
