// One history for each way in which alerts can be false, missed, doubled or late. Times are seconds since a T0; `?`
// marks an alert that says what a downtime may have hidden, `a–b` one that was over when it was noticed.
import { describe, expect, test } from 'bun:test'
import { MAX_CHANGES } from '../../../src/watch/log/judge-interface.ts'
import { at, end, FAILED, failed, HOURLY, LONG, later, start, story } from './attack-kit.ts'
import { ACCOUNT, DAY, HOUR, openDesk, T0, watchOf } from './judge-kit.ts'

const SLOW = watchOf('slow', { slow: 2 })

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
  test('a downtime before the start, or after what was due, hides no end', () => {
    const desk = openDesk({ watches: [LONG] })
    desk.addDowntime({ fromUs: at(0), toUs: at(60) })
    desk.advance(at(61))
    desk.apply(start(70, { uid: 'a' }))
    desk.advance(at(1000))
    expect(desk.story()).toBe('long@670')
    desk.addDowntime({ fromUs: at(1000), toUs: at(1060) })
    desk.apply(later(1070, start(300, { uid: 'b' })))
    desk.advance(at(2000))
    expect(desk.story()).toBe('long@670 long@1130')
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
  test('the same point that is sent again counts once; another one of its time counts', () => {
    const mean = watchOf('m', { metric: { name: 'rows', window: '1m', of: 'mean', above: 10 } })
    const desk = openDesk({ watches: [mean] })
    const send = (id: number, value: number) => desk.judge.applyPoint(ACCOUNT, { ...point(10, value), id })
    send(1, 4)
    send(2, 15)
    send(2, 15)
    desk.commit()
    desk.kill()
    send(2, 15)
    expect(desk.story()).toBe('')
    send(3, 15)
    expect(desk.story()).toBe('metric@10')
  })
  test('its time is that of the point, and `for` counts from the arrival', () => {
    const desk = openDesk({ watches: [rows({ for: '1m' })] })
    desk.judge.applyPoint(ACCOUNT, { ...point(0, 5), arrivedUs: at(30) })
    desk.advance(at(89))
    expect(desk.story()).toBe('')
    desk.advance(at(91))
    expect(desk.story()).toBe('metric@60')
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
  test('many alerts at once are stored in parts, and a kill in between changes nothing', () => {
    const desk = openDesk({ watches: [watchOf('all', { long: '10m' }, { process: '*' })] })
    const count = 10 * MAX_CHANGES
    for (let i = 0; i < count; i++) desk.apply(start(0, { process: `p${i}` }))
    desk.commit()
    expect(desk.judge.advance(at(700))).toBe(false)
    expect(desk.pending().length).toBe(MAX_CHANGES)
    desk.commit()
    desk.kill()
    desk.judge.advance(at(700))
    desk.kill()
    desk.advance(at(700))
    desk.commit()
    expect(desk.alerts.length).toBe(count)
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
