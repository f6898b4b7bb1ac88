// The form of a mark that the panels of Grafana read; that every event comes back as it was: test/contract/sink.ts.
import { describe, expect, test } from 'bun:test'
import type { Event, Mark } from '../../../src/event/event.ts'
import { pairOf, pushLines } from '../../../src/store/influx/encode-events.ts'

const stamp = { us: 1_795_211_562_171_920, sub: 42 }
const start: Mark = { kind: 'start', account: 'acc', process: 'import', meta: 'eu', uid: 'run-1', stamp }

function linesOf(...events: Event[]): string[] {
  const lines: string[] = []
  for (const event of events) pushLines(lines, event)
  return lines
}

describe('a mark', () => {
  test('is one point with its tags, stamp, pair and uid', () => {
    expect(linesOf(start, { ...start, kind: 'end' }, { ...start, kind: 'end', failed: true })).toEqual([
      `mark,account=acc,mark=start,meta=eu,process=import at=1795211562171920000i,pair=${pairOf('run-1', 'start')}i,uid="run-1" 1795211562171920042`,
      `mark,account=acc,mark=end,meta=eu,process=import at=1795211562171920000i,pair=${pairOf('run-1', 'end')}i,uid="run-1" 1795211562171920042`,
      `mark,account=acc,mark=failed,meta=eu,process=import at=1795211562171920000i,pair=${pairOf('run-1', 'failed')}i,uid="run-1" 1795211562171920042`,
    ])
  })

  test('with its own time has it as a field; the stamp is later in the same second', () => {
    const own = { us: 1_795_211_562_171_920, sub: 427 }
    expect(linesOf({ ...start, stamp: own })[0]).toEndWith(
      `at=1795211562000000000i,pair=${pairOf('run-1', 'start')}i,uid="run-1" 1795211562171920427`,
    )
  })
})

test('an exception is not written to InfluxDB', () => {
  expect(() => linesOf({ kind: 'exception', account: 'a', process: 'p', meta: '', exception: 'x', stamp })).toThrow()
})

describe('the pair of a mark', () => {
  // The two hashes of `pair`; m = 0 for a start, 1 for an end, 3 for a failed end.
  test.each([
    ['', -52_113_315_025_327_719n],
    ['a', 166_286_778_470_002_267n],
  ])('of uid "%s" is four times the hash, plus one for an end', (uid, hash) => {
    expect(pairOf(uid, 'start')).toBe(4n * hash)
    expect(pairOf(uid, 'end')).toBe(4n * hash + 1n)
    expect(pairOf(uid, 'failed')).toBe(4n * hash + 3n)
  })

  test('differs by +1 from a start to its end and +3 to its failed end, and never so between uids', () => {
    const uids = Array.from({ length: 200 }, (_, i) => `uid-${i}`)
    const near = new Set([-3n, -1n, 0n, 1n, 3n])
    for (const uid of uids) {
      expect(pairOf(uid, 'end') - pairOf(uid, 'start')).toBe(1n)
      expect(pairOf(uid, 'failed') - pairOf(uid, 'start')).toBe(3n)
    }
    for (const [i, a] of uids.entries())
      for (const b of uids.slice(i + 1))
        for (const [m, n] of [
          ['start', 'start'],
          ['start', 'end'],
          ['end', 'start'],
          ['start', 'failed'],
          ['failed', 'start'],
          ['end', 'failed'],
        ] as const)
          expect(near.has(pairOf(a, m) - pairOf(b, n))).toBe(false)
  })

  test('lies in 62 bits, so that no difference overflows', () => {
    for (const uid of ['', 'a', 'run-1', 'f'.repeat(50), '0'])
      for (const mark of ['start', 'end', 'failed'] as const)
        expect(BigInt.asIntN(62, pairOf(uid, mark))).toBe(pairOf(uid, mark))
  })
})
