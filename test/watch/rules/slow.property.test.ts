// `slow` against an oracle that compares, at each second, every run with the median of those before it.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { findRuns } from '../../../src/watch/rules/runs.ts'
import { judgeSlow } from '../../../src/watch/rules/slow.ts'
import { firesAt, judgementAt, runs, S, type SecondMark, toMarks } from './history.ts'

const MAX_RUN = 1000
interface Plan {
  readonly at: number
  readonly took: number
}

/** Runs that may overlap, each with a uid of its own; no two settle at the same moment. */
const plans = fc
  .array(
    fc.record({ at: fc.nat(300), took: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 20, max: 60 })) }),
    {
      maxLength: 30,
    },
  )
  .map((list) => list.map(({ at, took }, i): Plan => ({ at: at + i * 0.01, took: took + i * 0.003 })))

const toSecondMarks = (list: readonly Plan[]): SecondMark[] =>
  runs(...list.map(({ at, took }, i) => [`r${i}`, at, at + took] as const))

function oracle(list: readonly Plan[], factor: number, t: number): boolean {
  const limitFor = ({ at }: Plan) => {
    const before = list
      .filter((it) => it.at + it.took <= at)
      .sort((a, b) => b.at + b.took - (a.at + a.took))
      .slice(0, 20)
      .map(({ took }) => took)
      .sort((a, b) => a - b)
    if (before.length < 5) return Number.POSITIVE_INFINITY
    const mid = (before.length - 1) / 2
    const usual = (before[Math.floor(mid)]! + before[Math.ceil(mid)]!) / 2
    return Math.max(usual * factor, usual + 1)
  }
  let firing = false
  const moments = list.flatMap((run) => {
    const limit = limitFor(run)
    const isSlow = Math.round(run.took * S) > Math.round(limit * S)
    return [
      ...(isSlow ? [{ time: run.at + limit, run, what: 'exceeds' as const }] : []),
      { time: run.at + run.took, run, what: isSlow ? ('ends slow' as const) : ('ends' as const) },
    ]
  })
  const over = new Set<Plan>()
  let firstSlow = 0
  for (const { time, run, what } of moments.sort((a, b) => a.time - b.time)) {
    if (time >= t) break
    if (what === 'exceeds') {
      over.add(run)
      if (!firing) firstSlow = run.at
      firing = true
    } else if (what === 'ends slow') over.delete(run)
    else if (over.size === 0 && run.at > firstSlow) firing = false
  }
  return firing
}

test('slow fires from the moment a run exceeds its limit until a run that does not', () => {
  fc.assert(
    fc.property(plans, fc.constantFrom(1.5, 2, 3), (list, factor) => {
      const marks = toMarks(toSecondMarks(list))
      const judge = (t: number) => judgeSlow(factor, findRuns(marks, t * S, MAX_RUN * S), judgementAt(t, -1))
      const final = judge(500)
      for (let t = 0.0015; t < 400; t += 3.7) {
        expect(firesAt(judge(t), t)).toBe(oracle(list, factor, t))
        expect(firesAt(final, t)).toBe(oracle(list, factor, t))
      }
    }),
    {
      numRuns: 200,
      examples: [
        // the last run takes exactly its limit
        [
          [1, 22.006, 1.009, 21.012, 21.015, 21.018, 1.021, 42.024].map((took, i) => ({
            at: i < 7 ? 0 : 214.08,
            took,
          })),
          2,
        ],
      ],
    },
  )
})

test('a run whose end may have been lost in downtime is slow one limit after it, unless a later run completed in time', () => {
  const marks = toSecondMarks(Array.from({ length: 5 }, (_, i) => ({ at: i * 10, took: 4 })))
  const judge = (t: number, more: readonly SecondMark[] = []) => {
    const open = toMarks([...marks, ...runs(['last', 50]), ...more])
    return judgeSlow(2, findRuns(open, t * S, MAX_RUN * S), judgementAt(t, -1, [{ fromUs: 53 * S, toUs: 54 * S }]))
  }
  expect(judge(62)).toEqual([])
  expect(judge(63)).toMatchObject([{ sinceUs: 62 * S, lost: { fromUs: 53 * S } }])
  expect(judge(63, runs(['next', 56, 60]))).toEqual([])
})

test('a completed run is slow by its marks, whatever downtime lay inside', () => {
  const list = [0, 10, 20, 30, 40, 50].map((at) => ({ at, took: at === 50 ? 9 : 4 }))
  const found = findRuns(toMarks(toSecondMarks(list)), 70 * S, MAX_RUN * S)
  const blind = [{ fromUs: 47 * S, toUs: 58 * S }]
  expect(judgeSlow(2, found, judgementAt(70, -1, blind))).toMatchObject([{ sinceUs: 58 * S, figure: 9 * S }])
})

test('needs five runs and a second of difference', () => {
  const short = (took: number, n: number): Plan[] => Array.from({ length: n }, (_, i) => ({ at: i * 10, took }))
  const judge = (list: Plan[]) =>
    judgeSlow(2, findRuns(toMarks(toSecondMarks(list)), 200 * S, MAX_RUN * S), judgementAt(200, -1))
  expect(judge([...short(1, 4), { at: 100, took: 50 }])).toEqual([])
  expect(judge([...short(1, 5), { at: 100, took: 50 }])).toHaveLength(1)
  expect(judge([...short(0.1, 5), { at: 100, took: 0.9 }])).toEqual([])
})
