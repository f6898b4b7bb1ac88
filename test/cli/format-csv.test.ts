import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatCsvLine } from '../../src/cli/format-csv.ts'

/** Any code point, half of the surrogate pairs too; fast-check's own `binary` takes seconds to set up. */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point))

/** RFC 4180, read strictly and without our help. */
function parseCsv(text: string): string[][] {
  const records: string[][] = []
  let at = 0
  while (at < text.length) {
    const record: string[] = []
    for (;;) {
      let field = ''
      if (text[at] === '"') {
        for (at++; ; at++) {
          if (text[at] === '"' && text[at + 1] === '"') at++
          else if (text[at] === '"') break
          if (at >= text.length) throw new Error('a quote that does not end')
          field += text[at]
        }
        at++
      } else {
        while (at < text.length && !/[",\r\n]/.test(text[at]!)) field += text[at++]
      }
      record.push(field)
      if (text[at] !== ',') break
      at++
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new Error(`no CRLF at ${at}`)
    at += 2
    records.push(record)
  }
  return records
}

test('every cell is read again as it was', () => {
  const cell = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('', '"', '""', ',', '\r\n', '\n', '=1+1', ' a ', 'a"b,c'),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 8 }), (rows) => {
      expect(parseCsv(rows.map(formatCsvLine).join(''))).toEqual(rows)
    }),
    { numRuns: 200 },
  )
})

test.each<[Parameters<typeof formatCsvLine>[0], string]>([
  [['a', null, undefined, ''], 'a,,,\r\n'],
  [[1.5, 1e21, -0, true], '1.5,1e+21,0,true\r\n'],
  [['say "hi"', 'a,b', 'c\nd'], '"say ""hi""","a,b","c\nd"\r\n'],
  [[['a', null], { b: 1 }], '"[""a"",null]","{""b"":1}"\r\n'],
  [['=HYPERLINK("x")', '+1', '-1', '@a'], '"=HYPERLINK(""x"")",+1,-1,@a\r\n'],
])('%j', (values, line) => {
  expect(formatCsvLine(values)).toBe(line)
})
