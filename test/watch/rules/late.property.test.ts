// `late` against an oracle that walks second by second and knows nothing of episodes.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Blind } from '../../../src/watch/rules/episode.ts'
import { findExcused, judgeLate } from '../../../src/watch/rules/late.ts'
import { firesAt, judgementAt, LAST_S, S } from './history.ts'

const starts = fc.array(fc.nat(LAST_S), { maxLength: 12 }).map((list) => list.sort((a, b) => a - b))
const toUs = (list: readonly number[]) => list.map((s) => s * S)

/** A start within reach of the due moment, else firing since due + grace until a start comes. */
function oracleEvery(list: readonly number[], every: number, grace: number, since: number, t: number): boolean {
  const last = Math.max(since, ...list.filter((s) => s <= t))
  return t > last + every + grace
}

test('late every N fires exactly while the last start is more than N and the grace ago, at any evaluation time', () => {
  fc.assert(
    fc.property(starts, fc.integer({ min: 1, max: 30 }), fc.nat(20), fc.nat(40), (list, every, grace, since) => {
      const rule = { everyUs: every * S, graceUs: grace * S }
      const final = judgeLate(rule, toUs(list), judgementAt(LAST_S, since))
      for (let t = since; t <= LAST_S; t++) {
        const expected = oracleEvery(list, every, grace, since, t)
        expect(firesAt(final, t)).toBe(expected)
        expect(firesAt(judgeLate(rule, toUs(list), judgementAt(t, since)), t)).toBe(expected)
      }
    }),
    { numRuns: 500 },
  )
})

/** Due every `step` seconds from `offset` on. */
const grid = (step: number, offset: number) => ({
  nextUs: (us: number) => (Math.floor((us / S - offset) / step) + 1) * step * S + offset * S,
  previousUs: (us: number) => (Math.ceil((us / S - offset) / step) - 1) * step * S + offset * S,
})

/** Second by second: a due moment whose grace has passed without a start in its window sets the alarm, a start clears it. */
function oracleSchedule(list: readonly number[], step: number, offset: number, grace: number, since: number) {
  const early = Math.min(grace, step / 2)
  const firing: boolean[] = []
  let alarm = false
  for (let t = 0; t <= LAST_S + 1; t++) {
    const due = t - grace - 1 // its grace ended before this second
    const isDue = due > since && (due - offset) % step === 0
    if (isDue && !list.some((s) => s >= due - early && s <= due + grace)) alarm = true
    if (list.includes(t)) alarm = false
    firing[t] = alarm
  }
  return firing
}

test('late by a schedule fires for each due moment without a start in its window, and a start resolves it', () => {
  fc.assert(
    fc.property(
      starts,
      fc.integer({ min: 2, max: 30 }),
      fc.nat(29),
      fc.nat(15),
      fc.nat(40),
      (list, step, offset, grace, since) => {
        const rule = { schedule: grid(step, offset), graceUs: grace * S }
        const expected = oracleSchedule(list, step, offset, grace, since)
        const final = judgeLate(rule, toUs(list), judgementAt(LAST_S + 1, since))
        for (let t = since + 1; t <= LAST_S; t++) {
          expect(firesAt(final, t)).toBe(expected[t]!)
          const then = judgeLate(rule, toUs(list), judgementAt(t, since))
          expect(firesAt(then, t)).toBe(expected[t]!)
        }
      },
    ),
    { numRuns: 500 },
  )
})

/** Stretches of `[from, length]` that do not overlap. */
function toBlind(stretches: [number, number][]): Blind[] {
  const blind: Blind[] = []
  for (const [from, length] of stretches.toSorted((a, b) => a[0] - b[0]))
    if ((blind.at(-1)?.toUs ?? -1) < from * S) blind.push({ fromUs: from * S, toUs: (from + length) * S })
  return blind
}

test('a job that keeps its schedule never alerts, whatever starts were lost while Stint was down', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 40 }),
      fc.integer({ min: 2, max: 8 }),
      fc.array(fc.tuple(fc.nat(600), fc.integer({ min: 1, max: 150 })), { maxLength: 4 }),
      fc.boolean(),
      (every, grace, stretches, byInterval) => {
        const blind = toBlind(stretches)
        const all = Array.from({ length: Math.floor(900 / every) }, (_, i) => (i + 1) * every * S)
        const seen = all.filter((us) => !blind.some(({ fromUs, toUs }) => us >= fromUs && us < toUs))
        const rule = byInterval
          ? { everyUs: every * S, graceUs: grace * S }
          : { schedule: grid(every, 0), graceUs: grace * S }
        for (let t = 0; t < 900; t += 7) expect(judgeLate(rule, seen, judgementAt(t, 0, blind))).toEqual([])
      },
    ),
    {
      numRuns: 500,
      examples: [
        [
          18,
          2,
          [
            [399, 126],
            [536, 5],
          ],
          true,
        ],
      ],
    },
  )
})

test('a job that died is reported after downtime too, one interval and its grace after Stint is back at the latest', () => {
  const blind = [{ fromUs: 100 * S, toUs: 500 * S }]
  expect(judgeLate({ everyUs: 60 * S, graceUs: 5 * S }, [30 * S, 90 * S], judgementAt(600, 0, blind))).toMatchObject([
    { sinceUs: 565 * S },
  ])
  expect(judgeLate({ schedule: grid(60, 0), graceUs: 5 * S }, [60 * S], judgementAt(600, 0, blind))).toMatchObject([
    { sinceUs: 545 * S },
  ])
})

test('a dead job is late one limit after the last downtime at the latest, and after a single due time none is excused', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 40, max: 300 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.tuple(fc.nat(3000), fc.integer({ min: 1, max: 600 })), { maxLength: 6 }),
      fc.boolean(),
      (every, grace, runs, stretches, byInterval) => {
        const starts = Array.from({ length: runs }, (_, i) => (i + 1) * every * S)
        const diedUs = runs * every * S
        const blind = toBlind(stretches)
        const seen = starts.filter((us) => !blind.some(({ fromUs, toUs }) => us >= fromUs && us < toUs))
        const [everyUs, graceUs] = [every * S, grace * S]
        const rule = byInterval ? { everyUs, graceUs } : { schedule: grid(every, 0), graceUs }
        const lastUs = Math.max(diedUs, blind.at(-1)?.toUs ?? 0)
        // the next due time whose window begins after the last downtime
        const limitUs = byInterval ? everyUs + graceUs : 2 * everyUs + graceUs + 30 * S
        const judge = (us: number) => judgeLate(rule, seen, judgementAt(us / S, 0, blind))
        const [late] = judge(lastUs + limitUs + S).filter(({ untilUs }) => untilUs === undefined)
        expect(late).toBeDefined()
        expect(late!.sinceUs).toBe(late!.dueUs! + graceUs)
        // once it fires it keeps firing for the same due time
        expect(judge(lastUs + 3 * limitUs).at(-1)).toEqual(late!)
      },
    ),
    { numRuns: 500 },
  )
})

test('a restart in the grace excuses nothing, one at the due time excuses it and is named until the next one', () => {
  const starts = Array.from({ length: 8 }, (_, i) => (i + 1) * 600 * S)
  for (const rule of [
    { everyUs: 600 * S, graceUs: 300 * S },
    { schedule: grid(600, 0), graceUs: 300 * S },
  ]) {
    const at = (t: number, fromS: number) => {
      const judgement = judgementAt(t, 0, [{ fromUs: fromS * S, toUs: (fromS + 3) * S }])
      return { late: judgeLate(rule, starts, judgement), excused: findExcused(rule, starts, judgement) }
    }
    expect(at(5701, 5500)).toMatchObject({ late: [{ sinceUs: 5700 * S, dueUs: 5400 * S }] })
    expect(at(5701, 5699)).toMatchObject({ late: [] }) // judged once it is over
    expect(at(5703, 5699)).toMatchObject({ late: [{ sinceUs: 5700 * S }] })
    expect(at(5699, 5401).late).toEqual([])
    expect(at(5701, 5401)).toMatchObject({
      late: [],
      excused: { dueUs: 5400 * S, sinceUs: 5700 * S, blind: { fromUs: 5401 * S } },
    })
    const { untilUs } = at(5701, 5401).excused!
    expect(at(untilUs / S + 1, 5401).late).toHaveLength(1)
    expect(untilUs).toBeLessThanOrEqual((5404 + 900) * S)
  }
})

test('the spread of the starts seen so far widens the time in which a downtime excuses', () => {
  const rule = { schedule: grid(600, 0), graceUs: 200 * S }
  const late = Array.from({ length: 8 }, (_, i) => ((i + 1) * 600 + 100) * S)
  const judge = (starts: readonly number[]) =>
    judgeLate(rule, starts, judgementAt(5700, 0, [{ fromUs: 5480 * S, toUs: 5490 * S }]))
  expect(judge(late)).toEqual([])
  expect(judge(late.map((us) => us - 100 * S))).toHaveLength(1)
})

test('a start two seconds early counts for the next due moment', () => {
  const rule = { schedule: grid(60, 0), graceUs: 10 * S }
  expect(judgeLate(rule, [58 * S, 118 * S], judgementAt(170))).toEqual([])
  expect(judgeLate(rule, [49 * S], judgementAt(75))).toMatchObject([{ sinceUs: 70 * S, dueUs: 60 * S, fromUs: 50 * S }])
})
