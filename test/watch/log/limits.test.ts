// An account with more series than are judged: the watches that miss some are unknown, and say which.
import { expect, test } from 'bun:test'
import { MAX_SERIES } from '../../../src/watch/log/judge-interface.ts'
import { findUnjudged, isUnknown } from '../../../src/watch/manage/find-unjudged.ts'
import { watchOf as storedWatchOf } from '../watch-cast.ts'
import { ACCOUNT, DAY, openDesk, T0, watchOf } from './judge-kit.ts'

const ROWS = { metric: { name: 'rows', window: '1m', of: 'last', below: 10 } } as const
const pointOf = (process: string, atUs: number) => ({
  ...{ process, meta: '', items: [['rows', 5]] as const, atUs, arrivedUs: atUs },
})

/** One process more than there is room for. */
function openFull() {
  const desk = openDesk({ watches: [watchOf('all', ROWS, { process: '*' }), watchOf('one', ROWS, { process: 'p1' })] })
  for (let i = 0; i < MAX_SERIES; i++) {
    desk.judge.applyPoint(ACCOUNT, pointOf(`p${i}`, T0))
    if (i % 500 === 499) desk.commit()
  }
  desk.commit()
  return desk
}

test('metrics beyond the limit are not judged, and only the watches that miss some are unknown; 30 days without points make room', async () => {
  const desk = openFull()
  const { judge } = desk
  const watches = [storedWatchOf('all', { process: '*' }), storedWatchOf('one', { process: 'p1' })]
  const node = {
    ...{ judgedUs: () => T0, waiting: () => [], pending: () => undefined, unjudged: judge.dropped },
  }
  const find = (process?: string) =>
    findUnjudged({ account: ACCOUNT, process, store: { watches: async () => watches }, node, nowUs: () => T0 })
  const [all, one] = watches.map((watch) => isUnknown(node, watch, T0))
  expect([all, one]).toEqual([true, false])
  const reason = 'Series limit of the account reached: not judged are p9999'
  expect(await find()).toMatchObject([{ watch: { id: 'all' }, condition: null, reason }])
  expect(await find('p1')).toEqual([])

  expect(desk.judge.dropped(ACCOUNT)).toEqual(['p9999'])
  expect(desk.rows.size).toBe(MAX_SERIES)
  for (const day of [15, 29, 31]) {
    desk.advance(T0 + day * DAY)
    desk.judge.applyPoint(ACCOUNT, pointOf('p0', T0 + day * DAY))
    desk.commit()
  }
  expect(desk.rows.size).toBe(1)
  expect(desk.judge.dropped(ACCOUNT)).toEqual([])
  desk.judge.applyPoint(ACCOUNT, pointOf('p9999', T0 + 32 * DAY))
  desk.commit()
  expect(desk.firing()).toMatchObject([{ process: 'p0' }, { process: 'p9999' }])
})
