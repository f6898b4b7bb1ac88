import { describe, expect, test } from 'bun:test'
import { toMs } from '../../src/query/answers.ts'

// What the answers hold: test/http/questions/question-routes.test.ts and any-question.ts.
describe('a duration in ms', () => {
  test.each([
    [0n, 0],
    [1n, 0.000001],
    [3000n, 0.003],
    [1_500_000n, 1.5],
    [86_400_000_000_001n, 86_400_000.000001],
    // Number(ns) / 1e6 is 9007199254.740992.
    [9_007_199_254_740_993n, 9_007_199_254.740993],
    [123_456_789_012_345_678n, Number('123456789012.345678')],
  ])('of %p ns is the nearest number', (ns, ms) => expect(toMs(ns)).toBe(ms))
})
