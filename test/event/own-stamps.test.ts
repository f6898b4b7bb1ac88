// Identity of events that bring their own time, without a table that guarantees it.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Event, Mark, Metrics } from '../../src/event/event.ts'
import { contentOf, ownStamp, valuesAt } from '../../src/event/identity.ts'
import { createOwnStamps, type Move, type MovedStamps } from '../../src/event/own-stamps.ts'
import { formatStampNs, timeUs } from '../../src/event/stamp.ts'
import { createStampClock } from '../../src/event/stamp-clock.ts'
import { createTakenStamps } from '../../src/event/taken-stamps.ts'
import { createStepClock } from '../support/step-clock.ts'

const US = 1_790_000_000_123_456
const MS = 1_790_000_000_123_000
const SECOND = 1_790_000_000_000_000
const NONE = { us: 0, sub: 0 }

const mark = (more: Partial<Mark> = {}): Mark => ({
  ...{ kind: 'start', account: 'acc', process: 'p', meta: '', uid: '', stamp: NONE },
  ...more,
})
const metrics = (items: Readonly<Record<string, number>>, more: Partial<Metrics> = {}): Metrics => ({
  ...{ kind: 'metrics', account: 'acc', process: 'p', meta: '', stamp: NONE },
  items: Object.entries(items),
  ...more,
})

/** Keeps moves at once, as the durable file does after its write. */
function memory(): MovedStamps & { readonly kept: Map<string, number> } {
  const kept = new Map<string, number>()
  return {
    kept,
    find: (atUs, content): Move | undefined => {
      const moved = kept.get(`${atUs} ${content}`)
      return moved === undefined ? undefined : { moved, kept: undefined }
    },
    keep: async (atUs, content, moved) => void kept.set(`${atUs} ${content}`, moved),
  }
}
const claimNs = (stamps: ReturnType<typeof createOwnStamps>, event: Event, atUs: number) =>
  formatStampNs(stamps.claim(event, atUs).stamp)

/** Two marks of one series with equal stamps at this time. */
function colliding(atUs: number): [Mark, Mark] {
  const seen = new Map<string, Mark>()
  for (let i = 0; ; i++) {
    const event = mark({ uid: `u${i}` })
    const ns = formatStampNs(ownStamp(atUs, contentOf(event)))
    const other = seen.get(ns)
    if (other !== undefined) return [other, event]
    seen.set(ns, event)
  }
}

describe('a stamp', () => {
  const atUs = fc.oneof(
    fc.nat(10_000_000).map((n) => SECOND + n),
    fc.nat(10_000).map((n) => SECOND + n * 1000),
    fc.nat(10).map((n) => SECOND + n * 1_000_000),
  )
  const content = fc.bigInt(0n, 2n ** 64n - 1n)

  test("has exactly the caller's time, and never leaves its precision", () => {
    fc.assert(
      fc.property(atUs, content, (us, hash) => {
        expect(timeUs(ownStamp(us, hash))).toBe(us)
      }),
      { numRuns: 1000 },
    )
  })

  test('of any class never collides with lane 0 or the class of another time', () => {
    fc.assert(
      fc.property(atUs, content, fc.nat(2000), (us, hash, moved) => {
        const { sub } = ownStamp(us, hash, moved)
        expect(sub % 2).toBe(1)
      }),
      { numRuns: 1000 },
    )
    for (const nodeId of [0, 1, 249]) expect(createStampClock(createStepClock(US), nodeId, 0).next().sub % 2).toBe(0)
  })

  test('moves through every value of its time before it takes the next µs', () => {
    const hash = contentOf(mark())
    for (const [us, values] of [
      [US, 300],
      [MS, 100_000],
    ] as const) {
      expect(valuesAt(us)).toBe(values)
      const seen = new Set(Array.from({ length: values }, (_, moved) => formatStampNs(ownStamp(us, hash, moved))))
      expect(seen.size).toBe(values)
      expect(timeUs(ownStamp(us, hash, values - 1))).toBe(us)
      expect(timeUs(ownStamp(us, hash, values))).toBe(us + 1)
    }
  })

  test('depends on every field of the event, and not on the order of metrics', () => {
    const different: Event[] = [
      mark(),
      mark({ account: 'b' }),
      mark({ kind: 'end' }),
      mark({ kind: 'end', failed: true }),
      mark({ process: 'q' }),
      mark({ meta: 'm' }),
      mark({ uid: 'u' }),
      metrics({ a: 1 }),
      metrics({ a: 2 }),
      metrics({ b: 1 }),
      metrics({ a: 1 }, { uid: 'u' }),
      { ...mark(), kind: 'exception', exception: '' },
      { ...mark(), kind: 'exception', exception: 'e' },
    ]
    expect(new Set(different.map(contentOf)).size).toBe(different.length)
    expect(contentOf(metrics({ a: 1, b: 2 }))).toBe(contentOf(metrics({ b: 2, a: 1 })))
  })
})

describe('the same event', () => {
  test('gets the same stamp on two nodes, after data loss, and after a change of NODE_ID', () => {
    for (const at of [US, MS, SECOND]) {
      const stamps = Array.from({ length: 3 }, () => claimNs(createOwnStamps(memory()), mark(), at))
      expect(new Set(stamps).size).toBe(1)
    }
  })

  test('gets the same stamp on every retry, also when it was moved and after a restart', () => {
    const moved = memory()
    const stamps = createOwnStamps(moved)
    const [first, second] = colliding(US)
    const answers = [claimNs(stamps, first, US), claimNs(stamps, second, US)]
    expect(new Set(answers).size).toBe(2)
    for (let i = 0; i < 3; i++) expect([claimNs(stamps, first, US), claimNs(stamps, second, US)]).toEqual(answers)
    const restarted = createOwnStamps(moved)
    expect([claimNs(restarted, second, US), claimNs(restarted, first, US)]).toEqual([answers[1]!, answers[0]!])
  })
})

test('a retry of a moved event is accepted only when the move is on disk', async () => {
  const disk = Promise.withResolvers<void>()
  const pending = new Map<bigint, Move>()
  const moved: MovedStamps = {
    find: (_, content) => pending.get(content),
    keep(_, content, moved) {
      pending.set(content, { moved, kept: disk.promise })
      return disk.promise
    },
  }
  const stamps = createOwnStamps(moved)
  const [first, second] = colliding(US)
  stamps.claim(first, US)
  const { stamp } = stamps.claim(second, US)
  expect(stamps.claim(second, US)).toEqual({ stamp, kept: disk.promise })
})

describe('different events of one series', () => {
  test('never share a stamp while one generation of stamps is forgotten and another one is full', () => {
    const stamps = createOwnStamps(memory(), createTakenStamps(64))
    const [first, second] = colliding(MS)
    const fill = (from: number) => {
      for (let i = from; i < from + 32; i++) stamps.claim(mark({ process: `p${i}` }), MS)
    }
    fill(0)
    stamps.claim(first, MS) // the first of its generation
    fill(32) // which is then the old one
    expect(formatStampNs(stamps.claim(second, MS).stamp)).not.toBe(formatStampNs(ownStamp(MS, contentOf(second))))
  })

  test('never share a stamp; only moved ones are stored', async () => {
    const moved = memory()
    const stamps = createOwnStamps(moved)
    const [first, second] = colliding(MS)
    expect(stamps.claim(first, MS).kept).toBeUndefined()
    const { stamp, kept } = stamps.claim(second, MS)
    await kept
    expect(kept).toBeDefined()
    expect(timeUs(stamp)).toBe(MS)
    expect(moved.kept.size).toBe(1)
  })

  test('metrics are kept distinct for each shared name', () => {
    const stamps = createOwnStamps(memory())
    const seen = new Set<string>()
    for (let i = 0; i < 600; i++) {
      seen.add(claimNs(stamps, metrics({ a: i, [`b${i}`]: 1 }), US))
    }
    expect(seen.size).toBe(600)
  })

  test('metrics take their stamp in the series of each of their names', () => {
    const stamps = createOwnStamps(memory())
    const taken = claimNs(stamps, metrics({ a: 0, b: 0 }), US)
    const alike = Array.from({ length: 10_000 }, (_, i) => metrics({ b: i }))
    const event = alike.find((one) => formatStampNs(ownStamp(US, contentOf(one))) === taken)!
    expect(claimNs(stamps, event, US)).not.toBe(taken)
  })
})

test('events of other series keep the natural stamp, whatever one series does', () => {
  const stamps = createOwnStamps(memory())
  for (let i = 0; i < 2000; i++) stamps.claim(mark({ uid: `u${i}` }), US)
  for (const other of [mark({ account: 'b' }), mark({ process: 'q' }), mark({ meta: 'm' }), mark({ kind: 'end' })])
    for (let i = 0; i < 50; i++) {
      const event = { ...other, uid: `v${i}` }
      const { stamp } = createOwnStamps(memory()).claim(event, US + i * 7)
      expect(stamps.claim(event, US + i * 7).stamp).toEqual(stamp)
      expect(timeUs(stamp)).toBe(US + i * 7)
    }
})

test('an exception is never moved: its content is part of its key', () => {
  const stamps = createOwnStamps(memory())
  for (let i = 0; i < 1000; i++) {
    const event: Event = { ...mark(), kind: 'exception', exception: `e${i}` }
    expect(stamps.claim(event, US)).toEqual({ stamp: ownStamp(US, contentOf(event)), kept: undefined })
  }
})

/** A table that counts how often it is asked. */
function countingTaken(slots?: number) {
  const table = createTakenStamps(slots)
  const counted = { ...table, asked: 0 }
  counted.isFree = (...args) => {
    counted.asked++
    return table.isFree(...args)
  }
  return counted
}

test.each([
  [5_000, 'second', SECOND],
  [60_000, 'millisecond', MS],
  [10_000, 'microsecond', US],
])('gives %d events with one time of a %s distinct stamps, with little work for each', (count, _, at) => {
  const taken = countingTaken()
  const stamps = createOwnStamps(memory(), taken)
  const seen = new Set<number>()
  let most = 0
  for (let i = 0; i < count; i++) {
    const before = taken.asked
    const { us, sub } = stamps.claim(mark({ uid: `u${i}` }), at).stamp
    seen.add((us - at) * 1000 + sub)
    most = Math.max(most, taken.asked - before)
  }
  expect(seen.size).toBe(count)
  expect(taken.asked / count).toBeLessThan(200)
  expect(most).toBeLessThan(5_000) // once, when a millisecond turns out to be crowded
})

test('metrics with one crowded name need little work, whatever names are beside it', () => {
  const taken = countingTaken()
  const stamps = createOwnStamps(memory(), taken)
  for (let i = 0; i < 3_000; i++) stamps.claim(metrics({ [`b${i}`]: 1, a: i }), US)
  expect(taken.asked / 3_000).toBeLessThan(1_000)
})

test('forgotten moves reject nothing and change no stamp', () => {
  const stamps = createOwnStamps(memory(), createTakenStamps(64))
  const events = Array.from({ length: 1000 }, (_, i) => mark({ uid: `u${i}` }))
  const first = events.map((event, i) => claimNs(stamps, event, SECOND + i * 1_000_000))
  expect(events.map((event, i) => claimNs(stamps, event, SECOND + i * 1_000_000))).toEqual(first)
})
