import { expect, test } from 'bun:test'
import { refuseWrongClock } from '../src/clock.ts'

test.each([
  ['1970-01-01T00:00:10.000Z', false],
  ['2019-12-31T23:59:59.999Z', false],
  ['2020-01-01T00:00:00.000Z', true],
  ['2261-12-31T23:59:59.999Z', true],
  ['2262-01-01T00:00:00.000Z', false],
])('at %s a start is allowed: %p', (time, isAllowed) => {
  const start = () => refuseWrongClock({ wallUs: () => Date.parse(time) * 1000, monotonicUs: () => 0 })
  if (isAllowed) expect(start).not.toThrow()
  else expect(start).toThrow(`it shows ${time}, which is not between 2020 and 2262; set it, then start again`)
})
