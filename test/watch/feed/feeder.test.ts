// The feeder against a real spool: over kills each record of a watched account is handed over once.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { accountOfHead } from '../../../src/event/account-of-head.ts'
import type { Destination, Event } from '../../../src/event/event.ts'
import { toRecord } from '../../../src/event/record.ts'
import type { Spool } from '../../../src/spool/spool.ts'
import { createFeeder, type FeedStart } from '../../../src/watch/feed/feeder.ts'
import { createOwnInputs } from '../../../src/watch/feed/own-inputs.ts'
import { FakeDisk } from '../../spool/fake-disk.ts'
import { createLogLines, drain, openOn } from '../../spool/spool-trial.ts'
import { until } from '../../support/until.ts'

const WATCHED = 'acc_watched'
const recordOf = (n: number, account: string, kind: 'start' | 'exception') =>
  toRecord({
    ...{ kind, account, process: `job ${n}`, meta: '', stamp: { us: 1_000_000 + n, sub: 0 } },
    ...(kind === 'start' ? { uid: '' } : { exception: 'x' }),
  } as Event)

interface Disks {
  readonly points: FakeDisk
  readonly exceptions: FakeDisk
}

type Starts = Partial<Record<Destination, FeedStart>>

async function open(
  disks: Disks,
  starts: Starts,
  clock = { us: 9e15 },
  receiving: { us?: number } = {},
  asked: Partial<Pick<Parameters<typeof createFeeder>[0], 'isWatched' | 'learnWatched'>> = {},
) {
  const { log, lines } = createLogLines()
  const of = (disk: FakeDisk) => openOn(disk, { isFollowed: true, log })
  const spools = { points: await of(disks.points), exceptions: await of(disks.exceptions) }
  const feeder = createFeeder({
    ...{ spools, nowUs: () => clock.us, receivingUs: () => receiving.us, log },
    ...{ isWatched: (account: string) => account === WATCHED, ...asked },
  })
  feeder.begin(starts)
  return { spools, feeder, inputs: createOwnInputs(feeder, 0), lines }
}

const clone = ({ points, exceptions }: Disks): Disks => ({ points: points.clone(), exceptions: exceptions.clone() })

test('the account of a record is read from its first bytes', () => {
  for (const account of ['acc_1', 'acc_watched-2'])
    for (const kind of ['start', 'exception'] as const)
      expect(accountOfHead(Buffer.from(recordOf(7, account, kind)).subarray(0, 96))).toBe(account)
})

const step = fc.oneof(
  fc.record({
    do: fc.constant('append' as const),
    of: fc.array(fc.record({ which: fc.nat(3), received: fc.nat(1_900_000) }), { minLength: 1, maxLength: 8 }),
    isHeld: fc.boolean(),
  }),
  fc.record({ do: fc.constant('take' as const), n: fc.nat(12) }),
  fc.record({ do: fc.constant('commit' as const) }),
  fc.record({ do: fc.constant('ship' as const) }),
  fc.record({ do: fc.constant('kill' as const) }),
)

test('over any kills the committed records are those that were accepted, each once, in the order of arrival', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
      let disks: Disks = { points: new FakeDisk(), exceptions: new FakeDisk() }
      let starts: Starts = {}
      const clock = { us: 10_000_000 }
      const receiving: { us?: number } = {}
      let node = await open(disks, starts, clock, receiving)
      const accepted: string[] = []
      const committed: { record: string; us: number }[] = []
      let taken: typeof committed = []
      let n = 0
      const take = async (most: number) => {
        await node.inputs.read()
        for (let i = 0; i < most; i++) {
          const us = node.inputs.peekUs()
          if (us === undefined) return
          taken.push({ us, record: node.inputs.take() })
        }
      }
      const commit = async () => {
        const now = node.inputs.taken()
        starts = { ...starts, ...Object.fromEntries(now.positions.map(({ spool, ...start }) => [spool, start])) }
        committed.push(...taken)
        taken = []
        await node.inputs.settle(now)
      }
      await take(0)
      await commit() // a start without a stored position would begin at the shipper's again
      for (const action of steps) {
        if (action.do === 'append') {
          // stamped one after the other, written in another order, each within two seconds
          const stampedUs = clock.us
          const events = action.of.map((it, i) => ({ ...it, us: stampedUs + i, name: n++ }))
          clock.us += action.of.length
          receiving.us = stampedUs
          if (action.isHeld) await take(3) // while they are received
          for (const { which, us, name } of events.toSorted((a, b) => a.received - b.received)) {
            const spool: Spool = which < 2 ? node.spools.points : node.spools.exceptions
            const account = which % 2 === 0 ? WATCHED : 'acc_other'
            const record = recordOf(name, account, which < 2 ? 'start' : 'exception')
            await spool.append(record, us)
            if (action.isHeld) await take(1)
            if (account === WATCHED) accepted.push(record)
          }
          delete receiving.us
          await take(0)
        } else if (action.do === 'take') await take(action.n)
        else if (action.do === 'commit') await commit()
        else if (action.do === 'ship') for (const spool of Object.values(node.spools)) await drain(spool)
        else {
          disks = clone(disks)
          taken = []
          node = await open(disks, starts, clock, receiving)
        }
      }
      clock.us += 1
      for (let last = -1; last !== taken.length + committed.length; ) {
        last = taken.length + committed.length
        await take(1000)
      }
      await commit()
      expect(committed.map(({ record }) => record).toSorted()).toEqual(accepted.toSorted())
      const times = committed.map(({ us }) => us)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(node.feeder.skipped()).toBe(false)
    }),
    { numRuns: 80 },
  )
})

test('an event that is accepted after the first watch of its account is handed over, however slow the list of accounts is', async () => {
  const disks: Disks = { points: new FakeDisk(), exceptions: new FakeDisk() }
  const stored = new Set<string>()
  let listed: ReadonlySet<string> = new Set()
  let isAway = false
  const before = recordOf(0, WATCHED, 'start')
  const after = [recordOf(1, WATCHED, 'start'), recordOf(2, WATCHED, 'exception')] as const
  const asked = {
    isWatched: (account: string) => listed.has(account),
    async learnWatched() {
      if (isAway) throw new Error('PostgreSQL does not answer')
      const list = new Set(stored)
      // while the list is on its way, the watch is made, and events follow its answer
      if (stored.size === 0) {
        stored.add(WATCHED)
        await node.spools.points.append(after[0], 1_000_001)
        await node.spools.exceptions.append(after[1], 1_000_002)
      }
      listed = list
    },
  }
  const node = await open(disks, {}, undefined, undefined, asked)
  const read = async () => (await node.feeder.read()).flatMap(({ records }) => records.map(({ record }) => record))
  await node.spools.points.append(before, 1_000_000)
  expect(await read()).toEqual([])
  isAway = true
  await expect(read()).rejects.toThrow('PostgreSQL')
  isAway = false
  expect(await read()).toEqual([...after])
})

test('a stretch that a spool removed is left out and reported once', async () => {
  const disks: Disks = { points: new FakeDisk(), exceptions: new FakeDisk() }
  const { spools, feeder, lines } = await open(disks, {})
  for (let n = 0; n < 60; n++) await spools.points.append(recordOf(n, WATCHED, 'start'), 1_000_000 + n)
  disks.points.free = 100
  await drain(spools.points)
  const { looks } = disks.points
  await until('removed', () => disks.points.looks > looks + 1, 5_000) // the look before is over
  await spools.points.append(recordOf(60, WATCHED, 'start'), 1_000_060)
  const records = (await feeder.read()).flatMap((block) => block.records.map(({ record }) => record))
  expect(records).toEqual([recordOf(60, WATCHED, 'start')])
  expect([feeder.skipped(), feeder.skipped()]).toEqual([true, false])
  expect(lines.filter(({ msg }) => msg.includes('far behind'))).toHaveLength(1)
})

test('what is received or being written holds what is known, and what arrived later', async () => {
  const clock = { us: 100 }
  const receiving: { us?: number } = {}
  const disks: Disks = { points: new FakeDisk(), exceptions: new FakeDisk() }
  const { spools, feeder } = await open(disks, {}, clock, receiving)
  const read = async () => (await feeder.read()).flatMap(({ records }) => records.map(({ arrivedUs }) => arrivedUs))
  await spools.points.append(recordOf(1, WATCHED, 'start'), 50)
  receiving.us = 30
  expect([await read(), feeder.knownUs()]).toEqual([[], 30])
  await spools.points.append(recordOf(2, WATCHED, 'start'), 30)
  receiving.us = 60
  expect([await read(), feeder.knownUs()]).toEqual([[30, 50], 60])
  delete receiving.us
  const writing = spools.exceptions.append(recordOf(3, WATCHED, 'exception'), 70)
  clock.us = 1000
  expect([await read(), feeder.knownUs()]).toEqual([[], 70])
  await writing
  expect([await read(), feeder.knownUs()]).toEqual([[70], 999])
})

test('a backlog that is read in parts is known up to two seconds before its newest record', async () => {
  const disks: Disks = { points: new FakeDisk(), exceptions: new FakeDisk() }
  const { spools, feeder } = await open(disks, {}, { us: 9e15 })
  const appends: Promise<void>[] = []
  for (let n = 0; n < 5001; n++) appends.push(spools.points.append(recordOf(n, WATCHED, 'start'), 1e9 + n * 1e4))
  await Promise.all(appends)
  expect((await feeder.read())[0]).toMatchObject({ isFull: true, records: { length: 4799 } })
  expect(feeder.knownUs()).toBe(1e9 + 4999 * 1e4 - 2e6)
  expect((await feeder.read())[0]).toMatchObject({ isFull: false, records: { length: 202 } })
})

test('what runs have said is not handed over', async () => {
  const { spools, feeder } = await open({ points: new FakeDisk(), exceptions: new FakeDisk() }, {})
  const common = { account: WATCHED, process: 'job', meta: '', stamp: { us: 1_000_000, sub: 0 } }
  const exception = toRecord({ ...common, kind: 'exception', exception: 'x' })
  await spools.exceptions.append(toRecord({ ...common, kind: 'output', output: 'done' }), 1_000_000)
  await spools.exceptions.append(exception, 1_000_001)
  const blocks = await feeder.read()
  expect(blocks.flatMap(({ records }) => records.map(({ record }) => record))).toEqual([exception])
})
