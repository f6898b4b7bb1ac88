// One history for each way in which alerts can be false, missed, doubled or late. Times are seconds since a T0; `?` marks
// an alert that says what a downtime may have hidden, `a–b` one that was over when it was noticed.

import { describe, expect, test } from 'bun:test'
import type { JudgedWatch, Mark } from '../../../src/watch/log/judge-interface.ts'
import { MAX_CHANGES } from '../../../src/watch/log/judge-interface.ts'
import { ACCOUNT, DAY, HOUR, markOf, openDesk, S, T0, watchOf } from './judge-kit.ts'

const at = (seconds: number): number => T0 + seconds * S
const start = (seconds: number, more: Partial<Mark> = {}) => markOf('start', at(seconds), more)
const end = (seconds: number, more: Partial<Mark> = {}) => markOf('end', at(seconds), more)
const failed = (seconds: number, more: Partial<Mark> = {}) => markOf('failed', at(seconds), more)
/** It arrives then. */
const later = (seconds: number, mark: Mark): Mark => ({ ...mark, arrivedUs: at(seconds) })
const story = (watches: readonly JudgedWatch[], marks: readonly Mark[], untilS: number): string => {
  const desk = openDesk({ watches })
  desk.apply(...marks)
  desk.advance(at(untilS))
  return desk.story()
}

const HOURLY = watchOf('hourly', { late: { every: '1h', grace: '5m' } })
const FAILED = watchOf('failed', { failed: {} })
const LONG = watchOf('long', { long: '10m' })
const SLOW = watchOf('slow', { slow: 2 })

describe('late', () => {
  test('the end of a known run hides no missing start', () => {
    expect(story([HOURLY], [start(0), end(3900)], 4000)).toBe('late@3900')
  })
  test('an end whose start is not known counts as a start', () => {
    const desk = openDesk({ watches: [HOURLY] })
    desk.apply(start(0), end(10), end(3600, { uid: 'lost' }))
    desk.advance(at(7400))
    expect(desk.story()).toBe('')
    desk.apply(end(7700, { uid: 'lost, too' }))
    expect(desk.story()).toBe('late@7500 late ends@7700')
    expect(desk.pending().at(-1)).toMatchObject({ ended: { endedAs: 'completed' } })
  })
  test('a start that was missed while the database was away, and the one after it, are judged in order', () => {
    expect(story([HOURLY], [start(0), start(4500)], 5000)).toBe('late@3900 late ends@4500')
  })
  test('the backlog of a day of an offline host fires nothing', () => {
    const hours = Array.from({ length: 24 }, (_, i) => [start(i * 3600), end(i * 3600 + 60)]).flat()
    const backlog = hours.map((mark, i) => later(86_400 + i, mark))
    expect(
      story(
        [watchOf('new', { late: { every: '1h', grace: '5m' }, long: '10m' }, { sinceUs: at(86_000) })],
        backlog,
        86_500,
      ),
    ).toBe('')
  })
  test('a restart at each due time: the end covers, or the alert says that the start may be lost', () => {
    const desk = openDesk({ watches: [HOURLY] })
    desk.apply(start(0), end(60))
    desk.addDowntime({ fromUs: at(3598), toUs: at(3657) })
    desk.apply(end(3700))
    desk.addDowntime({ fromUs: at(7298), toUs: at(7357) })
    desk.advance(at(11_200))
    // an hour and the grace, but an hour at most, after the end of the downtime
    expect(desk.story()).toBe('late@10957?')
  })
  test('what a downtime moved counts again when the next start makes an earlier time due', () => {
    const cron = watchOf('cron', { late: { cron: '0 * * * *', grace: '5m' } })
    const desk = openDesk({ watches: [cron] })
    desk.addDowntime({ fromUs: at(3590), toUs: at(3650) })
    desk.apply(start(1), start(3700))
    desk.advance(at(7600))
    expect(desk.story()).toBe('late@7500')
  })
  test('a due time within a long grace and a downtime is judged at the later of both, at most an hour late', () => {
    const desk = openDesk({ watches: [watchOf('w', { late: { every: '1h', grace: '2h' } })] })
    desk.addDowntime({ fromUs: at(4000), toUs: at(4060) })
    desk.apply(start(0))
    desk.advance(at(10_799))
    expect(desk.story()).toBe('')
    desk.advance(at(10_801))
    expect(desk.story()).toBe('late@10800?')
  })
  test('a monthly job is late although its series is silent for a month', () => {
    const monthly = watchOf('monthly', { late: { cron: '0 0 26 * *', grace: '1h' } })
    const desk = openDesk({ watches: [monthly] })
    desk.apply(start(0), end(60))
    for (let day = 1; day <= 31; day++) {
      desk.advance(T0 + day * DAY)
      desk.commit()
      desk.kill()
    }
    expect(desk.story()).toBe(`late@${30 * 86_400 + 3600}`)
  })
  test('a start that arrives two minutes late ends the alert, and the next due time counts from it', () => {
    expect(story([HOURLY], [start(0), later(4020, start(3890))], 8000)).toBe('late@3900 late ends@3900 late@7790')
  })
  test('a pattern expects nothing of a process that never started', () => {
    expect(
      story([watchOf('all', { late: { every: '1h' } }, { process: '*' })], [start(0, { process: 'a' })], 4000),
    ).toBe('late@3900')
  })
  test('after an end by hand the interval counts from then; after an expiry only a start counts', () => {
    const desk = openDesk({ watches: [HOURLY] })
    desk.advance(at(4000))
    desk.endByHand('["late","job"]', at(4000))
    desk.advance(at(8000))
    expect(desk.story()).toBe('late@3900 late@7900')
    desk.endByHand('["late","job"]', at(8000), true)
    desk.advance(at(100_000))
    desk.apply(start(100_000))
    desk.advance(at(104_000))
    expect(desk.story()).toBe('late@3900 late@7900 late@103900')
  })
  test('it is late after the second occurrence of neither 2 o’clock', () => {
    // clocks are set back at 01:00 UTC of 2027-10-31
    const sinceUs = Date.UTC(2027, 9, 30, 12) * 1000
    const berlin = watchOf('w', { late: { cron: '0 2,14 * * *', tz: 'Europe/Berlin', grace: '5m' } }, { sinceUs })
    const desk = openDesk({ watches: [berlin] })
    const first = Date.UTC(2027, 9, 31, 0) * 1000
    desk.apply(markOf('start', sinceUs + 1), markOf('start', first))
    desk.advance(first + 12.9 * HOUR)
    expect(desk.story()).toBe('')
    desk.advance(first + 13.2 * HOUR)
    expect(desk.alerts.length + desk.pending().length).toBe(1)
  })
})

describe('failed', () => {
  test('fires with its event, and ends with the next success', () => {
    expect(story([FAILED], [start(0), failed(10), start(20), end(30)], 40)).toBe('failed@10 failed ends@30')
  })
  test('an end that says failed is a failed run without a start', () => {
    expect(story([FAILED], [failed(10)], 20)).toBe('failed@10')
  })
  test('its start that arrives later makes no second failure', () => {
    const twice = watchOf('w', { failed: { after: 2 } })
    expect(story([twice], [failed(10, { uid: 'a' }), later(11, start(5, { uid: 'a' }))], 20)).toBe('')
  })
  test('a row that only such ends made ends with an end without a start; another one does not', () => {
    expect(story([FAILED], [failed(10), end(20)], 30)).toBe('failed@10 failed ends@20')
    expect(story([FAILED], [start(5), failed(10), end(20)], 30)).toBe('failed@10')
  })
  test('a late failure and the success after it are one notification, which is over', () => {
    const backlog = [start(0), failed(10), start(100), end(110)].map((mark, i) => later(7200 + i, mark))
    expect(story([FAILED], backlog, 7400)).toBe('failed@10–110')
    const more = [start(200), end(210)].map((mark, i) => later(7204 + i, mark))
    expect(story([FAILED], [...backlog, ...more], 7400)).toBe('failed@10–110')
    expect(
      story(
        [watchOf('w', { failed: { after: 2 } })],
        [...backlog, later(7210, start(50, { uid: 'b' })), later(7211, failed(60, { uid: 'b' }))],
        7400,
      ),
    ).toBe('')
  })
  test('a host whose clock is two minutes behind alerts', () => {
    const behind = (mark: Mark): Mark => ({ ...mark, arrivedUs: mark.atUs + 120 * S })
    const marks = Array.from({ length: 10 }, (_, i) => [start(60 * i), failed(60 * i + 5)]).flat()
    expect(story([FAILED], marks.map(behind), 700)).toBe('failed@5')
  })
  test('a failure of a week ago fires, of before the watch or of longer ago it does not', () => {
    const old = (days: number) => [start(0), failed(10)].map((mark) => later(days * 86_400, mark))
    const since = { sinceUs: T0 - 30 * DAY }
    expect(story([watchOf('w', { failed: {} }, since)], old(6.9), 8 * 86_400)).toBe('failed@10')
    expect(story([watchOf('w', { failed: {} }, since)], old(7.1), 8 * 86_400)).toBe('')
    expect(story([watchOf('w', { failed: {} }, { sinceUs: at(11) })], old(1), 8 * 86_400)).toBe('')
  })
  test('parallel runs with times of whole seconds differ by their uids', () => {
    const marks = [start(0, { uid: 'a' }), start(0, { uid: 'b' }), end(5, { uid: 'a' }), failed(5, { uid: 'b' })]
    expect(story([FAILED], marks, 10)).toBe('failed@5')
  })
  test('what is sent twice counts once', () => {
    const marks = [start(0), failed(10)]
    expect(story([watchOf('w', { failed: { after: 2 } })], [...marks, ...marks.map((it) => later(20, it))], 30)).toBe(
      '',
    )
  })
  test('a run is abandoned after MAX_RUN, and its long fires until its next mark', () => {
    const desk = openDesk({ watches: [FAILED, watchOf('long', { long: '1h' })] })
    desk.apply(start(0))
    desk.advance(T0 + DAY + S)
    expect(desk.story()).toBe('long@3600 failed@86400')
    desk.apply(end(90_000))
    expect(desk.story()).toBe('long@3600 failed@86400 long ends@90000')
  })
  test('a start that another one follows is no failure', () => {
    expect(story([FAILED], [start(0), start(10), end(20)], 3 * 86_400)).toBe('')
  })
  test('an exception fires, and not the run that raised it but the next one ends it', () => {
    const desk = openDesk({ watches: [watchOf('w', { failed: { exceptions: true } })] })
    desk.apply(start(0, { uid: 'a' }))
    const exception = { process: 'job', meta: '', uid: 'a', headline: 'ValueError: no rows' }
    desk.judge.applyException(ACCOUNT, { ...exception, atUs: at(1), arrivedUs: at(1), isIgnored: true })
    expect(desk.story()).toBe('')
    desk.judge.applyException(ACCOUNT, { ...exception, atUs: at(2), arrivedUs: at(2) })
    desk.apply(end(3, { uid: 'a' }), start(4), end(5))
    expect(desk.story()).toBe('failed@2 failed ends@5')
    expect(desk.pending()[0]).toMatchObject({
      facts: { exception: 'ValueError: no rows' },
      alert: { episode: { startedUs: at(0) } },
    })
  })
  test('the exception of a failed run may arrive a second after its end', () => {
    const desk = openDesk({ watches: [FAILED] })
    desk.apply(start(0, { uid: 'a' }), failed(3, { uid: 'a' }))
    expect(desk.pending()).toMatchObject([{ kind: 'open', awaitsUs: 1e6 }])
    const exception = { process: 'job', meta: '', uid: 'a', headline: 'Error: late', atUs: at(3) }
    desk.judge.applyException(ACCOUNT, { ...exception, arrivedUs: at(3.5) })
    expect(desk.pending()[1]).toMatchObject({ kind: 'explain', facts: { exception: 'Error: late' } })
  })
  test('after an end by hand it counts again', () => {
    const desk = openDesk({ watches: [watchOf('w', { failed: { after: 2 } })] })
    desk.apply(start(0), failed(1), start(2), failed(3))
    desk.endByHand('["failed","job",""]', at(4))
    desk.apply(start(5), failed(6))
    expect(desk.story()).toBe('failed@3')
    desk.apply(start(7), failed(8))
    expect(desk.story()).toBe('failed@3 failed@8')
  })
})

describe('long and slow', () => {
  test('every run of a busy process hangs: the oldest fire, and the text counts the others', () => {
    const desk = openDesk({ watches: [LONG] })
    for (let i = 0; i < 1500; i++) desk.apply(start(i / 10, { uid: `r${i}` }))
    desk.advance(at(1000))
    expect(desk.alerts.length + desk.pending().length).toBe(1000)
    expect([...desk.log, ...desk.pending()][0]!.alert.episode).toMatchObject({ uid: 'r0', others: 500 })
  })
  test('runs whose end one downtime may have hidden are one alert, which ends with the last of them', () => {
    const desk = openDesk({ watches: [LONG] })
    desk.apply(start(0, { uid: 'a' }), start(60, { uid: 'b' }), start(120, { uid: 'c' }))
    desk.addDowntime({ fromUs: at(300), toUs: at(360) })
    desk.advance(at(1000))
    expect(desk.story()).toBe('long@960?')
    expect(desk.pending()[0]!.alert.episode.runs).toHaveLength(3)
    desk.apply(end(1001, { uid: 'a' }), end(1002, { uid: 'c' }))
    expect(desk.story()).toBe('long@960?')
    desk.apply(end(1003, { uid: 'b' }))
    expect(desk.story()).toBe('long@960? long ends@1003')
  })
  test('a late start with a limit that passed before it arrived is judged at its arrival', () => {
    const quick = watchOf('w', { long: '10s' })
    expect(story([quick], [start(0, { uid: 'a' }), later(50, start(10, { uid: 'b' }))], 60)).toBe('long@10 long@50')
  })
  test('a changed limit is judged from then on, also for an open run', () => {
    const desk = openDesk({ watches: [watchOf('w', { long: '2h' })] })
    desk.apply(start(0))
    desk.advance(at(1000))
    desk.change([watchOf('w', { long: '5m' }, { since: { long: at(1001) } })])
    desk.advance(at(1100))
    expect(desk.story()).toBe('long@1001')
    desk.kill()
    desk.advance(at(1200))
  })
  test('a change that a kill kept from being judged is judged after it', () => {
    const desk = openDesk({ watches: [watchOf('w', { long: '2h' })] })
    desk.apply(start(0))
    desk.advance(at(1002))
    desk.change([watchOf('w', { long: '5m' }, { since: { long: at(1001) } })])
    desk.kill()
    desk.advance(at(1100))
    expect(desk.story()).toBe('long@1001')
  })
  test('a pause judges nothing until its end', () => {
    const desk = openDesk({ watches: [watchOf('w', { long: '10m', failed: {} }, { sinceUs: at(5000) })] })
    desk.apply(start(0), start(100, { uid: 'b' }), failed(200, { uid: 'b' }))
    desk.advance(at(4999))
    expect(desk.story()).toBe('')
    desk.advance(at(5001))
    expect(desk.story()).toBe('long@5000')
  })
  test('a run is slow at k times the median, once per series, and a usual run ends it', () => {
    const usual = Array.from({ length: 6 }, (_, i) => [start(i * 100), end(i * 100 + 10)]).flat()
    const marks = [
      ...usual,
      start(1000),
      start(1005, { uid: 'b' }),
      end(1040),
      end(1041, { uid: 'b' }),
      start(1100),
      end(1110),
    ]
    expect(story([SLOW], marks, 1200)).toBe('slow@1020 slow ends@1110')
  })
})

describe('metric', () => {
  const point = (seconds: number, value: number) => ({
    ...{ process: 'job', meta: '', items: [['rows', value]] as const, atUs: at(seconds), arrivedUs: at(seconds) },
  })
  const rows = (more: object) =>
    watchOf('m', { metric: { name: 'rows', window: '1m', of: 'last', below: 10, ...more } })
  test('it fires and ends with its points, and nothing changes without', () => {
    const desk = openDesk({ watches: [rows({})] })
    desk.judge.applyPoint(ACCOUNT, point(0, 5))
    desk.advance(at(10_000))
    desk.judge.applyPoint(ACCOUNT, point(10_000, 20))
    expect(desk.story()).toBe('metric@0 metric ends@10000')
  })
  test('`for` counts from the first point across, also over a kill', () => {
    const desk = openDesk({ watches: [rows({ for: '5m' })] })
    desk.judge.applyPoint(ACCOUNT, point(0, 20))
    desk.judge.applyPoint(ACCOUNT, point(10, 5))
    desk.advance(at(200))
    desk.commit()
    desk.kill()
    desk.judge.applyPoint(ACCOUNT, point(250, 6))
    desk.advance(at(309))
    expect(desk.story()).toBe('')
    desk.advance(at(311))
    expect(desk.story()).toBe('metric@310')
  })
  test('a change alone fires nothing; an end by hand counts again with the next point', () => {
    const desk = openDesk({ watches: [rows({})] })
    desk.judge.applyPoint(ACCOUNT, point(0, 50))
    desk.change([
      watchOf('m', { metric: { name: 'rows', window: '1m', of: 'last', below: 100 } }, { since: { metric: at(10) } }),
    ])
    desk.advance(at(20))
    expect(desk.story()).toBe('')
    desk.judge.applyPoint(ACCOUNT, point(30, 50))
    desk.endByHand('["metric","job"]', at(40))
    desk.judge.applyPoint(ACCOUNT, point(50, 50))
    expect(desk.story()).toBe('metric@30 metric@50')
  })
  test('it never expires while points arrive; without any it does after 30 days', () => {
    const desk = openDesk({ watches: [rows({})] })
    for (let day = 0; day < 40; day++) {
      desk.advance(T0 + day * DAY)
      desk.judge.applyPoint(ACCOUNT, point(day * 86_400, 5))
    }
    desk.advance(T0 + 60 * DAY)
    expect(desk.story()).toBe('metric@0')
    for (let hour = 0; hour < 24 * 12; hour++) desk.advance(T0 + 60 * DAY + hour * HOUR)
    expect(desk.story()).toMatch(/^metric@0 metric expired@\d+$/)
  })
})

describe('many, silent nodes, clocks', () => {
  test('10,000 alerts at once are stored in parts, and a kill in between changes nothing', () => {
    const desk = openDesk({ watches: [watchOf('all', { long: '10m' }, { process: '*' })] })
    for (let i = 0; i < 10_000; i++) desk.apply(start(0, { process: `p${i}` }))
    desk.commit()
    expect(desk.judge.advance(at(700))).toBe(false)
    expect(desk.pending().length).toBe(MAX_CHANGES)
    desk.commit()
    desk.kill()
    desk.judge.advance(at(700))
    desk.kill()
    desk.advance(at(700))
    desk.commit()
    expect(desk.alerts.length).toBe(10_000)
  })
  test('the 10,001st series is named, and late still knows its newest start', () => {
    const exact = watchOf('exact', { late: { every: '1h', grace: '5m' } }, { process: 'last' })
    const desk = openDesk({ watches: [watchOf('all', { failed: {} }, { process: '*' }), exact] })
    for (let i = 0; i < 10_000; i++) desk.apply(start(0, { process: `p${i}` }))
    desk.apply(start(1, { process: 'last' }))
    expect(desk.judge.dropped(ACCOUNT)).toEqual(['last'])
    desk.commit()
    desk.kill()
    desk.advance(at(3902))
    expect(desk.story()).toBe('late@3901')
  })
  test('a silent node is waited for, ten minutes at most, and the alert names it', () => {
    const silent = { fromUs: at(3500), node: 2, waitsUs: at(4100) }
    const desk = openDesk({ watches: [HOURLY, LONG] })
    desk.apply(start(0), end(1))
    desk.addDowntime({ ...silent, toUs: at(7100) })
    desk.advance(at(4000))
    expect(desk.judge.waiting()).toMatchObject([{ condition: 'late', judgedAtUs: at(4100), lost: { node: 2 } }])
    desk.advance(at(4101))
    expect(desk.story()).toBe('late@4100?')
    expect(desk.judge.waiting()).toEqual([])
    desk.apply(later(4200, start(3601)))
    expect(desk.story()).toBe('late@4100? late ends@4100')
  })
  test('a silent node that is back in seconds delays only what was due meanwhile', () => {
    const desk = openDesk({ watches: [FAILED] })
    desk.addDowntime({ fromUs: at(10), toUs: at(25), node: 2, waitsUs: at(25) })
    desk.apply(start(0), failed(20))
    expect(desk.story()).toBe('failed@20')
  })
  test('an event that is ahead of the clock counts at its arrival, and a time that goes back changes nothing', () => {
    const desk = openDesk({ watches: [HOURLY] })
    desk.apply(later(10, start(5000)))
    desk.advance(at(100))
    desk.advance(at(50))
    expect(desk.judge.judgedUs()).toBe(at(100))
    desk.advance(at(3911))
    expect(desk.story()).toBe('late@3910')
  })
  test('a clock that was ahead by days is a downtime: nothing fires at once', () => {
    const desk = openDesk({ watches: [HOURLY] })
    desk.apply(start(0))
    desk.addDowntime({ fromUs: at(100), toUs: at(3 * 86_400) })
    desk.advance(at(3 * 86_400 + 3599))
    expect(desk.story()).toBe('')
    desk.advance(at(3 * 86_400 + 3601))
    expect(desk.story()).toBe(`late@${3 * 86_400 + 3600}?`)
  })
  test('a deleted account leaves nothing to store', () => {
    const desk = openDesk({ watches: [HOURLY, LONG] })
    desk.apply(start(0))
    desk.judge.removeAccount(ACCOUNT)
    expect(desk.judge.takeDirty()).toEqual([])
    desk.judge.advance(at(10_000))
    expect(desk.story()).toBe('')
  })
})

describe('seed', () => {
  const runs = Array.from({ length: 6 }, (_, i) => [start(i * 100), end(i * 100 + 10)]).flat()
  test('a new watch knows the usual duration, and no open run of before', () => {
    const desk = openDesk({ watches: [watchOf('w', { slow: 2, long: '1m' }, { sinceUs: at(700) })] })
    desk.advance(at(700))
    desk.judge.seed(
      ACCOUNT,
      [...runs, start(650, { uid: 'open' })].map((it) => later(700, it)),
      { quietUntilUs: at(700), keepsOpen: false },
    )
    desk.apply(start(710), end(740))
    desk.advance(at(2000))
    expect(desk.story()).toBe('slow@730')
  })
  test('what was settled before the quiet time fires nothing, what after it does once', () => {
    const desk = openDesk({ watches: [watchOf('w', { failed: {}, long: '1m' }, { sinceUs: T0 - DAY })] })
    desk.advance(at(500))
    const marks = [start(0), failed(10), start(100), end(110), start(300), failed(310), start(320)]
    const seed = () =>
      desk.judge.seed(
        ACCOUNT,
        marks.map((it) => later(500, it)),
        { quietUntilUs: at(200), keepsOpen: true },
      )
    seed()
    seed()
    desk.advance(at(700))
    expect(desk.story().split(' ').sort()).toEqual(['failed@310', 'long@560'])
  })
})
