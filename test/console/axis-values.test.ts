// How the charts of the console lay out their axes.
import { describe, expect, test } from 'bun:test'
import { countTicks, linearTicks, valueRange } from '../../src/console/kit/axis-values.ts'

describe('an axis', () => {
  test.each<[string, number[], boolean, [number, number]]>([
    ['values near zero begin there', [0, 100], false, [0, 108]],
    ['values far from zero do not', [48_000, 48_400], false, [47_968, 48_432]],
    ['bars always do', [48_000, 48_400], true, [0, 52_272]],
    ['negative values', [-100, 100], false, [-116, 116]],
    ['only zero', [0, 0], false, [0, 1]],
    ['no values', [], false, [0, 1]],
    ['one value', [10], false, [9.2, 10.8]],
    ['the greatest', [-1e308, 1e308], false, [-1.16e308, 1.16e308]],
  ])('%s', (_, values, beginsAtZero, [low, high]) => {
    const [from, to] = valueRange(values, beginsAtZero)
    expect([from, to].map((value) => Number(value.toPrecision(8)))).toEqual([low, high])
  })

  test('the least number there is has room around it', () => {
    expect(valueRange([5e-324])).toEqual([0, 1e-323])
  })

  test('an outlier is cut, so that the rest is no flat line', () => {
    const [, high] = valueRange([...Array.from({ length: 40 }, (_, i) => 1 + i / 40), 7_200])
    expect(high).toBeLessThan(10)
  })
})

test('ticks are round and within the range', () => {
  expect(linearTicks(0, 108)).toEqual([0, 50, 100])
  expect(linearTicks(47_968, 48_432)).toEqual([48_000, 48_200, 48_400])
  expect(linearTicks(0.1, 0.45)).toEqual([0.1, 0.2, 0.3, 0.4])
  expect(countTicks(0, 1.08)).toEqual([0, 1])
  expect(linearTicks(1, 1)).toEqual([])
})
