import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { marksWindow } from '../../src/store/order.ts'
import type { Timing } from '../../src/store/source.ts'
import { histories, question, until } from '../contract/histories.ts'
import { type PairingQuestion, pairMarks, type StampedMark } from './pair-marks.ts'
import { settledNs } from './summarize-timings.ts'

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
const check = (property: (marks: StampedMark[], q: PairingQuestion) => void) =>
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
