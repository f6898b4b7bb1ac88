// How process and meta are cleaned, and forms of items beyond those of http/intake/v1-accepts.test.ts and v1-refuses.test.ts.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Faults } from '../../src/event/faults.ts'
import { LIMITS, nameFault, parseItems, stripText } from '../../src/event/fields.ts'

const checkItems = (items: unknown) => {
  const faults = new Faults()
  parseItems(items, faults, '')
  return [...faults.list]
}
const readItems = (items: unknown) => parseItems(items, new Faults(), '')

const BAD_NAME = `a metric name must not hold ', ", % or control characters`
const NEARLY_ANY = fc.string({ unit: 'binary', maxLength: 40 })
const NASTY = fc.string({
  unit: fc.constantFrom(' ', "'", '"', '%', '\\', '\u0000', '\n', '\u007f', 'a', '😀'),
  maxLength: 20,
})

describe('stripping', () => {
  test.each([
    ['nightly import', 'nightly import'],
    [`a'b"c%d`, 'abcd'],
    [`'"%`, ''],
    ['a\u0000b\tc\nd\re\u001ff\u007fg', 'abcdefg'],
    ['a\u0080b\u00a0c', 'a\u0080b\u00a0c'],
    ['path\\', 'path'],
    ['path\\\\\\', 'path'],
    ['pa\\th', 'pa\\th'],
    [`path\\'`, 'path'],
    [`path\\%\\"`, 'path'],
    ['\\\\', ''],
    [' spaces stay ', ' spaces stay '],
    ['＇＂％', '＇＂％'],
  ])('%j is kept as %j', (text, kept) => {
    expect(stripText(text)).toBe(kept)
  })

  test('removes everything that InfluxDB or the API forbids, keeps the order, and is idempotent', () => {
    fc.assert(
      fc.property(fc.oneof(NEARLY_ANY, NASTY), (text) => {
        const kept = stripText(text)
        const filtered = [...text].filter((c) => !`'"%\u007f`.includes(c) && c >= ' ').join('')
        expect(filtered.startsWith(kept)).toBe(true)
        expect(filtered.slice(kept.length)).toMatch(/^\\*$/)
        expect(kept.endsWith('\\')).toBe(false)
        expect(stripText(kept)).toBe(kept)
      }),
    )
  })
})

describe('items', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `m${i}`, value: i }))
  const object = (count: number) => Object.fromEntries(many(count).map(({ name, value }) => [name, value]))

  test.each<[string, unknown, ...metrics: string[]]>([
    ['integers and decimals of any sign', { a: -1, b: 0.5, c: 0, d: -0 }, 'a=-1', 'b=0.5', 'c=0', 'd=0'],
    ['the ends of numbers', { e: 5e-324, f: Number.MAX_VALUE }, 'e=5e-324', 'f=1.7976931348623157e+308'],
    ['a metric called name', [{ name: 5 }], 'name=5'],
    ['a metric called value', [{ value: 5 }], 'value=5'],
    ['a metric called name beside one called value', [{ name: 5 }, { value: 6 }], 'name=5', 'value=6'],
    ['an object with name and value: two metrics', { name: 1, value: 2 }, 'name=1', 'value=2'],
    ['a metric called __proto__ in a list', [{ name: '__proto__', value: 1 }], '__proto__=1'],
    ['fifty in a list', many(50), ...many(50).map(({ name, value }) => `${name}=${value}`)],
  ])('may be %s', (_, items, ...metrics) => {
    expect(checkItems(items)).toEqual([])
    expect(readItems(items).map(([name, value]) => `${name}=${value}`)).toEqual(metrics)
  })

  const NO_ENTRY = 'must be {"name": …, "value": …} or a single name with its number'
  const NO_ITEMS = 'must be an object of numbers or a list of metrics'
  const NOT_FINITE = 'must be a finite number'
  test.each<[string, unknown, Record<string, string>]>([
    ['null', null, { '': NO_ITEMS }],
    ['a number', 5, { '': NO_ITEMS }],
    ['an empty object', {}, { '': 'must hold at least one metric' }],
    ['an empty list', [], { '': 'must hold at least one metric' }],
    ['51 in an object', object(51), { '': 'must hold at most 50 metrics' }],
    ['51 in a list', many(51), { '': 'must hold at most 50 metrics' }],
    ['null as a value', { a: null }, { '/a': NOT_FINITE }],
    ['a boolean as a value', { a: true }, { '/a': NOT_FINITE }],
    ['a list as a value', { a: [1] }, { '/a': NOT_FINITE }],
    ['one beyond the finite below', [{ name: 'a', value: -Infinity }], { '/0/value': NOT_FINITE }],
    ['every wrong one at once', { a: 1, b: null, "c'": 2 }, { '/b': NOT_FINITE, "/c'": BAD_NAME }],
    ['null as an entry', [null], { '/0': NO_ENTRY }],
    ['a list as an entry', [[{ a: 1 }]], { '/0': NO_ENTRY }],
    ['an empty entry', [{ a: 1 }, {}], { '/1': NO_ENTRY }],
    ['two members that are not name and value', [{ a: 1, b: 2 }], { '/0': NO_ENTRY }],
    ['a name with something else', [{ name: 'a', worth: 1 }], { '/0': NO_ENTRY }],
    ['a member too many', [{ name: 'a', value: 1, unit: 's' }], { '/0': NO_ENTRY }],
    ['a name twice in the long form', [{ a: 1 }, { name: 'a', value: 1 }], { '/1/name': 'names a metric twice' }],
    ['a single member with a bad name and value', [{ 'a%': 'x' }], { '/0/a%': BAD_NAME }],
    ['a name that is no string', [{ name: 5, value: 1 }], { '/0/name': 'must be a string' }],
    ['null for both', [{ name: null, value: null }], { '/0/name': 'must be a string', '/0/value': NOT_FINITE }],
  ])('may not be %s', (_, items, faults) => {
    expect(checkItems(items)).toEqual(Object.entries(faults).map(([pointer, detail]) => ({ pointer, detail })))
  })

  test('never throw and are read whenever they pass, whatever JSON they are', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (items) => {
        if (checkItems(items).length > 0) return
        const metrics = readItems(items)
        expect(metrics.length).toBeGreaterThan(0)
        expect(metrics.length).toBeLessThanOrEqual(LIMITS.items)
        for (const [name, value] of metrics) {
          expect(nameFault(name)).toBeUndefined()
          expect(Number.isFinite(value)).toBe(true)
        }
      }),
    )
  })

  test('mean the same in all three forms', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((s) => nameFault(s) === undefined)
    const metric = fc.tuple(name, fc.double({ noNaN: true, noDefaultInfinity: true }))
    fc.assert(
      fc.property(fc.uniqueArray(metric, { minLength: 1, maxLength: 50, selector: ([n]) => n }), (metrics) => {
        const forms = [
          Object.fromEntries(metrics),
          metrics.map(([name, value]) => ({ name, value })),
          metrics.map(([name, value]) => Object.fromEntries([[name, value]])),
        ]
        for (const form of forms) {
          expect(checkItems(form)).toEqual([])
          expect(new Map(readItems(form))).toEqual(new Map(metrics))
        }
      }),
    )
  })
})
