// The order of the metrics of two runs.
import { expect, test } from 'bun:test'
import { byDifference } from '../../src/process/by-difference.ts'

const order = (of: Record<string, [number | null, number | null]>): string[] =>
  Object.entries(of)
    .map(([name, [value, good]]) => ({ name, value, good_value: good }))
    .sort(byDifference)
    .map(({ name }) => name)

test('the greatest ratio comes first, up or down; then what is equal, last what only one run sent', () => {
  expect(
    order({
      same: [7, 7],
      'a tenth': [1, 10],
      double: [20, 10],
      missing: [null, 5],
      'hundred times': [100, 1],
      negative: [-5, 5],
      'from zero': [4, 0],
    }),
  ).toEqual(['from zero', 'negative', 'hundred times', 'a tenth', 'double', 'same', 'missing'])
})

test('equal differences are by name, and any numbers have an order', () => {
  expect(order({ b: [2, 1], a: [1, 2], c: [null, null], d: [0, 0] })).toEqual(['a', 'b', 'd', 'c'])
  expect(order({ b: [1e308, 5e-324], a: [1, 1e-300] })).toEqual(['b', 'a'])
})
