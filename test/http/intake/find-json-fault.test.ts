// Where invalid JSON stops being JSON, in words that hold nothing of it.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { findJsonFault } from '../../../src/http/intake/find-json-fault.ts'

test.each([
  ['{"a": 1,}', 'line 1, column 9: a comma before a closing bracket'],
  ['[1, 2,\n  3,\n]', 'line 3, column 1: a comma before a closing bracket'],
  ["{'a': 1}", 'line 1, column 2: single quotes instead of double quotes'],
  ['{"a": \'b\'}', 'line 1, column 7: single quotes instead of double quotes'],
  ['{a: 1}', 'line 1, column 2: a name without quotes'],
  ['{"a" 1}', 'line 1, column 6: no colon after a name'],
  ['{"a": 1 "b": 2}', 'line 1, column 9: no comma between two values'],
  ['{"process": "nightly"', 'line 1, column 22: the text ends in the middle of a value'],
  ['{"a": "b', 'line 1, column 7: a text without its closing quote'],
  ['{"a": "b\nc"}', 'line 1, column 9: a line break in a text'],
  ['{"a": "C:\\dir"}', 'line 1, column 10: an invalid escape in a text'],
  ['{"a": \t"b\tc"}', 'line 1, column 10: a control character in a text'],
  ['{"a": 01}', 'line 1, column 7: an invalid number'],
  ['{"a": .5}', 'line 1, column 7: an invalid number'],
  ['{"a": NaN}', 'line 1, column 7: a word without quotes'],
  ['{"a": True}', 'line 1, column 7: a word without quotes'],
  ['{"a": }', 'line 1, column 7: no value'],
  ['[1,,2]', 'line 1, column 4: a comma too many'],
  ['[1}', 'line 1, column 3: the wrong closing bracket'],
  ['{} {}', 'line 1, column 4: something follows the value'],
  ['<html>', 'line 1, column 1: a character that begins no value'],
  ['\n\n', 'line 3, column 1: the text ends in the middle of a value'],
  ['{"é🙂": x}', 'line 1, column 8: a word without quotes'],
])('%j: %s', (text, expected) => {
  expect(() => JSON.parse(text)).toThrow()
  expect(findJsonFault(text)).toBe(expected)
})

test('a text is found faulty exactly if JSON.parse refuses it', () => {
  const piece = fc.constantFrom(
    ...'[]{}:,"\\ \n\t-+.eE0123atrufnsl\u0000é\'/'.split(''),
    'true',
    'null',
    '"a"',
    '\\u00e9',
    '1e5',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(piece, { maxLength: 12 }).map((parts) => parts.join('')),
      ),
      (text) => {
        let isValid = true
        try {
          JSON.parse(text)
        } catch {
          isValid = false
        }
        expect([text, findJsonFault(text) === undefined]).toEqual([text, isValid])
      },
    ),
    { numRuns: 2000 },
  )
})

test('deep nesting does not recurse; lines count from the first', () => {
  expect(findJsonFault('['.repeat(60_000))).toBe('line 1, column 60001: the text ends in the middle of a value')
  expect(findJsonFault('[1,]', 7)).toBe('line 7, column 4: a comma before a closing bracket')
})

const FIRST = 64 * 1024
const BEYOND = 'after the first 65536 characters'

test.each([
  ['brackets alone', '['.repeat(FIRST + 1), BEYOND],
  ['a fault in the middle', `[${'1,'.repeat(FIRST)}]`, BEYOND],
  ['a long text without its end', `["${'x'.repeat(2 * FIRST)}`, BEYOND],
  ['a long text and a fault', `["${'x'.repeat(2 * FIRST)}" 1]`, BEYOND],
  ['spaces', ' '.repeat(2 * FIRST), BEYOND],
  ['the last of them', `${' '.repeat(FIRST - 1)}x`, `line 1, column ${FIRST}: a word without quotes`],
  ['the next one', `${' '.repeat(FIRST)}x`, BEYOND],
  ['a line break in a long text', `["\n${'x'.repeat(2 * FIRST)}`, 'line 1, column 3: a line break in a text'],
])('only the first 65,536 characters are read: %s', (_, text, expected) => {
  expect(() => JSON.parse(text)).toThrow()
  expect(findJsonFault(text)).toBe(expected)
})
