import { expect, test } from 'bun:test'
import { createBackoff } from '../../src/ship/backoff.ts'

const pauses = (random: () => number, capMs: number, n: number) => {
  const backoff = createBackoff(random)
  return Array.from({ length: n }, () => backoff.nextMs(capMs))
}

test('the ceiling doubles from 100 ms to the cap', () => {
  expect(pauses(() => 1, 5000, 8)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000])
})

test('the pause is a random share of the ceiling', () => {
  const draws = [0, 0.5, 0.25]
  expect(pauses(() => draws.shift()!, 5000, 3)).toEqual([0, 100, 100])
})

test('a lower cap holds at once', () => {
  const backoff = createBackoff(() => 1)
  for (let i = 0; i < 10; i++) backoff.nextMs(15_000)
  expect(backoff.nextMs(15_000)).toBe(15_000)
  expect(backoff.nextMs(5000)).toBe(5000)
})

test('a success resets it', () => {
  const backoff = createBackoff(() => 1)
  for (let i = 0; i < 10; i++) backoff.nextMs(5000)
  backoff.reset()
  expect(backoff.nextMs(5000)).toBe(100)
})

test('by default two of them do not keep step', () => {
  const [a, b] = [createBackoff(), createBackoff()]
  const draw = (backoff: typeof a) => Array.from({ length: 20 }, () => backoff.nextMs(5000))
  expect(draw(a)).not.toEqual(draw(b))
})
