// The lines that only one of two outputs has.
import { describe, expect, test } from 'bun:test'
import { CHARS_MAX, diffLines, lastLines } from '../../src/console/compare/diff-lines.ts'

const said = (run: string, other: string): string[] =>
  diffLines(run, other).map((line) =>
    line.kind === 'folded' ? `… ${line.lines}` : `${{ both: ' ', run: '+', other: '-' }[line.kind]} ${line.text}`,
  )

describe('the difference of two outputs', () => {
  test('is in the lines that only one has; equal ones at the beginning are folded', () => {
    const both = ['connect', 'read', 'check', 'parse', 'load']
    expect(said([...both, 'timeout', 'bye'].join('\n'), [...both, 'stored', 'bye'].join('\n'))).toEqual([
      '… 3',
      '  parse',
      '  load',
      '- stored',
      '+ timeout',
      '  bye',
    ])
  })

  test('is empty where only digits and times differ', () => {
    const of = (at: string, rows: number) => `${at} begin\n${at} ${rows} rows\n${at} end\n`
    expect(said(of('2026-11-20T03:14:22Z', 12), of('2026-11-19T03:09:01Z', 120_412))).toEqual(['… 3'])
  })

  test('shows an equal line of this run with the digits of this run', () => {
    expect(said('rows 7\nfailed', 'rows 9\nstored')).toEqual(['  rows 7', '- stored', '+ failed'])
  })

  test('folds equal lines between two differences, and at the end', () => {
    const same = Array.from({ length: 9 }, (_, i) => `line ${'x'.repeat(i)}`)
    expect(said(['a', ...same, 'b', ...same].join('\n'), ['c', ...same, 'd', ...same].join('\n'))).toEqual([
      ...['- c', '+ a', `  ${same[0]}`, `  ${same[1]}`, '… 5', `  ${same[7]}`, `  ${same[8]}`],
      ...['- d', '+ b', `  ${same[0]}`, `  ${same[1]}`, '… 7'],
    ])
  })

  test('reads the last 12,000 characters, from a whole line on', () => {
    const text = Array.from({ length: 3000 }, (_, i) => `line ${i}`).join('\n')
    const lines = lastLines(text)
    expect(lines.at(-1)).toBe('line 2999')
    expect(lines.every((line) => /^line \d+$/.test(line))).toBe(true)
    expect(lines.join('\n').length).toBeLessThanOrEqual(CHARS_MAX)
    expect(lastLines('x'.repeat(20_000))).toEqual(['x'.repeat(CHARS_MAX)])
  })

  test('of nothing is nothing, and a missing output differs in every line', () => {
    expect(said('', '\n')).toEqual([])
    expect(said('a\nb', '')).toEqual(['+ a', '+ b'])
    expect(said('', 'a\r\nb\r\n')).toEqual(['- a', '- b'])
  })

  test('of two long outputs without a line in common is quick', () => {
    const of = (letter: string) => Array.from({ length: 12_000 }, () => letter).join('\n')
    expect(diffLines(of('a'), of('b')).length).toBe(800)
  })
})
