import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { manyLines, oneLine, safeJson } from '../../src/cli/safe-text.ts'

/** Any code point, half of the surrogate pairs too; fast-check's own `binary` takes seconds to set up. */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point))

/** What moves the cursor, begins a line, or turns the order of letters. */
const HARMFUL =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\u{e0001}\u{e0020}-\u{e007f}]/u
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('\u001b[31m', '\u009b2J', '\r\n', '\t', '\u202e', '\u2028', '\ud800', '\u{e0041}', '👩‍👩‍👧', 'é'),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))

test('removes everything that moves the cursor or reverses text', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(oneLine(text)).not.toMatch(HARMFUL)
      expect(oneLine(text).isWellFormed()).toBe(true)
      expect(manyLines(text).replace(/[\n\t]/g, '')).not.toMatch(HARMFUL)
      expect(safeJson(text)).not.toMatch(HARMFUL)
    }),
    { numRuns: 200 },
  )
})

test('keeps printable text unchanged', () => {
  for (const text of ['nightly import', 'größe 寸法 👩‍👩‍👧 नमस्ते', "it's \\n {}", '']) {
    expect(oneLine(text)).toBe(text)
    expect(manyLines(text)).toBe(text)
  }
})

test.each([
  ['a\nb', 'a\\nb'],
  ['\r\t', '\\r\\t'],
  ['\u001b[31m', '\\x1b[31m'],
  ['\u009b', '\\x9b'],
  ['\u202eabc', '\\u{202e}abc'],
  ['\u{e0041}', '\\u{e0041}'],
  ['\ud800', '\ufffd'],
])('%j is shown as %j', (text, shown) => {
  expect(oneLine(text)).toBe(shown)
})

test('keeps line breaks in multi-line texts', () => {
  expect(manyLines('a\r\n\tb\nc\rd')).toBe('a\n\tb\nc\\rd')
})

test('escaped JSON has the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), hostile, (value, text) => {
      const mixed = [value, text.toWellFormed(), { [text.toWellFormed()]: 1 }]
      expect(JSON.parse(safeJson(mixed))).toEqual(JSON.parse(JSON.stringify(mixed)))
      expect(JSON.parse(safeJson(mixed, 2))).toEqual(JSON.parse(JSON.stringify(mixed)))
      expect(safeJson(mixed)).not.toContain('\n')
    }),
  )
})
