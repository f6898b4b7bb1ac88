// The timings that the marks of a short range settle, without the MAX_RUN on both sides of it: of a run whose first
// mark in the range is an end only the mark before it is read, of one whose last mark is a start only the next.
//
//   from − MAX_RUN ◀── growing stretches ── [from, to) ── growing stretches ──▶ to + MAX_RUN + 5 min
//
// Runs last seconds or minutes, so the first stretches find nearly all; what few runs are left is read by itself.
import { rest, spend } from '../../turns.ts'
import { marksWindow } from '../order.ts'
import { boundsInUs, isPair, judgeMark } from '../pair-marks.ts'
import type { TimingSelection } from '../source.ts'
import { canReadRuns } from './newest-timings.ts'
import type { MarkReader, MarkSeries, RunKey, SeriesMark, Subject } from './read-marks.ts'
import { ceilS, eachSubject, floorS } from './slices.ts'
import type { PairedMarks } from './stream-timings.ts'

const FIRST_S = 64
const GROWTH = 16

type Reader = Pick<MarkReader, 'read' | 'readRuns' | 'sliceMarks'>

/** The marks of a run in the range, in the rule's order, and its neighbours there. */
interface RangeRun extends RunKey {
  readonly marks: SeriesMark[]
  before?: SeriesMark
  after?: SeriesMark
}

/** Resolves to false, before any visit, if the range is long or holds much: then read a whole window. */
export async function settleRange(
  reader: Reader,
  q: TimingSelection,
  visit: (timing: PairedMarks) => 'enough' | undefined,
): Promise<boolean> {
  if (q.uid !== undefined || q.knownToNs !== undefined || q.toNs - q.fromNs > q.maxRunNs) return false
  const window = marksWindow(q)
  const [fromS, toS] = [floorS(q.fromNs), ceilS(q.toNs)]
  const inside = await reader.read(fromS, toS, reader.sliceMarks)
  if (inside === undefined) return false
  const runs = new Map<Subject, Map<string, RangeRun>>()
  await eachMark(inside, (subject, mark) => {
    const own = runs.get(subject) ?? new Map<string, RangeRun>()
    runs.set(subject, own)
    const run = own.get(mark.uid) ?? { subject, uid: mark.uid, marks: [] }
    own.set(mark.uid, run)
    run.marks.push(mark)
  })
  const all = [...runs.values()].flatMap((own) => [...own.values()])
  const ends = all.filter(({ marks }) => marks[0]!.mark !== 'start')
  const starts = all.filter(({ marks }) => marks.at(-1)!.mark === 'start')
  const isKnown =
    (await findNeighbours(reader, ends, fromS, floorS(window.fromNs), (run, mark) => (run.before = mark))) &&
    (await findNeighbours(reader, starts, toS, ceilS(window.toNs), (run, mark) => (run.after ??= mark)))
  if (!isKnown) return false

  const bounds = boundsInUs(q)
  for (const { subject, marks, before: first, after: last } of all) {
    for (const [i, mark] of marks.entries()) {
      const [before, after] = [marks[i - 1] ?? first, marks[i + 1] ?? last]
      const state = judgeMark(before, mark, after, bounds)
      if (state === undefined) continue
      const start = mark.mark !== 'start' && isPair(before, mark, bounds.maxRun) ? before : undefined
      if (visit({ state, subject, mark, ...(start && { start }) }) === 'enough') return true
    }
    if (spend(marks.length)) await rest()
  }
  return true
}

/** Shows each run the marks next to it from `nearS` on to `farS`, in order of time. False: a stretch holds too many. */
async function findNeighbours(
  reader: Reader,
  runs: readonly RangeRun[],
  nearS: number,
  farS: number,
  take: (run: RangeRun, mark: SeriesMark) => void,
): Promise<boolean> {
  const wanted = new Map<Subject, Map<string, RangeRun>>()
  for (const run of runs) wanted.set(run.subject, (wanted.get(run.subject) ?? new Map()).set(run.uid, run))
  let left = runs.length
  for (let [atS, lengthS] = [nearS, FIRST_S]; left > 0 && atS !== farS; lengthS *= GROWTH) {
    const open = lengthS === FIRST_S ? [] : [...wanted.values()].flatMap((own) => [...own.values()])
    const isByRun = open.length > 0 && canReadRuns(open)
    const endS = isByRun ? farS : farS < nearS ? Math.max(farS, atS - lengthS) : Math.min(farS, atS + lengthS)
    const [loS, hiS] = endS < atS ? [endS, atS] : [atS, endS]
    const found = isByRun ? await reader.readRuns(open, loS, hiS) : await reader.read(loS, hiS, reader.sliceMarks)
    if (found === undefined) return false
    const seen: RangeRun[] = []
    await eachMark(found, (subject, mark) => {
      const run = wanted.get(subject)?.get(mark.uid)
      if (run === undefined) return
      take(run, mark)
      seen.push(run)
    })
    for (const { subject, uid } of seen) if (wanted.get(subject)!.delete(uid)) left--
    atS = endS
  }
  return true
}

async function eachMark(series: readonly MarkSeries[], visit: (subject: Subject, mark: SeriesMark) => void) {
  for (const [subject, seconds] of eachSubject(series))
    for (const second of seconds) {
      for (const mark of second) visit(subject, mark)
      if (spend(second.length)) await rest()
    }
}
