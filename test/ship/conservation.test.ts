// Events in = events stored ∪ dead ∪ expired, each in exactly one of them, whatever the store answers, whatever answers get
// lost, and wherever Stint is stopped and started again in between.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Event } from '../../src/event/event.ts'
import { toRecord } from '../../src/event/record.ts'
import type { Shipper } from '../../src/ship/shipper.ts'
import type { WriteResult } from '../../src/store/sink.ts'
import { ACCOUNT, drain, NOW_US, openShipTrial } from './ship-trial.ts'

type Fault = WriteResult | 'answer_lost' | 'breaks'

const fault: fc.Arbitrary<Fault | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.constant('answer_lost' as const) },
  { weight: 2, arbitrary: fc.constant({ kind: 'retry', reason: 'busy' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'retry', reason: 'busy', afterMs: 30 } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'wait', reason: 'bad token' } as const) },
  { weight: 1, arbitrary: fc.constant('breaks' as const) },
)

const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('append' as const), n: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('step' as const), n: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), n: fc.constant(0) }) },
)

/** The final outcome of an event, or of an unreadable record. */
const fate = fc.oneof(
  { weight: 8, arbitrary: fc.constant('stored' as const) },
  { weight: 1, arbitrary: fc.constant('poison' as const) },
  { weight: 1, arbitrary: fc.constant('expired' as const) },
  { weight: 1, arbitrary: fc.constant('unreadable' as const) },
)

const story = fc.record({
  commands: fc.array(command, { minLength: 2, maxLength: 14 }),
  fates: fc.array(fate, { minLength: 1, maxLength: 30 }),
  faults: fc.array(fault, { minLength: 1, maxLength: 60 }),
  maxEvents: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
  storesPartially: fc.boolean(),
  limits: fc.record({ records: fc.integer({ min: 1, max: 25 }), bytes: fc.constantFrom(200, 1e6) }),
})

function eventOf(i: number): Event {
  const common = { account: ACCOUNT, process: 'p', meta: '', stamp: { us: NOW_US + i * 2e8, sub: 0 } }
  if (i % 3 === 0) return { kind: 'metrics', ...common, items: [['m', i]] }
  return i % 3 === 1 ? { kind: 'start', ...common, uid: '' } : { kind: 'exception', ...common, exception: `e${i}` }
}
const indexOf = (event: Event): number => (event.stamp.us - NOW_US) / 2e8

test('every event ends up in exactly one place, for any outcomes of the store and any restarts', async () => {
  const seen = { retries: 0, restarts: 0, dead: 0, expired: 0, broken: 0, writtenAgain: 0 }
  await fc.assert(
    fc.asyncProperty(story, async ({ commands, fates, faults, maxEvents, storesPartially, limits }) => {
      const fateOf = (i: number) => fates[i % fates.length]!
      let turn = 0
      let isBroken = false
      let isOver = false
      const expired = new Set<number>()
      await using trial = await openShipTrial({
        segmentBytes: 64 * 1024,
        faults: {
          isPoison: (event) => fateOf(indexOf(event)) === 'poison',
          isExpired: (event) => fateOf(indexOf(event)) === 'expired' && !!expired.add(indexOf(event)),
          storesPartially,
          ...(maxEvents !== undefined && { maxEvents }),
          // A store that breaks refuses every write until a check or a preparation has seen that it is broken.
          next: ({ kind }) => {
            const next = isOver ? undefined : faults[turn++ % faults.length]
            isBroken ||= next === 'breaks'
            if (isBroken && kind === 'write') return { kind: 'refused', reason: 'broken' }
            if (isBroken) {
              isBroken = false
              seen.broken++
              return { kind: 'wait', reason: 'broken' }
            }
            return next === 'breaks' ? undefined : next
          },
        },
      })
      let sent = 0
      let shipper: Shipper = trial.shipper({ limits })
      for (const { do: what, n } of commands) {
        if (what === 'append') {
          const indexes = Array.from({ length: n }, () => sent++)
          await trial.appendRecords(
            indexes.map((i) => (fateOf(i) === 'unreadable' ? `unreadable ${i}` : toRecord(eventOf(i)))),
          )
        } else if (what === 'step') {
          for (let i = 0; i < n; i++) await shipper.step()
        } else {
          seen.restarts++
          await trial.reopen()
          shipper = trial.shipper({ limits })
        }
      }
      isOver = true
      await drain(shipper)

      const all = Array.from({ length: sent }, (_, i) => i)
      const withFate = (what: string) => all.filter((i) => fateOf(i) === what)
      expect(trial.spool.stats().records).toBe(0)
      expect(trial.store.events().sort((a, b) => a.stamp.us - b.stamp.us)).toEqual(withFate('stored').map(eventOf))
      expect([...expired].sort((a, b) => a - b)).toEqual(withFate('expired'))
      const dead = trial.dead().map(({ record }) => record)
      expect(dead.sort()).toEqual(
        withFate('poison')
          .map((i) => toRecord(eventOf(i)))
          .sort(),
      )
      const unreadable = trial.dead('').map(({ record }) => record)
      expect(unreadable.sort()).toEqual(
        withFate('unreadable')
          .map((i) => `unreadable ${i}`)
          .sort(),
      )

      seen.retries += trial.counts.batches.retry ?? 0
      seen.dead += dead.length
      seen.expired += expired.size
      seen.writtenAgain += trial.store.events().filter((event) => trial.store.timesWritten(event) > 1).length
    }),
    { numRuns: 40 },
  )
  for (const [what, times] of Object.entries(seen)) expect(`${what} ${times > 0}`).toBe(`${what} true`)
})
