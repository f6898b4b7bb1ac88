// Histories of marks as they come in life, made by fast-check: overlapping, repeated, missing, failed and late marks, with and without uid and meta, gaps of
// exactly MAX_RUN and just beyond, ranges that cut runs, marks ahead of now, two nodes within one microsecond, and marks with their own equal times.
import fc from 'fast-check'
import type { MarkName } from '../../src/event/event.ts'
import { contentOf, ownStamp } from '../../src/event/identity.ts'
import { formatStampNs } from '../../src/event/stamp.ts'
import type { PairingQuestion, StampedMark } from '../support/pair-marks.ts'

export const S = 1_000_000_000n
/** A day on which nothing else happens. */
const BASE_NS = 1_767_225_600n * S
const SLOT_NS = 25n * S
const SLOTS = 24
export const MAX_RUN_NS = 4n * SLOT_NS
const MAX_AHEAD_NS = 300n * S

interface RawMark {
  readonly mark: MarkName
  readonly meta: string
  readonly uid: string
  readonly slot: number
  readonly jitterUs: number
  readonly node: number
  /** Stamped at arrival, or with its own time. */
  readonly lane: number
}

const rawMark: fc.Arbitrary<RawMark> = fc.record({
  mark: fc.constantFrom('start', 'start', 'end', 'end', 'failed'),
  meta: fc.constantFrom('', '', 'eu', "e, u='x\\y"),
  uid: fc.constantFrom('', '', 'a', 'b'),
  slot: fc.nat(SLOTS),
  jitterUs: fc.constantFrom(0, 0, 0, 1, 3000),
  node: fc.nat(1),
  lane: fc.nat(1),
})

/** Each history is a process of its own; its nodes are its own too. */
function toMarks(history: readonly RawMark[], i: number): StampedMark[] {
  const marks = history.map(({ mark, meta, uid, slot, jitterUs, node, lane }): StampedMark => {
    const process = `history ${String(i).padStart(2, '0')}`
    const ns = BASE_NS + BigInt(slot) * SLOT_NS + BigInt(jitterUs) * 1000n
    const atArrival = ns + BigInt(4 * (2 * i + node))
    return {
      process,
      meta,
      uid,
      mark,
      ns,
      stamp: lane === 0 ? atArrival : stampWithOwnTime({ process, meta, uid, mark, ns }),
    }
  })
  return [...new Map(marks.map((mark) => [identity(mark), mark])).values()]
}

function stampWithOwnTime({ mark, ns, ...names }: Omit<StampedMark, 'stamp'>): bigint {
  const atUs = Number(ns / 1000n)
  const kind = mark === 'start' ? 'start' : 'end'
  const event = {
    kind,
    account: '',
    ...names,
    ...(mark === 'failed' && { failed: true as const }),
    stamp: { us: atUs, sub: 0 },
  } as const
  return BigInt(formatStampNs(ownStamp(atUs, contentOf(event))))
}

/** What InfluxDB keeps one point of: in these histories no two runs of a series share a stamp. */
const identity = ({ process, meta, mark, stamp }: StampedMark) => JSON.stringify([process, meta, mark, String(stamp)])

/** A node stamps one event per µs; events with their own time may share it. */
const stampKey = ({ slot, jitterUs, node, lane, mark, meta, uid }: RawMark) =>
  JSON.stringify(lane === 0 ? [slot, jitterUs, node] : [slot, jitterUs, mark, meta, uid])

export const histories = (count: number, minLength = 0, maxLength = 14): fc.Arbitrary<StampedMark[]> =>
  fc
    .array(fc.uniqueArray(rawMark, { minLength, maxLength, selector: stampKey }), {
      minLength: count,
      maxLength: count,
    })
    .map((all) => all.flatMap(toMarks))

const moment: fc.Arbitrary<bigint> = fc
  .record({ slot: fc.integer({ min: -2, max: SLOTS + 2 }), offset: fc.constantFrom(0n, 0n, 1n, 1000n, 3n * S) })
  .map(({ slot, offset }) => BASE_NS + BigInt(slot) * SLOT_NS + offset)

export const question: fc.Arbitrary<PairingQuestion> = fc
  .record({ ends: fc.uniqueArray(moment, { minLength: 2, maxLength: 2 }), nowNs: moment, isLaterPage: fc.boolean() })
  .map(({ ends, nowNs, isLaterPage }) => {
    const [fromNs, toNs] = ends.toSorted((a, b) => (a < b ? -1 : 1)) as [bigint, bigint]
    return { fromNs, toNs, nowNs, maxRunNs: MAX_RUN_NS, ...(isLaterPage && { asOfNs: nowNs }) }
  })

/** No event lies further ahead of the clock than 5 minutes. */
export const until = (marks: readonly StampedMark[], { nowNs }: PairingQuestion): StampedMark[] =>
  marks.filter(({ ns }) => ns <= nowNs + MAX_AHEAD_NS)

export interface Wave {
  readonly nowNs: bigint
  readonly arrived: readonly StampedMark[]
}

/** A history as its marks reach the store: at ascending moments, many of them late, none more than 5 minutes before its time. */
export const arrivals = (count: number): fc.Arbitrary<Wave[]> =>
  fc
    .record({
      marks: histories(count, 20, 30),
      firstSlot: fc.integer({ min: 2, max: 16 }),
      steps: fc.array(fc.constantFrom(3n * S, SLOT_NS, 2n * SLOT_NS, 3n * SLOT_NS + 1000n), {
        minLength: 4,
        maxLength: 4,
      }),
      delays: fc.infiniteStream(fc.constantFrom(0, 0, 0, 1, 2, 3)),
    })
    .map(({ marks, firstSlot, steps, delays }) => {
      const nows: bigint[] = []
      for (const step of steps) nows.push((nows.at(-1) ?? BASE_NS + BigInt(firstSlot) * SLOT_NS) + step)
      const waves = nows.map((nowNs) => ({ nowNs, arrived: [] as StampedMark[] }))
      for (const mark of marks) {
        const first = nows.findIndex((nowNs) => mark.ns <= nowNs + MAX_AHEAD_NS)
        const wave = waves[first + delays.next().value]
        if (first >= 0) wave?.arrived.push(mark)
      }
      return waves
    })
