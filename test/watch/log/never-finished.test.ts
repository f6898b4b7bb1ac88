// A run that a start of its uid follows with no end between; see attacks.test.ts.
import { describe, expect, test } from 'bun:test'
import { CONDITIONS } from '../../../src/watch/conditions/conditions.ts'
import type { Mark } from '../../../src/watch/log/judge-interface.ts'
import { at, end, FAILED, failed, later, start, story } from './attack-kit.ts'
import { openDesk, watchOf } from './judge-kit.ts'

const HOUR_S = 3600
/** Completed runs of so many seconds, one an hour; the next hour begins at `runs.length`. */
const runsOf = (...seconds: number[]): Mark[] =>
  seconds.flatMap((took, i) => [start(i * HOUR_S), end(i * HOUR_S + took)])
const FIVE = runsOf(600, 600, 600, 600, 600)
const startsOf = (hours: readonly number[]): Mark[] => hours.map((hour) => start(hour * HOUR_S))
const hours = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i)

describe('never finished', () => {
  test('an hourly job that is killed each time fires at its third start, and each further start adds one', () => {
    expect(story([FAILED], startsOf(hours(0, 2)), 3 * HOUR_S)).toBe('')
    expect(story([FAILED], startsOf(hours(0, 12)), 12 * HOUR_S)).toBe('failed@7200')
    const three = watchOf('w', { failed: { after: 3 } })
    expect(story([three], startsOf(hours(0, 12)), 12 * HOUR_S)).toBe(`failed@${4 * HOUR_S}`)
  })
  test('with five known runs it fires at the next start, and ends with a completed run', () => {
    expect(story([FAILED], [...FIVE, ...startsOf([5, 6])], 7 * HOUR_S)).toBe(`failed@${6 * HOUR_S}`)
    const more = [...FIVE, ...startsOf([5, 6, 7]), end(7 * HOUR_S + 600)]
    expect(story([FAILED], more, 8 * HOUR_S)).toBe(`failed@${6 * HOUR_S} failed ends@${7 * HOUR_S + 600}`)
  })
  test('the text says what is sure', () => {
    const desk = openDesk({ watches: [FAILED] })
    desk.apply(...FIVE, ...startsOf([5, 6]))
    desk.advance(at(7 * HOUR_S))
    const { alert } = desk.pending()[0]!
    expect(CONDITIONS.failed.summarize(alert, { after: 1 }, alert.episode)).toBe(
      'job never finished: it started at 2026-11-26 05:00 UTC, and the next run at 2026-11-26 06:00 UTC with no end between',
    )
  })
  test('it is judged a minute after the start arrived; an end until then takes it back', () => {
    const marks = [...FIVE, ...startsOf([5]), later(6 * HOUR_S + 10, start(6 * HOUR_S))]
    expect(story([FAILED], marks, 6 * HOUR_S + 70)).toBe('')
    expect(story([FAILED], marks, 6 * HOUR_S + 71)).toBe(`failed@${6 * HOUR_S}`)
    const ended = later(6 * HOUR_S + 69, end(5 * HOUR_S + 600))
    expect(story([FAILED], [...marks, ended], 8 * HOUR_S)).toBe('')
    const own = end(6 * HOUR_S + 69)
    expect(story([FAILED], [...marks, own], 8 * HOUR_S)).toBe('')
    const tooLate = later(6 * HOUR_S + 71, end(5 * HOUR_S + 600))
    expect(story([FAILED], [...marks, tooLate], 8 * HOUR_S)).toBe(`failed@${6 * HOUR_S}`)
  })
  test('an end of before that start belongs to the former run', () => {
    const marks = [...FIVE, ...startsOf([5, 6]), later(6 * HOUR_S + 30, failed(5 * HOUR_S + 600))]
    const desk = openDesk({ watches: [FAILED] })
    desk.apply(...marks, end(6 * HOUR_S + 40))
    desk.advance(at(8 * HOUR_S))
    expect(desk.story()).toBe(`failed@${5 * HOUR_S + 600}–${6 * HOUR_S + 40}`)
  })
  test('an end that came before takes nothing back', () => {
    const again = later(6 * HOUR_S + 10, FIVE.at(-1)!)
    expect(story([FAILED], [...FIVE, ...startsOf([5, 6]), again], 7 * HOUR_S)).toBe(`failed@${6 * HOUR_S}`)
  })
  test('overlapping runs without uid, started less than twice the longest apart, are no failure', () => {
    for (const count of [2, 3, 10]) {
      const pool = Array.from({ length: count }, (_, i) => [start(50_000 + i * 100), end(50_600 + i * 100)]).flat()
      const marks = [...FIVE, ...pool.sort((a, b) => a.atUs - b.atUs)]
      expect(story([FAILED], marks, 60_000)).toBe('')
    }
  })
  test('starts less than a minute apart are no failure', () => {
    const quick = Array.from({ length: 5 }, (_, i) => [start(i * 100), end(i * 100 + 1)]).flat()
    const starts = Array.from({ length: 20 }, (_, i) => start(1000 + i * 59))
    expect(story([FAILED], [...quick, ...starts], 5000)).toBe('')
    expect(story([FAILED], starts, 5000)).toBe('')
  })
  test('an end between begins a new row of starts', () => {
    const marks = [start(0), start(HOUR_S), end(HOUR_S + 5), start(2 * HOUR_S), start(3 * HOUR_S)]
    expect(story([FAILED], marks, 4 * HOUR_S)).toBe('')
  })
  test('never-finished runs are not among those whose longest counts; failed ones are', () => {
    const long = runsOf(60, 60, 60, 60).concat(start(4 * HOUR_S), failed(4 * HOUR_S + 2000))
    expect(story([watchOf('w', { failed: { after: 2 } })], [...long, ...startsOf([5, 6])], 7 * HOUR_S)).toBe('')
    expect(story([watchOf('w', { failed: { after: 2 } })], [...long, ...startsOf([5, 7])], 8 * HOUR_S)).toBe(
      `failed@${7 * HOUR_S}`,
    )
  })
  test('runs of different uids are not compared', () => {
    const starts = hours(0, 10).map((hour) => start(hour * HOUR_S, { uid: `u${hour}` }))
    expect(story([FAILED], starts, 10 * HOUR_S)).toBe('')
  })
  test('a downtime between may have hidden the end: it waits, and says so', () => {
    const desk = openDesk({ watches: [FAILED] })
    desk.addDowntime({ fromUs: at(5 * HOUR_S + 1800), toUs: at(6 * HOUR_S + 20) })
    desk.apply(...FIVE, ...startsOf([5, 6]))
    desk.advance(at(7 * HOUR_S + 19))
    expect(desk.story()).toBe('')
    desk.commit()
    desk.kill()
    desk.advance(at(7 * HOUR_S + 21))
    expect(desk.story()).toBe(`failed@${7 * HOUR_S + 20}?`)
  })
  test('a kill between its start and its minute changes nothing', () => {
    const desk = openDesk({ watches: [FAILED] })
    desk.apply(...startsOf([0, 1, 2]))
    desk.commit()
    desk.kill()
    desk.advance(at(2 * HOUR_S + 61))
    expect(desk.story()).toBe(`failed@${2 * HOUR_S}`)
  })
})
