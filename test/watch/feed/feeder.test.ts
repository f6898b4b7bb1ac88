// The feeder against a real spool: over kills each record of a watched account is handed over once.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Destination, Event } from '../../../src/event/event.ts'
import { toRecord } from '../../../src/event/record.ts'
import type { Position, Spool } from '../../../src/spool/spool.ts'
import { accountOfHead, createFeeder } from '../../../src/watch/feed/feeder.ts'
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

async function open(disks: Disks, positions: Partial<Record<Destination, Position>>) {
  const { log, lines } = createLogLines()
  const of = (disk: FakeDisk) => openOn(disk, { isFollowed: true, log })
  const spools = { points: await of(disks.points), exceptions: await of(disks.exceptions) }
  const feeder = createFeeder({ spools, nowUs: () => 9e15, isWatched: (account) => account === WATCHED, log })
  feeder.begin(positions)
  return { spools, feeder, inputs: createOwnInputs(feeder, 0), lines }
}

const clone = ({ points, exceptions }: Disks): Disks => ({ points: points.clone(), exceptions: exceptions.clone() })

test('the account of a record is read from its first bytes', () => {
  for (const account of ['acc_1', 'acc_watched-2'])
    for (const kind of ['start', 'exception'] as const)
      expect(accountOfHead(Buffer.from(recordOf(7, account, kind)).subarray(0, 96))).toBe(account)
})

const step = fc.oneof(
  fc.record({ do: fc.constant('append' as const), of: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }) }),
  fc.record({ do: fc.constant('take' as const), n: fc.nat(12) }),
  fc.record({ do: fc.constant('commit' as const) }),
  fc.record({ do: fc.constant('ship' as const) }),
  fc.record({ do: fc.constant('kill' as const) }),
)

test('over any kills the committed records are those that were accepted, each once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
      let disks: Disks = { points: new FakeDisk(), exceptions: new FakeDisk() }
      let positions: Partial<Record<Destination, Position>> = {}
      let node = await open(disks, positions)
      const accepted: string[] = []
      const committed: string[] = []
      let taken: string[] = []
      let n = 0
      const take = async (most: number) => {
        await node.inputs.read()
        for (let i = 0; i < most && node.inputs.peekUs() !== undefined; i++) taken.push(node.inputs.take())
      }
      const commit = async () => {
        const now = node.inputs.taken()
        positions = { ...positions, ...Object.fromEntries(now.positions.map((it) => [it.spool, it.position])) }
        committed.push(...taken)
        taken = []
        await node.inputs.settle(now)
      }
      await take(0)
      await commit() // a start without a stored position would begin at the shipper's again
      for (const action of steps) {
        if (action.do === 'append') {
          for (const which of action.of) {
            const spool: Spool = which < 2 ? node.spools.points : node.spools.exceptions
            const account = which % 2 === 0 ? WATCHED : 'acc_other'
            const record = recordOf(n, account, which < 2 ? 'start' : 'exception')
            await spool.append(record, 1_000_000 + n++)
            if (account === WATCHED) accepted.push(record)
          }
          await take(0) // both spools are read up to here
        } else if (action.do === 'take') await take(action.n)
        else if (action.do === 'commit') await commit()
        else if (action.do === 'ship') for (const spool of Object.values(node.spools)) await drain(spool)
        else {
          disks = clone(disks)
          taken = []
          node = await open(disks, positions)
        }
      }
      for (let last = -1; last !== taken.length + committed.length; ) {
        last = taken.length + committed.length
        await take(1000)
      }
      await commit()
      expect(committed.toSorted()).toEqual(accepted.toSorted())
      expect(committed).toHaveLength(new Set(committed).size)
      expect(node.feeder.skipped()).toBe(false)
    }),
    { numRuns: 80 },
  )
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
