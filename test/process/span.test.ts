import { expect, test } from 'bun:test'
import { parseAgo, parseSpan } from '../../src/process/span.ts'

const S = 1_000_000_000n

test('a span is a whole number of seconds, minutes, hours or days', () => {
  expect(parseSpan('10s')).toBe(10n * S)
  expect(parseSpan('5m')).toBe(300n * S)
  expect(parseSpan('1h')).toBe(3600n * S)
  expect(parseSpan('36500d')).toBe(36_500n * 86_400n * S)
})

const NO_SPANS = '|0s|01s|-1s|1|s|1.5h|1w|10S| 1s|1s |1s\n|36501d|99999999999s|１s'
test.each(NO_SPANS.split('|'))('a span is not %j', (text) => expect(parseSpan(text)).toBeUndefined())

test('a time ago is counted back from now', () => {
  expect(parseAgo('-90m', 10_000n * S)).toBe(4600n * S)
  expect(parseAgo('-1w', 700_000n * S)).toBe(95_200n * S)
  expect(parseAgo('-0s', 5n)).toBe(5n)
})

test.each(['', '90m', '-90', '--1m', '-m', '-1.5h', '-1h30m', '-99999999999s', 'now-1h/d'])(
  'a time ago is not %j',
  (text) => expect(parseAgo(text, 0n)).toBeUndefined(),
)
