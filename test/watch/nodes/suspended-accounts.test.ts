// The watches of an account that the operator suspended: as a history of the judge, with what is known of suspensions.
import { expect, test } from 'bun:test'
import { createSuspendedAccounts } from '../../../src/watch/nodes/suspended-accounts.ts'
import { ACCOUNT, markOf, openDesk, S, T0, watchOf } from '../log/judge-kit.ts'

const at = (seconds: number) => T0 + seconds * S
const DAILY = watchOf('daily', { late: { cron: '10 0 * * *', grace: '1m' }, long: '5m', failed: {} })
const METRIC = watchOf('depth', { metric: { name: 'depth', of: 'last', window: '1m', above: 5, for: '10m' } })

function openSuspended(account = ACCOUNT) {
  const desk = openDesk({ watches: [DAILY, METRIC] })
  let all: { account: string; fromUs: number; toUs: number | undefined }[] = []
  const hurried: string[] = []
  const engine = {
    addDowntime: desk.addDowntime,
    hurry(name: string) {
      hurried.push(name)
      desk.change([DAILY, METRIC])
    },
  }
  const suspended = createSuspendedAccounts({ all: () => all }, engine)
  const set = (fromS: number, toS?: number) => {
    all = [{ account, fromUs: at(fromS), toUs: toS === undefined ? undefined : at(toS) }]
    for (let i = 0; i < 3; i++) suspended.notice()
  }
  const forget = () => {
    all = []
    for (let i = 0; i < 3; i++) suspended.notice()
  }
  return { desk, hurried, suspend: set, resume: set, forget }
}

test('a suspension that a restored database does not have ends', () => {
  const { desk, hurried, suspend, forget } = openSuspended()
  desk.advance(at(100))
  suspend(100)
  desk.advance(at(200))
  forget()
  expect(hurried).toEqual([ACCOUNT])
  desk.apply(markOf('start', at(300)), markOf('failed', at(310)))
  desk.advance(at(400))
  expect(desk.story()).toBe('failed@310')
})

test('nothing fires while it is suspended, not even by an event that comes, and nothing waits with a time', () => {
  const { desk, suspend } = openSuspended()
  desk.apply(markOf('start', at(0)))
  desk.judge.applyPoint(ACCOUNT, {
    process: DAILY.process,
    meta: '',
    items: [['depth', 9]],
    atUs: at(1),
    arrivedUs: at(1),
  })
  desk.advance(at(100))
  suspend(100)
  desk.apply(markOf('start', at(200), { uid: 'b' }), markOf('failed', at(210), { uid: 'b' }))
  desk.advance(at(10_000))
  expect(desk.story()).toBe('')
  expect(desk.judge.waiting()).toEqual([])
})

test('after it is resumed that time was a downtime: what fell due is waited for once more, and says so', () => {
  const { desk, hurried, suspend, resume } = openSuspended()
  desk.apply(markOf('start', at(0)))
  desk.advance(at(100))
  suspend(100)
  desk.advance(at(5000))
  resume(100, 5000)
  expect(hurried).toEqual([ACCOUNT])
  desk.advance(at(5001))
  expect(desk.story()).toBe('')
  desk.advance(at(5330))
  expect(desk.judge.waiting().map(({ condition }) => condition)).toEqual(['late'])
  desk.advance(at(9000))
  expect(desk.story()).toBe('long@5330? late@8630?')
  const { lost } = desk.alerts[0]?.alert.episode ?? desk.pending()[0]!.alert.episode
  expect(lost).toEqual({ account: ACCOUNT, fromUs: at(100), toUs: at(5030) })
})

test('a start in time after it keeps it quiet, and a restart knows of it', () => {
  const { desk, suspend, resume } = openSuspended()
  desk.advance(at(500))
  suspend(500)
  desk.advance(at(700))
  resume(500, 700)
  desk.commit()
  desk.kill()
  desk.advance(at(750))
  desk.apply(markOf('start', at(760)), markOf('end', at(770)))
  desk.advance(at(20_000))
  expect(desk.story()).toBe('')
})

test('a suspension whose end was not seen before the next one began has ended', () => {
  const { desk, suspend, resume } = openSuspended()
  desk.apply(markOf('start', at(0)))
  suspend(100)
  suspend(101)
  resume(101, 102)
  desk.advance(at(10_000))
  expect(desk.story()).toBe('long@432? late@660')
})

test('the watches of other accounts are judged as ever', () => {
  const { desk, suspend } = openSuspended('another')
  desk.apply(markOf('start', at(0)))
  suspend(100)
  desk.advance(at(1000))
  expect(desk.story()).toBe('long@300 late@660')
})
