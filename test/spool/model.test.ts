// Any sequence of appends, reads, advances, faults, clean and unclean restarts, against the simplest model there is: a list.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { openSpool } from '../../src/spool/open-spool.ts'
import type { Position, Spool } from '../../src/spool/spool.ts'
import { errno, FakeDisk, type Fault } from './fake-disk.ts'
import { createLogLines, DIR, drain, numbersOf, openOn, untilTaken } from './spool-trial.ts'

interface Model {
  /** Acknowledged and not advanced over. */
  held: string[]
  /** How many of them an advance that failed would have passed: a start may find its position or the one before. */
  perhapsPassed: number[]
  sent: number
  newestUs: number
}

interface Real {
  disk: FakeDisk
  spool: Spool
}

type Step =
  | { readonly do: 'append'; readonly sizes: readonly number[] }
  | { readonly do: 'read'; readonly records: number; readonly bytes: number }
  | { readonly do: 'deliver'; readonly records: number; readonly bytes: number; readonly ahead: boolean }
  | { readonly do: 'restart'; readonly clean: boolean; readonly segmentBytes: number }
  | { readonly do: 'fault'; readonly calls: readonly boolean[]; readonly fault: Fault }

const EIO = errno('EIO')
/** Bytes that a write wrote. A header of 64 bytes is written whole: a start refuses a segment with a part of one. */
const [SHORT, NOTHING] = [70, 0]

const size = fc.oneof(fc.nat(60), fc.constant(0), fc.integer({ min: 400, max: 1200 }))
const bytes = fc.oneof(fc.nat(400), fc.constant(1 << 20))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('append'), sizes: fc.array(size, { minLength: 1, maxLength: 12 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read'), records: fc.integer({ min: 1, max: 20 }), bytes }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('deliver'),
      records: fc.integer({ min: 1, max: 20 }),
      bytes,
      ahead: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('restart'),
      clean: fc.boolean(),
      segmentBytes: fc.integer({ min: 100, max: 900 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fault'),
      calls: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
      fault: fc.constantFrom(EIO, EIO, errno('ENOSPC'), SHORT, NOTHING),
    }),
  },
) as fc.Arbitrary<Step>

/** A record with its number in front; the number makes it unlike any other. */
const recordOf = (n: number, length: number) => `${n}:${'~'.repeat(length)}`

async function take(model: Model, real: Real, action: Step): Promise<void> {
  const { spool } = real
  switch (action.do) {
    case 'append': {
      const records = action.sizes.map((length, i) => recordOf(model.sent + i, length))
      model.sent += records.length
      const appends = records.map((record, i) => spool.append(record, 1000 + model.sent + i))
      const answers = await Promise.allSettled(appends)
      expect(new Set(answers.map(({ status }) => status)).size).toBe(1)
      if (answers[0]!.status === 'fulfilled') {
        model.held.push(...records)
        model.newestUs = Math.max(model.newestUs, 1000 + model.sent + records.length - 1)
      } else expect(answers[0]!.reason).toMatchObject({ name: 'SpoolError', code: 'disk_failed' })
      break
    }
    case 'read': {
      const batch = await spool.read(action.records, action.bytes).catch(() => undefined)
      if (batch !== undefined) expectBatch(batch.records, model.held, action.records)
      break
    }
    case 'deliver': {
      let passed = 0
      try {
        let { records, next }: { records: string[]; next: Position } = await spool.read(action.records, action.bytes)
        if (action.ahead) {
          const second = await spool.read(action.records, action.bytes, next)
          records = [...records, ...second.records]
          next = second.next
        }
        expect(records).toEqual(model.held.slice(0, records.length))
        passed = records.length
        await spool.advance(next)
        model.held.splice(0, records.length)
        model.perhapsPassed = []
      } catch (error) {
        if (real.disk.fault === undefined) throw error
        model.perhapsPassed.push(passed)
      }
      break
    }
    case 'restart': {
      real.disk.fault = undefined
      if (action.clean) await spool.close()
      real.disk = real.disk.clone()
      real.spool = await openOn(real.disk, { segmentBytes: action.segmentBytes })
      // A rejected record may have been kept; its number identifies it.
      const { records } = await real.spool.read(10_000, 1 << 24)
      const kept = records.filter((record) => model.held.includes(record))
      expect([0, ...model.perhapsPassed].map((passed) => model.held.slice(passed))).toContainEqual(kept)
      const numbers = numbersOf(records)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(new Set(numbers).size).toBe(numbers.length)
      model.held = records
      model.perhapsPassed = []
      break
    }
    case 'fault': {
      const calls = [...action.calls]
      const { fault } = action
      real.disk.fault = ({ op }) => {
        if (op === 'list' || calls.shift() !== true) return undefined
        return typeof fault === 'number' && op !== 'write' ? EIO : fault
      }
      break
    }
  }
  expect(real.spool.floorUs).toBeGreaterThanOrEqual(model.newestUs)
  expect(real.spool.stats().records).toBe(model.held.length)
  expect(real.spool.stats().damaged).toBe(0)
  expect(real.spool.stats().bytes > 0 || model.held.length === 0).toBe(true)
}

function expectBatch(records: readonly string[], held: readonly string[], atMost: number): void {
  expect(records).toEqual(held.slice(0, records.length))
  expect(records.length).toBeLessThanOrEqual(atMost)
  expect(records.length > 0).toBe(held.length > 0)
}

/** Each leaves a segment without a header; its bytes were counted as −64. */
const BLANK_SEGMENTS: [Step[]][] = [
  [
    [
      { do: 'fault', calls: [true, false, true, true, true, false], fault: EIO },
      { do: 'deliver', records: 1, bytes: 1 << 20, ahead: false },
      { do: 'append', sizes: [0] },
      { do: 'append', sizes: [0] },
      { do: 'restart', clean: false, segmentBytes: 100 },
    ],
  ],
  [
    [
      { do: 'fault', calls: [false, false, false, true, true], fault: EIO },
      { do: 'append', sizes: [400] },
      { do: 'append', sizes: [0] },
      { do: 'restart', clean: false, segmentBytes: 100 },
      { do: 'deliver', records: 1, bytes: 0, ahead: false },
    ],
  ],
]

test('a spool behaves like a list, whatever happens to it', async () => {
  let delivered = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
      const disk = new FakeDisk()
      const real = { disk, spool: await openOn(disk) }
      const model: Model = { held: [], perhapsPassed: [], sent: 0, newestUs: 0 }
      for (const action of steps) await take(model, real, action)
      real.disk.fault = undefined
      const rest = await drain(real.spool)
      expect(rest).toEqual(model.held)
      await untilTaken(real.spool, 'well again')
      expect(await drain(real.spool)).toEqual(['well again'])
      delivered += rest.length
      await real.spool.close()
    }),
    { numRuns: 300, examples: BLANK_SEGMENTS },
  )
  expect(delivered).toBeGreaterThan(500)
})

test('with arbitrary bytes as files it opens or refuses, and never hangs', async () => {
  const names = ['position', '0000000000000001.segment', '0000000000000002.segment']
  const files = fc.record(Object.fromEntries(names.map((name) => [name, fc.uint8Array({ maxLength: 300 })])), {
    requiredKeys: [],
  })
  await fc.assert(
    fc.asyncProperty(files, async (found) => {
      const disk = new FakeDisk()
      for (const [name, content] of Object.entries(found)) disk.put(`${DIR}/${name}`, content!)
      const { log } = createLogLines()
      const options = { dir: DIR, maxBytes: 2 ** 20, minFreeBytes: 0, segmentBytes: 512, log, disk }
      const spool = await openSpool(options).catch((error: Error) => error)
      if (spool instanceof Error) {
        expect(spool.message).toMatch(/^the segment \S+ cannot be read: its header is damaged/)
        expect(disk.changes).toEqual([])
        return
      }
      expect(await drain(spool)).toEqual([])
      await spool.append('good', 1)
      expect(await drain(spool)).toEqual(['good'])
      await spool.close()
    }),
    { numRuns: 200 },
  )
})
