// One history for each way in which alerts of a late start can be false, missed, doubled or late; see attacks.test.ts.
import { describe, expect, test } from 'bun:test'
import { at, end, HOURLY, later, start, story } from './attack-kit.ts'
import { DAY, HOUR, markOf, openDesk, T0, watchOf } from './judge-kit.ts'

describe('late', () => {
  test('the end of a known run hides no missing start', () => {
    expect(story([HOURLY], [start(0), end(3900)], 4000)).toBe('late@3900')
  })
  test('the alert knows the last run', () => {
    const desk = openDesk({ watches: [HOURLY] })
    desk.apply(start(0))
    desk.advance(at(4000))
    expect(desk.pending()[0]!.alert.episode.lastUs).toBe(at(0))
    const never = openDesk({ watches: [HOURLY] })
    never.advance(at(4000))
    expect([...never.log, ...never.pending()][0]!.alert.episode).not.toHaveProperty('lastUs')
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
