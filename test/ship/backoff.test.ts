import { expect, test } from 'bun:test'
import { createBackoff } from '../../src/ship/backoff.ts'

test('the pause is a random share of a ceiling that doubles from 100 ms', () => {
  const draws = [0, 0.5, 0.25]
  const backoff = createBackoff(() => draws.shift()!)
  expect(Array.from({ length: 3 }, () => backoff.nextMs(5000))).toEqual([0, 100, 100])
})

test('a lower cap holds at once, and a success resets it', () => {
  const backoff = createBackoff(() => 1)
  for (let i = 0; i < 10; i++) backoff.nextMs(15_000)
  expect([backoff.nextMs(15_000), backoff.nextMs(5000)]).toEqual([15_000, 5000])
  backoff.reset()
  expect(backoff.nextMs(5000)).toBe(100)
})

test('by default two of them do not keep step', () => {
  const [a, b] = [createBackoff(), createBackoff()]
  const draw = (backoff: typeof a) => Array.from({ length: 20 }, () => backoff.nextMs(5000))
  expect(draw(a)).not.toEqual(draw(b))
})
