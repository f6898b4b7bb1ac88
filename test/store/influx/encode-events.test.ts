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

  test('has no tag without a meta, and an empty uid without a uid', () => {
    expect(linesOf({ ...start, meta: '', uid: '' })).toEqual([
      'mark,account=acc,mark=start,process=import at=1795211562171920000i,pair=-208453260101310876i,uid="" 1795211562171920042',
    ])
  })

  test('with its own time has it as a field; the stamp is later in the same second', () => {
    const own = { us: 1_795_211_562_171_920, sub: 427 }
    expect(linesOf({ ...start, stamp: own })[0]).toEndWith(
      `at=1795211562000000000i,pair=${pairOf('run-1', 'start')}i,uid="run-1" 1795211562171920427`,
    )
  })

  test('stays one line whatever its texts contain', () => {
    expect(linesOf({ ...start, process: 'a b,c=d\\e', meta: 'x, y', uid: '"\\' })[0]).toStartWith(
      'mark,account=acc,mark=start,meta=x\\,\\ y,process=a\\ b\\,c\\=d\\e at=',
    )
  })
})

describe('a request of metrics', () => {
  test('is a point per name, its value always a float', () => {
    const items = [
      ['a', 1],
      ['b c', -0.5],
      ['d', 1e300],
      ['e', 5e-324],
    ] as const
    expect(
      linesOf({ kind: 'metrics', account: 'acc', process: 'p', meta: '', items, stamp: { us: 1, sub: 7 } }),
    ).toEqual([
      'metric,account=acc,name=a,process=p value=1 1007',
      'metric,account=acc,name=b\\ c,process=p value=-0.5 1007',
      'metric,account=acc,name=d,process=p value=1e+300 1007',
      'metric,account=acc,name=e,process=p value=5e-324 1007',
    ])
  })
})

test('a uid of metrics is a field, absent without a uid', () => {
  const metrics = { kind: 'metrics', account: 'acc', process: 'p', meta: '', stamp: { us: 1, sub: 7 } } as const
  expect(linesOf({ ...metrics, uid: 'run-1', items: [['a', 1]] })).toEqual([
    'metric,account=acc,name=a,process=p uid="run-1",value=1 1007',
  ])
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
