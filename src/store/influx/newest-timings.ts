// Finds the newest timings without reading the whole window: reads stretches of marks backwards from the end of the
// range, each longer than the one before, until the page is certain:
//
//   ◀── lo ── stretches ── B ── ahead ── hi      B = the end of the range, or the cursor
//
//   an end is certain   when its run's mark before it is known, or everything back to MAX_RUN before it is
//   a start is certain  when its run's mark after it is known, or everything up to MAX_RUN and 5 minutes after it is
//   the page is certain when enough timings begin in [lo, B) and all marks from the last of them on are
//
// Marks that are still uncertain after some thousand marks belong to long runs; those runs are then read individually.
import { MAX_AHEAD_US } from '../../event/own-time.ts'
import { rest, spend } from '../../turns.ts'
import { comparePlaces, marksWindow } from '../order.ts'
import { boundsInUs, isPair, judgeMark, type PairingBounds } from '../pair-marks.ts'
import type { Page, PointSource, TimingRow } from '../source.ts'
import type { MarkReader, MarkSeries, RunKey, SeriesMark, Subject } from './read-marks.ts'
import { ceilS, compareRows, floorS } from './slices.ts'
import { type PairedMarks, toTiming } from './stream-timings.ts'

type FindQuestion = Parameters<PointSource['findTimings']>[0]

/** A read costs the store about the same, however few marks it holds: few long stretches are cheaper than many. */
const FIRST_S = 64
const GROWTH = 16
/** Below this many marks it is cheaper to read on than to read runs by themselves. */
const CHEAP_MARKS = 5_000
/** Marks that may be held; where the page needs more, streaming the whole window is cheaper. */
const marksMax = (limit: number) => 50_000 + 20 * limit

/** All known marks of one process, meta and uid: from lo to hi, or its own lo and hi if the run was read by itself. */
interface KnownRun extends RunKey {
  readonly marks: SeriesMark[]
  loS: number
  hiS: number
  isSorted: boolean
}

/** Undefined: the range holds less than a page, or the page needs too many marks: only the whole window answers. */
export async function findNewest(
  reader: MarkReader,
  q: FindQuestion,
  { limit, after }: Page,
): Promise<TimingRow[] | undefined> {
  const toNs = after !== undefined && after.ns < q.toNs ? after.ns + 1n : q.toNs
  const bounds = boundsInUs({ ...q, toNs })
  const window = marksWindow({ ...q, toNs })
  const [bottomS, lastS, farS] = [floorS(q.fromNs), floorS(window.fromNs), ceilS(window.toNs)]
  if (ceilS(toNs) <= lastS) return [] // a cursor from before the range
  const known = createKnownMarks(ceilS(toNs))
  let [downS, upS] = [FIRST_S, FIRST_S]

  for (;;) {
    const loS = Math.max(known.loS - downS, known.loS > bottomS ? bottomS : lastS)
    const below = await reader.read(loS, known.loS, marksMax(limit))
    if (below === undefined && known.loS - loS === 1) return undefined
    if (below === undefined) {
      downS = Math.max(1, Math.floor(downS / (2 * GROWTH)))
      continue
    }
    known.addBelow(below, loS)
    const perS = known.count / (ceilS(toNs) - loS)
    downS = Math.max(1, Math.min(downS * GROWTH, Math.floor((marksMax(limit) - known.count) / 2 / perS)))

    let isFull = false
    for (;;) {
      const { timings, uncertain } = await judge(known, q, bounds, farS)
      const found = newest(timings, limit, after)
      isFull = found.length >= limit
      if (!isFull) break
      const lastUs = Number(found.at(-1)!.place.ns / 1000n)
      const open = uncertain.filter(({ mark }) => mark.at >= lastUs)
      if (open.length === 0) return found
      if (known.count >= CHEAP_MARKS && canReadRuns(open.map(({ run }) => run))) {
        await readUncertain(reader, known, open, bounds)
        continue
      }
      if (open.every(({ mark }) => mark.mark !== 'start')) break
      const hiS = Math.min(farS, (known.hiS + upS) * 1e6 > Number(q.nowNs / 1000n) ? farS : known.hiS + upS)
      const above = await reader.read(known.hiS, hiS, marksMax(limit))
      if (above === undefined) return undefined
      known.addAbove(above, hiS)
      upS *= GROWTH
    }
    if (known.loS <= lastS || known.count > marksMax(limit)) return undefined
    if (known.loS <= bottomS && !isFull) return undefined
  }
}

/** Reading a run by itself costs the store the marks of its process and meta. */
const [RUNS_MAX, RUNS_MAX_OF_SUBJECT] = [64, 4]

export const canReadRuns = (runs: readonly RunKey[]): boolean =>
  runs.length <= RUNS_MAX &&
  Map.groupBy(runs, ({ subject }) => subject)
    .values()
    .every((same) => same.length <= RUNS_MAX_OF_SUBJECT)

function newest(timings: readonly PairedMarks[], limit: number, after: Page['after']): TimingRow[] {
  return timings
    .map(toTiming)
    .filter(({ place }) => after === undefined || comparePlaces(after, place) < 0)
    .sort((a, b) => comparePlaces(a.place, b.place))
    .slice(0, limit)
}

interface Uncertain {
  readonly run: KnownRun
  readonly mark: SeriesMark
}

/** The certain timings in the requested states that begin in [lo, B), and the marks there that are not certain. */
async function judge(known: KnownMarks, { states }: FindQuestion, bounds: PairingBounds, farS: number) {
  const timings: PairedMarks[] = []
  const uncertain: Uncertain[] = []
  const fromUs = Math.max(known.loS * 1e6, bounds.from)
  for (const run of known.runs()) {
    const { subject, marks } = run
    if (!run.isSorted) marks.sort(compareRows)
    run.isSorted = true
    const loUs = Math.min(run.loS, known.loS) * 1e6
    const hiUs = known.hiS >= farS ? Number.POSITIVE_INFINITY : Math.max(run.hiS, known.hiS) * 1e6
    for (let i = 0; i < marks.length; i++) {
      const [before, mark, after] = [marks[i - 1], marks[i]!, marks[i + 1]]
      if (mark.mark === 'start' && after === undefined && hiUs <= mark.at + bounds.maxRun + MAX_AHEAD_US) {
        if (mark.at < bounds.to && mark.at >= fromUs) uncertain.push({ run, mark })
        continue
      }
      if (mark.mark !== 'start' && before === undefined && loUs > mark.at - bounds.maxRun) {
        if (mark.at < bounds.to && mark.at >= fromUs) uncertain.push({ run, mark })
        continue
      }
      const state = judgeMark(before, mark, after, bounds)
      if (state === undefined || (states !== undefined && !states.includes(state))) continue
      const start = mark.mark !== 'start' && isPair(before, mark, bounds.maxRun) ? before : undefined
      const firstUs = (start ?? mark).at
      if (firstUs < bounds.to && firstUs >= fromUs) timings.push({ state, subject, mark, ...(start && { start }) })
    }
    if (spend(marks.length)) await rest()
  }
  return { timings, uncertain }
}

/** Reads the runs of uncertain marks as far as any of their neighbours may lie. */
async function readUncertain(
  reader: MarkReader,
  known: KnownMarks,
  open: readonly Uncertain[],
  { maxRun }: PairingBounds,
): Promise<void> {
  const ends = open.filter(({ mark }) => mark.mark !== 'start')
  const starts = open.filter(({ mark }) => mark.mark === 'start')
  if (ends.length > 0) {
    const loS = Math.max(0, Math.floor((Math.min(...ends.map(({ mark }) => mark.at)) - maxRun) / 1e6))
    const runs = ends.map(({ run }) => run)
    known.addRuns(loS < known.loS ? await reader.readRuns(runs, loS, known.loS) : [], runs, { loS })
  }
  if (starts.length > 0) {
    const hiS = Math.ceil((Math.max(...starts.map(({ mark }) => mark.at)) + maxRun + MAX_AHEAD_US) / 1e6) + 1
    const runs = starts.map(({ run }) => run)
    known.addRuns(hiS > known.hiS ? await reader.readRuns(runs, known.hiS, hiS) : [], runs, { hiS })
  }
}

type KnownMarks = ReturnType<typeof createKnownMarks>

function createKnownMarks(topS: number) {
  const bySubject = new Map<Subject, Map<string, KnownRun>>()
  let [loS, hiS, count] = [topS, topS, 0]

  function add(series: readonly MarkSeries[], isNew: (run: KnownRun, us: number) => boolean): void {
    for (const { subject, marks } of series) {
      const runs = bySubject.get(subject) ?? new Map<string, KnownRun>()
      bySubject.set(subject, runs)
      for (const mark of marks) {
        const { uid } = mark
        const run = runs.get(uid) ?? {
          subject,
          uid,
          marks: [],
          loS: topS,
          hiS: topS,
          isSorted: false,
        }
        runs.set(uid, run)
        if (!isNew(run, mark.at)) continue
        run.marks.push(mark)
        run.isSorted = false
        count++
      }
    }
  }

  return {
    get loS() {
      return loS
    },
    get hiS() {
      return hiS
    },
    get count() {
      return count
    },
    /** All marks of [newLoS, lo). Those of a run that was read by itself are known. */
    addBelow(series: readonly MarkSeries[], newLoS: number): void {
      add(series, (run, us) => us < run.loS * 1e6)
      loS = newLoS
    },
    addAbove(series: readonly MarkSeries[], newHiS: number): void {
      add(series, (run, us) => us >= run.hiS * 1e6)
      hiS = newHiS
    },
    addRuns(series: readonly MarkSeries[], runs: readonly KnownRun[], reach: { loS?: number; hiS?: number }): void {
      add(series, (run, us) => us < Math.min(run.loS, loS) * 1e6 || us >= Math.max(run.hiS, hiS) * 1e6)
      for (const run of runs) {
        if (reach.loS !== undefined) run.loS = Math.min(run.loS, reach.loS)
        if (reach.hiS !== undefined) run.hiS = Math.max(run.hiS, reach.hiS)
      }
    },
    *runs(): Generator<KnownRun> {
      for (const runs of bySubject.values()) yield* runs.values()
    },
  }
}
