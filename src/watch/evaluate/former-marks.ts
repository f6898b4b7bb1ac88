// Former marks: those known when the clock was set back and those ahead of it. Their times come again, but they are no
// events of now: only what was not judged yet and the starts of open runs move to the time that was set.
import type { Rewind } from '../rules/episode.ts'
import type { Memory } from './memory.ts'
import type { KnownMark } from './watch-source.ts'

/** New events may be this much ahead of the clock. */
const AHEAD_US = 2e6

/** What was known when the clock was set back; after a restart nothing is, and no former mark moves. */
export interface Before {
  readonly memory: Pick<Memory, 'series'>
  readonly judgedUs: number | undefined
}

const runOf = ({ process, meta, uid }: KnownMark) => JSON.stringify([process, meta, uid])
const nameOf = (mark: KnownMark) => `${mark.mark} ${mark.atUs} ${runOf(mark)}`

export interface FormerMarksOptions {
  /** The clock was set back during this process, or shortly before. */
  readonly rewind?: Rewind | undefined
  readonly before?: Before | undefined
  /** Earlier ones: what was read in these times may have happened before or after. */
  readonly rewinds?: readonly Rewind[]
}

export function createFormerMarks({ rewind, before, rewinds = [] }: FormerMarksOptions) {
  const { sinceUs, untilUs } = rewind ?? { sinceUs: 0, untilUs: 0 }
  const known = new Set<string>()
  const last = new Map<string, KnownMark>()
  const moved = new Set<string>()
  /** The newest end of each run, and where it moved; nowhere if it was judged. */
  const ends = new Map<string, { readonly end: KnownMark; readonly movedUs?: number }>()
  let unjudged = 0
  /** With room for a start before it. */
  const nextUs = () => sinceUs + 3 + 2 * unjudged++
  const judgedUs = before?.judgedUs ?? 0
  let first = [...(before?.memory.series() ?? [])].flatMap(({ process, meta, marks }) =>
    marks.filter(({ atUs }) => atUs > sinceUs).map(({ uid, mark, atUs }) => ({ process, meta, uid, mark, atUs })),
  )

  const knownBefore = new Set(first.map(nameOf))
  const completeFromUs = new Map(
    [...(before?.memory.series() ?? [])].map((it) => [JSON.stringify([it.process, it.meta]), it.completeFromUs]),
  )
  /** It was judged before, and not on its way or stored only just. */
  const wasJudged = (mark: KnownMark): boolean => {
    const fromUs = completeFromUs.get(JSON.stringify([mark.process, mark.meta])) ?? Number.POSITIVE_INFINITY
    return mark.atUs <= judgedUs && (mark.atUs < fromUs || knownBefore.has(nameOf(mark)))
  }

  const isAhead = (atUs: number, nowUs: number): boolean => atUs > nowUs + AHEAD_US && atUs <= untilUs

  /** After a restart a start is from before, too, if its end is: the first reading may come late. */
  function findAhead(marks: readonly KnownMark[], nowUs: number): KnownMark[] {
    const isFormer = (mark: KnownMark | undefined) => mark !== undefined && isAhead(mark.atUs, nowUs)
    if (before !== undefined) return marks.filter(isFormer)
    return [...Map.groupBy(marks, runOf).values()].flatMap((own) => {
      const sorted = own.toSorted((a, b) => a.atUs - b.atUs)
      const isCut = (mark: KnownMark, next: KnownMark | undefined) =>
        mark.mark === 'start' && next?.mark !== 'start' && isFormer(next)
      return sorted.filter((mark, i) => isFormer(mark) || isCut(mark, sorted[i + 1]))
    })
  }

  function move(former: readonly KnownMark[], nowUs: number): KnownMark[] {
    if (before === undefined) return []
    const sorted = former.toSorted((a, b) => a.atUs - b.atUs || Number(a.mark !== 'start') - Number(b.mark !== 'start'))
    const [judged, others] = [sorted.filter(wasJudged), sorted.filter((it) => !wasJudged(it))]
    const found = [...Map.groupBy(judged, runOf)].flatMap(([run, marks]): KnownMark[] => {
      // a run that had begun before ends
      const cut =
        marks[0]!.mark === 'start' || last.has(run)
          ? []
          : [{ ...marks[0]!, atUs: isAhead(marks[0]!.atUs, nowUs) ? nowUs + AHEAD_US : sinceUs }]
      const newest = [...marks, ...(last.has(run) ? [last.get(run)!] : [])].reduce((a, b) => (b.atUs > a.atUs ? b : a))
      last.set(run, newest)
      if (newest.mark !== 'start') return moved.delete(run) ? [...cut, { ...newest, atUs: sinceUs + 1 }] : cut
      moved.add(run)
      return [...cut, { ...newest, atUs: sinceUs, ownUs: newest.atUs }]
    })
    for (const end of judged) if (end.mark !== 'start') ends.set(runOf(end), { end })
    return [...found, ...others.flatMap(moveUnjudged)]
  }

  /** A start that arrived after its end moves to just before it, and takes along an end that was judged without it. */
  function moveUnjudged(mark: KnownMark): KnownMark[] {
    const run = runOf(mark)
    const moved = (it: KnownMark, us: number) => ({ ...it, atUs: us, ownUs: it.atUs })
    const known = ends.get(run)
    if (mark.mark !== 'start' || known === undefined || known.end.atUs <= mark.atUs) {
      const movedUs = nextUs()
      if (mark.mark !== 'start') ends.set(run, { end: mark, movedUs })
      return [moved(mark, movedUs)]
    }
    const { end, movedUs = nextUs() } = known
    ends.set(run, { end, movedUs })
    return [moved(mark, movedUs - 1), ...(known.movedUs === undefined ? [moved(end, movedUs)] : [])]
  }

  const ambiguousAt = (us: number) => rewinds.find((it) => us > it.sinceUs && us <= it.untilUs)
  return {
    rewind,
    ambiguousAt,
    isFormer: (us: number, nowUs: number): boolean => ambiguousAt(us) !== undefined || isAhead(us, nowUs),
    /** `current`: what is left, with what moves; `former`: what was not known as such. */
    divide(
      marks: readonly KnownMark[],
      nowUs: number,
    ): { current: readonly KnownMark[]; former: readonly KnownMark[] } {
      if (rewind === undefined && rewinds.length === 0) return { current: marks, former: [] }
      // what may have begun before the clock was set back ends there
      const clear = marks.flatMap((mark) => {
        const range = ambiguousAt(mark.atUs)
        if (range === undefined) return mark
        return mark.mark === 'start' ? [] : { ...mark, atUs: range.sinceUs, ownUs: mark.atUs }
      })
      const former = [...first, ...findAhead(clear, nowUs)].filter((mark) => !known.has(nameOf(mark)))
      first = []
      for (const mark of former) known.add(nameOf(mark))
      return { current: [...clear.filter((mark) => !known.has(nameOf(mark))), ...move(former, nowUs)], former }
    },
  }
}
