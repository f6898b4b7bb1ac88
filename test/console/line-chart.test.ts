// How the charts of the console lay out their axes.
import { expect, test } from 'bun:test'
import { evenRange } from '../../src/console/kit/line-chart.ts'

test.each<[string, number | null, number | null, [number, number]]>([
  ['positive values', 50, 100, [0, 108]],
  ['negative values', -100, -50, [-108, 0]],
  ['values on both sides', -100, 100, [-108, 108]],
  ['only zero', 0, 0, [0, 1]],
  ['no values', null, null, [0, 1]],
])('an even axis holds zero and all values: %s', (_, min, max, [low, high]) => {
  const [from, to] = evenRange(min, max)
  expect(from).toBeCloseTo(low, 9)
  expect(to).toBeCloseTo(high, 9)
})
