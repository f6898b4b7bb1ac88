// What is known to have arrived, while bodies are still received.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Arrival, createArrivals } from '../../src/event/arrivals.ts'

const openArrivals = () => {
  const clock = { us: 1000 }
  const arrivals = createArrivals({ next: () => ({ us: ++clock.us, sub: 0 }), nowUs: () => clock.us })
  return { clock, arrivals, begin: () => arrivals.begin(arrivals.stamp()) }
}

test('the earliest stamp of what is received', () => {
  const { arrivals, begin } = openArrivals()
  expect(arrivals.leastUs()).toBeUndefined()
  const [a, b, c] = [begin(), begin(), begin()]
  expect(arrivals.leastUs()).toBe(a.us)
  expect(arrivals.end(b)).toBe(b.us)
  expect(arrivals.leastUs()).toBe(a.us)
  arrivals.drop(a)
  expect(arrivals.leastUs()).toBe(c.us)
  expect(arrivals.end(c)).toBe(c.us)
  arrivals.drop(c)
  expect(arrivals.leastUs()).toBeUndefined()
})

test('what takes longer than two seconds holds nothing, and arrives with its append', () => {
  const { clock, arrivals, begin } = openArrivals()
  const uploads = Array.from({ length: 100 }, begin)
  clock.us += 2e6 + 200
  expect(arrivals.leastUs()).toBeUndefined()
  for (const upload of uploads) expect(arrivals.end(upload)).toBeGreaterThan(2e6 + 1000)
})

test('a later stamp gives up what is older than two seconds, whether or not anybody asks', () => {
  const { clock, arrivals, begin } = openArrivals()
  const slow = begin()
  clock.us += 3e6
  const quick = begin()
  expect(arrivals.end(quick)).toBe(quick.us)
  expect(arrivals.end(slow)).toBeGreaterThan(quick.us)
})

test('no event arrives before what was known, or two seconds before another one', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('begin' as const) }),
    fc.record({ do: fc.constantFrom('end' as const, 'drop' as const), which: fc.nat() }),
    fc.record({ do: fc.constant('pass' as const), us: fc.nat(3_000_000) }),
    fc.record({ do: fc.constant('ask' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { clock, arrivals, begin } = openArrivals()
      const open: Arrival[] = []
      let [known, newest] = [0, 0]
      for (const it of steps) {
        if (it.do === 'begin') open.push(begin())
        else if (it.do === 'pass') clock.us += it.us
        else if (it.do === 'ask') known = Math.max(known, arrivals.leastUs() ?? clock.us)
        else if (open.length > 0) {
          const [one] = open.splice(it.which % open.length, 1)
          if (it.do === 'drop') arrivals.drop(one!)
          else {
            const us = arrivals.end(one!)
            expect(us).toBeGreaterThanOrEqual(Math.max(known, newest - 2e6))
            newest = Math.max(newest, us)
          }
        }
      }
    }),
  )
})
