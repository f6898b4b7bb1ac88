// The figure of a metric against its number.
import { expect, test } from 'bun:test'
import { metric } from '../../../src/watch/conditions/metric.ts'
import { crosses } from '../../../src/watch/conditions/metric-rule.ts'

const GIVEN = { name: 'rows', of: 'last', window: '1m' } as const

test('the number itself is not across', () => {
  const [below, above] = [metric.toRule({ ...GIVEN, below: 10 }), metric.toRule({ ...GIVEN, above: 10 })]
  expect([9, 10, 11].map((value) => crosses(below, value))).toEqual([true, false, false])
  expect([9, 10, 11].map((value) => crosses(above, value))).toEqual([false, false, true])
})

test.each([
  [{ above: 10 }, 10.0000001, '10.0000001'],
  [{ above: 10 }, 10.00000000000001, '10.00000000000001'],
  [{ below: 10 }, 9.9999999, '9.9999999'],
  [{ above: 0.1 }, 0.1 + 0.2, '0.3'],
])('the text of %j shows %p as %s', (limit, figure, text) => {
  const summary = metric.summarize({ process: 'p', meta: null }, { ...GIVEN, ...limit }, { sinceUs: 0, figure })
  expect(summary).toEndWith(`(last of 1m: ${text})`)
})
