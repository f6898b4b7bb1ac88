import { describe, expect, test } from 'bun:test'
import { type Cursor, decodeCursor, encodeCursor } from '../../src/query/cursor.ts'

const cursor: Cursor = {
  fromNs: 1_763_670_000_000_000_001n,
  toNs: 1_763_673_600_000_000_002n,
  nowNs: 1_763_673_600_000_000_003n,
  place: ['1763671000000000042', 'größe "x"'],
  digest: 'abc',
}
const forge = (body: unknown) =>
  Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)).toString('base64url')
const body = (changes: object = {}) => ({ v: 1, range: ['1', '2', '3'], place: ['1'], digest: 'd', ...changes })

test('a cursor decodes to its content and is safe in a URL', () => {
  const text = encodeCursor(cursor)
  expect(decodeCursor(text)).toEqual(cursor)
  expect(encodeURIComponent(text)).toBe(text)
})

describe('rejects invalid cursors:', () => {
  test.each([
    ['no base64url', 'a+b/c='],
    ['no JSON', forge('{')],
    ['null', forge('null')],
    ['another version', forge(body({ v: 2 }))],
    ['a range of numbers', forge(body({ range: [1, 2, 3] }))],
    ['a range of two', forge(body({ range: ['1', '2'] }))],
    ['an empty range', forge(body({ range: ['2', '2', '3'] }))],
    ['a negative time', forge(body({ range: ['-1', '2', '3'] }))],
    ['a time no store holds', forge(body({ range: ['1', '9999999999999999999', '3'] }))],
    ['a place of numbers', forge(body({ place: [1] }))],
    ['too long a text', forge(body({ digest: 'x'.repeat(10_000) }))],
  ])('%s', (_, text) => expect(decodeCursor(text)).toBeUndefined())

  test('accepts the cursor these are derived from', () => {
    expect(decodeCursor(forge(body()))).toEqual({ fromNs: 1n, toNs: 2n, nowNs: 3n, place: ['1'], digest: 'd' })
  })
})
