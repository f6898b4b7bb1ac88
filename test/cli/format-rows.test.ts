import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { cutToWidth, formatTable } from '../../src/cli/format-rows.ts'
import { createPaint } from '../../src/cli/safe-text.ts'
import { formatCsvLine } from '../../src/wire/csv.ts'

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('寸法', '👩‍👩‍👧', 'é', '\u001b[31m', 'a\nb', ''))

test('columns are aligned, whatever their content', () => {
  expect(
    formatTable(
      ['NAME', { title: 'N', align: 'right' }, 'X'],
      [
        ['寸法', '1', 'x'],
        ['a\nb', '200', ''],
        ['👍', '30', 'z'],
      ],
    ),
  ).toBe(['NAME    N  X', '寸法    1  x', 'a\\nb  200', '👍     30  z', ''].join('\n'))
})

test('each row is one line, and no line is longer than its cells need', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text, text), { maxLength: 6 }), (rows) => {
      const lines = formatTable(['A', 'B', { title: 'C', align: 'right' }], rows).split('\n')
      expect(lines).toHaveLength(rows.length + 2)
      for (const line of lines) expect(line).toBe(line.trimEnd())
    }),
  )
})

test('lines fit the terminal as far as columns can be cut', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 6 }), fc.integer({ min: 30, max: 100 }), (rows, width) => {
      const columns = [{ title: 'A', cut: true }, { title: 'B', cut: true }, 'C']
      const table = formatTable(
        columns,
        rows.map(([a, b]) => [a, b, 'kept']),
        { width },
      )
      for (const line of table.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width)
      for (const line of table.trimEnd().split('\n').slice(1)) expect(line.endsWith('kept')).toBe(true)
    }),
  )
})

test('the widest column is cut first', () => {
  const columns = [
    { title: 'A', cut: true },
    { title: 'B', cut: true },
  ]
  expect(formatTable(columns, [['x'.repeat(30), 'short']], { width: 20 })).toBe(
    `A              B\n${'x'.repeat(12)}…  short\n`,
  )
})

test('spare columns go, the last one first, before names are cut short, and are named', () => {
  const columns = [
    { title: 'A', spare: true },
    { title: 'B', spare: true },
    { title: 'NAME', cut: true },
  ]
  const table = (width: number) => formatTable(columns, [['1', '2', 'nightly import of the region eu']], { width })
  expect(table(22)).toBe('A  B  NAME\n1  2  nightly import …\n')
  expect(table(21)).toBe('A  NAME\n1  nightly import of…\nNo room for B: see --csv\n')
  expect(table(9)).toBe('NAME\nnightly …\nNo room for A, B: see --csv\n')
})

test('a cut text fills its width and splits no character', () => {
  fc.assert(
    fc.property(
      fc.array(text).map((parts) => parts.join('')),
      fc.integer({ min: 1, max: 20 }),
      (whole, width) => {
        const clean = whole.replace(/[\p{Cc}\p{Cf}]/gu, '')
        const cut = cutToWidth(clean, width)
        expect(Bun.stringWidth(cut)).toBeLessThanOrEqual(width)
        if (cut === clean) return
        expect(cut.endsWith('…')).toBe(true)
        expect(clean.startsWith(cut.slice(0, -1))).toBe(true)
        const kept = [...new Intl.Segmenter().segment(cut.slice(0, -1))].map(({ segment }) => segment)
        expect([...new Intl.Segmenter().segment(clean)].map(({ segment }) => segment).slice(0, kept.length)).toEqual(
          kept,
        )
      },
    ),
  )
})

test('uses colour on terminals and on request', () => {
  const paintOn = (isTTY: boolean, env: Record<string, string>) =>
    createPaint({ stdout: { write() {}, isTTY }, env })('x', 'red')
  expect(paintOn(true, { TERM: 'xterm' })).toBe('\u001b[31mx\u001b[0m')
  expect(paintOn(true, { NO_COLOR: '' })).toBe('\u001b[31mx\u001b[0m')
  for (const [isTTY, env] of [
    [false, {}],
    [true, { NO_COLOR: '1' }],
    [true, { TERM: 'dumb' }],
  ] as const)
    expect(paintOn(isTTY, env)).toBe('x')
})

test('colour codes take no width', () => {
  const paint = (painted: string) => `\u001b[1m${painted}\u001b[0m`
  const [, first, second] = formatTable(
    ['A', 'B'],
    [
      [{ text: 'x', style: 'red' }, 'y'],
      ['long', 'y'],
    ],
    { paint },
  ).split('\n')
  expect(Bun.stripANSI(first!).indexOf('y')).toBe(second!.indexOf('y'))
})

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

test('every CSV cell reads back unchanged', () => {
  const cell = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('', '"', '""', ',', '\r\n', '\n', '=1+1', ' a ', 'a"b,c'),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 8 }), (rows) => {
      expect(parseCsv(rows.map((row) => formatCsvLine(row)).join(''))).toEqual(rows)
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
