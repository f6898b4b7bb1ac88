import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createBisection } from '../../src/ship/bisect.ts'

interface Search {
  requests: number
  refused: number[]
  timesStored: number[]
}

/** Runs a whole search against a store that refuses exactly the events in `bad`. */
function search(n: number, bad: ReadonlySet<number>, maxWeight = Number.POSITIVE_INFINITY): Search {
  const bisection = createBisection(Array(n).fill(1), maxWeight)
  const result: Search = { requests: 0, refused: [], timesStored: Array(n).fill(0) }
  for (let asked = bisection.next(); asked.length > 0; asked = bisection.next()) {
    result.requests++
    if (asked.some((event) => bad.has(event))) {
      const single = bisection.refused()
      if (single !== undefined) result.refused.push(single)
    } else {
      for (const event of asked) result.timesStored[event]!++
      bisection.stored()
    }
  }
  return result
}

const bound = (n: number, k: number) => 2 * k * Math.ceil(Math.log2(n)) + 1

function expectExact(n: number, bad: ReadonlySet<number>): Search {
  const found = search(n, bad)
  expect(found.refused).toEqual([...bad].sort((a, b) => a - b))
  expect(found.timesStored).toEqual(Array.from({ length: n }, (_, i) => (bad.has(i) ? 0 : 1)))
  expect(found.requests).toBeLessThanOrEqual(bound(n, bad.size))
  return found
}

test('finds every set of refused events of a small batch within the bound, and stores nothing twice', () => {
  for (let n = 1; n <= 11; n++) {
    for (let mask = 0; mask < 1 << n; mask++) {
      expectExact(n, new Set(Array.from({ length: n }, (_, i) => i).filter((i) => mask & (1 << i))))
    }
  }
})

test('finds random sets of refused events of a large batch within the bound', () => {
  const batch = fc.integer({ min: 2, max: 3000 }).chain((n) =>
    fc.tuple(
      fc.constant(n),
      fc.oneof(
        fc.uniqueArray(fc.nat(n - 1), { maxLength: 60 }),
        fc
          .tuple(fc.nat(n - 1), fc.integer({ min: 1, max: 400 }))
          .map(([from, length]) => Array.from({ length: Math.min(length, n - from) }, (_, i) => from + i)),
      ),
    ),
  )
  fc.assert(
    fc.property(batch, ([n, bad]) => {
      expectExact(n, new Set(bad))
    }),
    { numRuns: 200 },
  )
})

test('a request never weighs more than the limit unless it is a single event', () => {
  const bisection = createBisection([3, 3, 3, 20, 1, 1], 7)
  const requests: (readonly number[])[] = []
  for (let asked = bisection.next(); asked.length > 0; asked = bisection.next()) {
    requests.push(asked)
    bisection.stored()
  }
  expect(requests).toEqual([[0, 1], [2], [3], [4, 5]])
})
