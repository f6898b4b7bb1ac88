import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { marksWindow } from '../../src/store/order.ts'
import { type PairingQuestion, pairMarks, type StoredMark } from '../../src/store/pair-marks.ts'
import type { Timing, TimingSummaryRow } from '../../src/store/source.ts'
import { histories, question, until } from '../contract/histories.ts'
import { settledNs, summarizeTimings } from '../support/summarize-timings.ts'

const FOREVER = { fromNs: 0n, toNs: 1n << 62n }
const told = ({ startedNs, endedNs, place, ...timing }: Timing) => ({
  ...timing,
  tie: place.tie,
  startedNs: `${startedNs}`,
  endedNs: `${endedNs}`,
})
const overlaps =
  ({ fromNs, toNs, nowNs }: PairingQuestion) =>
  (timing: Timing) => {
    const last = timing.state === 'running' ? nowNs : settledNs(timing)
    return timing.place.ns < toNs && (last >= fromNs || timing.place.ns >= fromNs)
  }
const check = (property: (marks: StoredMark[], q: PairingQuestion) => void) =>
  fc.assert(
    fc.property(histories(3), question, (marks, q) => property(until(marks, q), q)),
    { numRuns: 1000 },
  )

test('an answer needs no mark outside its window', () => {
  check((marks, q) => {
    const { fromNs, toNs } = marksWindow(q)
    const inWindow = marks.filter(({ ns }) => ns >= fromNs && ns < toNs)
    expect(pairMarks(inWindow, q).map(told)).toEqual(pairMarks(marks, q).map(told))
  })
})

test('a range has the timings that overlap it, in the same states as in any range', () => {
  check((marks, q) => {
    const all = pairMarks(marks, { ...q, ...FOREVER })
    expect(pairMarks(marks, q).map(told)).toEqual(all.filter(overlaps(q)).map(told))
  })
})

test('every mark is in exactly one timing', () => {
  check((marks, { asOfNs: _, ...q }) => {
    const inTimings = pairMarks(marks, { ...q, ...FOREVER }).flatMap(({ startedNs, endedNs }) =>
      [startedNs, endedNs].filter((ns) => ns !== undefined),
    )
    expect(inTimings.map(String).sort()).toEqual(marks.map(({ ns }) => String(ns)).sort())
  })
})

test('the counts of the buckets add up to those of the summary, and those of two neighbouring ranges to those of both', () => {
  const everyNs = 10_000_000_000n
  const counts = (rows: TimingSummaryRow[]) => {
    const sums = new Map<string, number[]>()
    for (const { process, meta, count, failed, running, abandoned, orphan } of rows) {
      const [key, own] = [JSON.stringify([process, meta]), [count, failed, running, abandoned, orphan]]
      sums.set(
        key,
        own.map((n, i) => n + (sums.get(key)?.[i] ?? 0)),
      )
    }
    return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1))
  }
  check((marks, q) => {
    const ask = (more: object) => summarizeTimings(marks, { ...q, byMeta: true, ...more })
    const whole = counts(ask({}))
    expect(counts(ask({ everyNs }))).toEqual(whole)
    const middle = (q.fromNs + q.toNs) / 2n
    expect(counts([...ask({ toNs: middle }), ...ask({ fromNs: middle })])).toEqual(whole)
  })
})

test('the buckets of two adjacent ranges together equal those of their union', () => {
  const everyNs = 10_000_000_000n
  check((marks, q) => {
    const middle = ((q.fromNs + q.toNs) / 2n / everyNs) * everyNs
    if (middle <= q.fromNs) return
    const series = (range: object) =>
      summarizeTimings(marks, { ...q, ...range, byMeta: true, everyNs }).map(({ atNs, ...row }) => ({
        ...row,
        at: `${atNs}`,
      }))
    expect([...series({ toNs: middle }), ...series({ fromNs: middle })]).toEqual(series({}))
  })
})
