import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { metric } from '../../../src/watch/conditions/metric.ts'
import { type MetricRule, type MetricState, stepMetric } from '../../../src/watch/rules/metric.ts'

const rule = (over: Partial<MetricRule> = {}): MetricRule => ({
  name: 'rows',
  windowUs: 60,
  of: 'last',
  side: 'below',
  than: 10,
  forUs: 0,
  ...over,
})

test('fires when the figure crosses the number and returns when it does; the number itself is not across', () => {
  const below = (value: number) => stepMetric(rule(), {}, value, 1).firingUs
  const above = (value: number) => stepMetric(rule({ side: 'above' }), {}, value, 1).firingUs
  expect([below(9), below(10), below(11)]).toEqual([1, undefined, undefined])
  expect([above(9), above(10), above(11)]).toEqual([undefined, undefined, 1])
})

test('with `for`, the figure must have been across at every evaluation for so long; no points change nothing', () => {
  const value = fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined })
  fc.assert(
    fc.property(fc.array(value, { maxLength: 40 }), fc.nat(5), (values, forUs) => {
      let state: MetricState = {}
      let filled: number | undefined
      let acrossSince: number | undefined
      for (const [now, given] of values.entries()) {
        state = stepMetric(rule({ forUs }), state, given, now)
        filled = given ?? filled
        if (filled === undefined || filled >= 10) acrossSince = undefined
        else acrossSince ??= now
        expect(state.firingUs !== undefined).toBe(acrossSince !== undefined && now - acrossSince >= forUs)
      }
    }),
  )
})

test.each([
  [{ above: 10 }, 10.0000001, '10.0000001'],
  [{ above: 10 }, 10.00000000000001, '10.00000000000001'],
  [{ below: 10 }, 9.9999999, '9.9999999'],
  [{ above: 0.1 }, 0.1 + 0.2, '0.3'],
])('the text of %j shows %p as %s', (limit, figure, text) => {
  const given = { name: 'rows', of: 'last', window: '1m', ...limit } as const
  const summary = metric.summarize({ process: 'p', meta: null } as never, given as never, { figure } as never)
  expect(summary).toEndWith(`(last of 1m: ${text})`)
})
