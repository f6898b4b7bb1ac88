// A monthly job over more than a year, with months of every length and both changes of daylight saving time.
import { describe, expect, test } from 'bun:test'
import { DAY, HOUR, MIN, markOf, openDesk, watchOf } from './judge-kit.ts'

/** Days of a month that exist in all of them, and one that does not. */
const DAYS = [1, 28, 29, 31]
const MONTHS = 14
const ZONES = ['Europe/Berlin', 'America/New_York', 'UTC']

describe.each(ZONES)('in %s', (tz) => {
  for (const day of DAYS)
    for (const [at, cron] of Object.entries({ '03:00': `0 3 ${day} * *`, '02:30': `30 2 ${day} * *` }))
      test(`a job at ${at} on day ${day} is late exactly for the month that it misses`, () => {
        const sinceUs = Date.UTC(2027, 0, 1, 12) * 1000
        const watch = watchOf('monthly', { late: { cron, tz, grace: '1h' }, long: '2h' }, { sinceUs })
        const desk = openDesk({ watches: [watch] })
        const { late } = watch.rules
        if (late === undefined || 'everyUs' in late) throw new Error('a cron expression has a schedule')
        const dues: number[] = []
        for (let us = sinceUs; dues.length < MONTHS; dues.push(us)) us = late.schedule.nextUs(us)!
        const missed = 7
        dues.forEach((dueUs, i) => {
          if (i !== missed) desk.apply(markOf('start', dueUs + 5 * MIN), markOf('end', dueUs + 25 * MIN))
          desk.commit()
          desk.kill()
        })
        const told = [...desk.log, ...desk.pending()]
        expect(told.map(({ kind, alert: { episode } }) => [kind, episode.dueUs])).toEqual([
          ['open', dues[missed]],
          ['end', dues[missed]],
        ])
        expect(told[0]!.alert.episode.sinceUs).toBe(dues[missed]! + HOUR)
        expect(dues.every((us, i) => i === 0 || us - dues[i - 1]! >= 27 * DAY)).toBe(true)
      })
})
