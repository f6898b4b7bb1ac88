// The rule of silence on histories: nothing is called silent that had not stopped, and every stop is seen within twice
// its longest gap. A history is walked second by second in effect: between two starts the rule is asked at the moment
// before the next one comes, when its silence would be longest.
//
// The drawn histories below were made by another method than the generated ones, before the rule was tried on them: lists
// of wall-clock times of imagined people and machines, with their breaks. The first week of each is its learning time:
// what is not known of a pause cannot be told from a stop.
import { describe, expect, test } from 'bun:test'
import { playDays } from '../../src/demo/day-of-jobs.ts'
import { KNOWN_RARE_US, KNOWN_US } from '../../src/live/base.ts'
import { findRhythm, RHYTHM_STARTS } from '../../src/process/rhythm.ts'
import { seededRandom } from '../support/random.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const MONDAY = Date.UTC(2026, 8, 7)
const [KNOWN_MS, KNOWN_RARE_MS] = [KNOWN_US / 1000, KNOWN_RARE_US / 1000]

/** When the last of these starts counts as silent, asked at some time. */
function lateAfter(starts: readonly number[], askedMs = starts.at(-1)!): number {
  const rare = starts.filter((ms) => ms > askedMs - KNOWN_MS).length < 6
  const known = starts.filter((ms) => ms > askedMs - (rare ? KNOWN_RARE_MS : KNOWN_MS))
  const hours = [...new Set(known.map((ms) => Math.floor(ms / HOUR) * HOUR))]
  return findRhythm(known.slice(-RHYTHM_STARTS).toReversed(), hours)?.lateMs ?? Number.POSITIVE_INFINITY
}

interface Verdict {
  readonly gaps: number
  /** Gaps in which it was called silent although a start came, after its first week, and in it. */
  readonly wrong: number
  readonly early: number
  /** After the last start: how many of its longest gaps it took until that was seen. */
  readonly seenAfter: number
}

function judge(starts: readonly number[]): Verdict {
  let [wrong, early, longest] = [0, 0, 0]
  for (let i = 1; i < starts.length; i++) {
    const gap = starts[i]! - starts[i - 1]!
    const near = starts.slice(Math.max(0, i - RHYTHM_STARTS), i)
    const isUsual = near.some((ms, at) => at > 0 && ms - near[at - 1]! >= gap) // never late: spares most questions
    longest = Math.max(longest, gap)
    if (isUsual || starts[i]! <= lateAfter(starts.slice(0, i))) continue
    if (starts[i]! - starts[0]! > 8 * DAY) wrong++
    else early++
  }
  return { gaps: starts.length - 1, wrong, early, seenAfter: (lateAfter(starts) - starts.at(-1)!) / longest }
}

const random = seededRandom(11)
const jitter = (ms: number) => (random() - 0.5) * ms
const sorted = (times: readonly number[]) => times.toSorted((a, b) => a - b)
const days = (n: number) => Array.from({ length: n }, (_, day) => MONDAY + day * DAY)
const isWeekday = (ms: number) => ![0, 6].includes(new Date(ms).getUTCDay())
const every = (ms: number, length: number, wobble = ms / 10) =>
  sorted(Array.from({ length: Math.floor(length / ms) }, (_, i) => MONDAY + i * ms + jitter(wobble)))

const GENERATED: Readonly<Record<string, readonly number[]>> = {
  'every 5 minutes': every(5 * MINUTE, 10 * DAY),
  hourly: every(HOUR, 30 * DAY),
  nightly: every(DAY, 60 * DAY, 20 * MINUTE),
  weekly: every(WEEK, 180 * DAY, HOUR),
  monthly: Array.from({ length: 14 }, (_, i) => Date.UTC(2025, i, 1, 3) + jitter(HOUR)),
  'twice a day': sorted(days(50).flatMap((day) => [day + 8 * HOUR + jitter(HOUR), day + 20 * HOUR + jitter(HOUR)])),
  'weekdays only': days(60)
    .filter(isWeekday)
    .map((day) => day + 3 * HOUR + jitter(HOUR)),
  'weekdays, twice a day': sorted(
    days(60)
      .filter(isWeekday)
      .flatMap((day) => [day + 8 * HOUR, day + 17 * HOUR + jitter(HOUR)]),
  ),
  'office hours, every 15 minutes': days(30)
    .filter(isWeekday)
    .flatMap((day) => Array.from({ length: 40 }, (_, i) => day + 8 * HOUR + i * 15 * MINUTE + jitter(MINUTE))),
  'weekdays with holidays': days(80)
    .filter((day, i) => isWeekday(day) && ![25, 42, 63].includes(i)) // a Friday, two Mondays
    .map((day) => day + 6 * HOUR + jitter(HOUR)),
  'bursts of ten, six times a day': days(20).flatMap((day) =>
    Array.from({ length: 6 }, (_, burst) =>
      sorted(Array.from({ length: 10 }, () => day + burst * 4 * HOUR + random() * 20 * MINUTE)),
    ).flat(),
  ),
  'by hand, on weekdays': sorted(
    days(60)
      .filter(isWeekday)
      .flatMap((day) => Array.from({ length: 1 + Math.floor(random() * 5) }, () => day + (9 + 8 * random()) * HOUR)),
  ),
  'with a deploy of an hour each Wednesday': every(10 * MINUTE, 30 * DAY, MINUTE).filter(
    (ms) => new Date(ms).getUTCDay() !== 3 || new Date(ms).getUTCHours() !== 14,
  ),
  'ever longer intervals': Array.from({ length: 200 }, (_, i) => MONDAY + HOUR * ((1.01 ** i - 1) / 0.01)),
  'from every 10 to every 15 minutes': [
    ...every(10 * MINUTE, 10 * DAY, MINUTE),
    ...every(15 * MINUTE, 10 * DAY, MINUTE).map((ms) => ms + 10 * DAY),
  ],
}

/** `MON 08:10 12:30`, a line a day of a week; `×n` repeats the block so many weeks. */
const drawn = (text: string): number[] => {
  let week = 0
  const found: number[] = []
  for (const block of text.split(/^-- ?/m)) {
    const [, times = '1'] = /×(\d+)/.exec(block) ?? []
    for (let n = 0; n < Number(times); n++, week++)
      for (const line of block.split('\n')) {
        const [day = '', ...clocks] = line
          .trim()
          .split(/\s+/)
          .filter((word) => !word.startsWith('×'))
        const place = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'].indexOf(day)
        for (const clock of place < 0 ? [] : clocks) {
          const [h = 0, m = 0] = clock.split(':').map(Number)
          found.push(MONDAY + week * WEEK + place * DAY + h * HOUR + m * MINUTE)
        }
      }
  }
  return sorted(found)
}

const DRAWN: Readonly<Record<string, string>> = {
  'payroll, twice a week': 'TUE 17:05\nFRI 16:40 ×9',
  'a newsletter, sometimes a day later': 'THU 09:00 ×3\n-- FRI 10:20\n-- THU 09:02 ×2\n-- FRI 08:55\n-- THU 09:00 ×3',
  'backups of a shop that is closed on Sunday': 'MON 23:10\nTUE 23:12\nWED 23:08\nTHU 23:15\nFRI 23:10\nSAT 23:30 ×7',
  'a laptop that is closed at noon and at night':
    'MON 08:40 09:40 10:41 11:40 13:20 14:20 15:20 16:22 17:20\nTUE 09:05 10:05 11:05 13:10 14:12 15:10 16:10\nWED 08:30 09:30 10:30 11:30 13:00 14:00 15:02 16:00 17:00 18:00\nTHU 09:15 10:15 11:20 13:15 14:15 15:15\nFRI 08:45 09:45 10:45 11:45 13:05 14:05 ×6',
  'a school with a week of holidays':
    'MON 07:30 13:00\nTUE 07:31 13:02\nWED 07:30 12:15\nTHU 07:35 13:00\nFRI 07:30 12:00 ×4\n-- \n-- MON 07:30 13:00\nTUE 07:31 13:02\nWED 07:30 12:15\nTHU 07:35 13:00\nFRI 07:30 12:00 ×3',
  'market hours':
    'MON 15:30 16:00 16:30 17:00 17:30 18:00 18:30 19:00 19:30 20:00 20:30 21:00 21:30\nTUE 15:30 16:00 16:30 17:00 17:30 18:00 18:30 19:00 19:30 20:00 20:30 21:00 21:30\nWED 15:30 16:00 16:30 17:00 17:30 18:00 18:30 19:00 19:30 20:00 20:30 21:00 21:30\nTHU 15:30 16:00 16:30 17:00 17:30 18:00 18:30 19:00\nFRI 15:30 16:00 16:30 17:00 17:30 18:00 18:30 19:00 19:30 20:00 20:30 21:00 21:30 ×5',
  'a report that waits for the finance team':
    'MON 10:12 15:47\nWED 11:30\nFRI 14:05 ×2\n-- TUE 09:50\nWED 16:20\nFRI 10:10 ×2\n-- MON 11:00\nTHU 13:45\nFRI 17:15 ×3',
  'a cleaner at night, not on weekends': 'MON 02:00\nTUE 02:00\nWED 02:01\nTHU 02:00\nFRI 02:00 ×8',
  'deploys by hand':
    'MON 14:20\nTUE 10:05 16:40\nTHU 11:11 11:52 15:30 ×3\n-- WED 13:00 13:25 17:10\nFRI 09:40 ×2\n-- MON 10:00 10:20 10:45\nTUE 15:15\nTHU 16:00 ×3',
  'three shifts, seven days':
    'MON 06:02 14:01 22:03\nTUE 06:00 14:05 22:00\nWED 06:01 14:00 22:04\nTHU 06:10 14:00 22:00\nFRI 06:00 14:02 22:01\nSAT 06:05 14:00 22:00\nSUN 06:00 14:00 22:20 ×5',
}

/** No rule foresees a pause of more than twice the longest before and sees a stop within twice the longest. */
const UNFORESEEN: Readonly<Record<string, number>> = { 'a school with a week of holidays': 1 }

describe.each([
  ['generated', Object.entries(GENERATED)],
  ['drawn', Object.entries(DRAWN).map(([name, text]) => [name, drawn(text)] as const)],
] as const)('%s', (_, histories) => {
  test.each(histories.map(([name, starts]) => [name, starts] as const))('%s', (name, starts) => {
    const { wrong, seenAfter } = judge(starts)
    expect(wrong).toBe(UNFORESEEN[name] ?? 0)
    expect(seenAfter).toBeGreaterThan(1)
    expect(seenAfter).toBeLessThanOrEqual(2)
  })
})

describe("the demo's week", () => {
  const starts = playDays(MONDAY + 8 * DAY).filter(({ kind }) => kind === 'start')
  const series = Map.groupBy(starts, ({ process, meta }) => `${process} ${meta ?? ''}`)
  test.each(
    [...series]
      .filter(([, own]) => own.length > 5)
      .map(([name, own]) => [name, own.map(({ at }) => Date.parse(at))] as const),
  )('%s', (_, own) => {
    const { gaps, wrong, early, seenAfter } = judge(own)
    expect(seenAfter).toBeLessThanOrEqual(2)
    expect((wrong + early) / gaps).toBeLessThan(0.02)
  })
})

/** The first weekday of a month, at 03:00. */
function firstWeekday(month: number): number {
  const days = [1, 2, 3].map((day) => Date.UTC(2024, month, day, 3))
  return days.find(isWeekday)!
}

test.each(Array.from({ length: 25 }, (_, i) => i))('a monthly job that stopped %i months later is silent', (i) => {
  const starts = Array.from({ length: 10 + i }, (_, month) => firstWeekday(month))
  const askedMs = starts.at(-1)! + 38 * DAY
  expect(lateAfter(starts, askedMs)).toBeLessThanOrEqual(askedMs)
  expect(lateAfter(starts, askedMs)).toBeGreaterThan(firstWeekday(10 + i))
})
