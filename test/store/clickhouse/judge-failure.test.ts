import { describe, expect, test } from 'bun:test'
import { ClickHouseFault, judgeFailure, toFault } from '../../../src/store/clickhouse/judge-failure.ts'

const coded = (code: string, type: string, message: string) => Object.assign(new Error(message), { code, type })

describe('a fault has a reason without what was sent:', () => {
  test.each([
    [
      'a row',
      coded(
        '27',
        'CANNOT_PARSE_INPUT_ASSERTION_FAILED',
        `Cannot parse input: expected '"' before: 'my secret",1]': (while reading the value of key at): (at row 3)\n: While executing ParallelParsingBlockInputFormat. `,
      ),
      '27 CANNOT_PARSE_INPUT_ASSERTION_FAILED: Cannot parse input',
    ],
    [
      'a row after the marker',
      coded('72', 'CANNOT_PARSE_NUMBER', 'Cannot read floating point value here: my secret: (at row 1)'),
      '72 CANNOT_PARSE_NUMBER: Cannot read floating point value here',
    ],
    [
      'a value in quotes with an escaped quote and no end',
      coded('36', 'BAD_ARGUMENTS', "Cannot take 'it\\'s my secret' as Int64, 'and my secret"),
      "36 BAD_ARGUMENTS: Cannot take '…' as Int64, '…'",
    ],
    [
      'a query',
      coded('62', 'SYNTAX_ERROR', 'Syntax error: failed at position 12 (secret): my secret. Expected one of: token'),
      '62 SYNTAX_ERROR: Syntax error',
    ],
    [
      'a name',
      coded('60', 'UNKNOWN_TABLE', 'Table stint.marks_raw does not exist. '),
      '60 UNKNOWN_TABLE: Table stint.marks_raw does not exist.',
    ],
    [
      'the password',
      coded('516', 'AUTHENTICATION_FAILED', 'stint: pass-word is rejected'),
      '516 AUTHENTICATION_FAILED: stint: [password] is rejected',
    ],
    [
      'the password in an address',
      Object.assign(new Error('connect ECONNREFUSED http://stint:pass-word@host'), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED: connect ECONNREFUSED http://stint:[password]@host',
    ],
    ['a page of a proxy', new Error('<html>502 my secret</html>'), "an answer that is not ClickHouse's (Error)"],
    ['a time-out', new Error('Timeout error.'), 'no answer in time'],
  ])('%s', (_, error, expected) => {
    const { message } = toFault(error, 'pass-word')
    expect(message).not.toContain('secret')
    expect(message).toBe(expected)
  })

  test('a long message', () => {
    const { message } = toFault(coded('243', 'NOT_ENOUGH_SPACE', 'Cannot reserve '.repeat(1000)), '')
    expect(message.length).toBeLessThan(320)
  })
})

describe('what a failure means', () => {
  test('every row code refuses, and an unknown code waits', () => {
    const kinds = (codes: number[]) => new Set(codes.map((code) => judgeFailure(new ClickHouseFault('x', code)).kind))
    expect(kinds([25, 26, 27, 38, 41, 53, 72, 117, 407])).toEqual(new Set(['refused']))
    expect(kinds([516, 192, 193, 194, 497, 60, 81, 243, 16, 36, 62, 115, 0, 99_999])).toEqual(new Set(['wait']))
    expect(kinds([159, 202, 209, 210, 241, 242, 252, 999])).toEqual(new Set(['retry']))
  })

  test('a column that is missing comes with the way out', () => {
    const message = 'No such column fingerprint in table stint.exceptions_raw.'
    expect(judgeFailure(toFault(coded('16', 'NO_SUCH_COLUMN_IN_TABLE', message), ''))).toEqual({
      kind: 'wait',
      reason: expect.stringMatching(/No such column fingerprint in table stint.exceptions_raw. .* ADD COLUMN/),
    })
  })

  test('an error without code is a temporary network error', () => {
    expect(judgeFailure(toFault(new Error('socket hang up'), '')).kind).toBe('retry')
  })

  test("too many partitions and a proxy's size limit ask for a split", () => {
    const partitions = 'Too many partitions for single INSERT block (more than 100). The limit is controlled by …'
    expect(judgeFailure(toFault(coded('252', 'TOO_MANY_PARTS', partitions), '')).kind).toBe('too_large')
    const page = '<html><head><title>413 Request Entity Too Large</title></head></html>'
    expect(judgeFailure(toFault(new Error(page), '')).kind).toBe('too_large')
  })

  test('an error of another origin is not mapped to the store', () => {
    expect(() => judgeFailure(new TypeError('x'))).toThrow(TypeError)
  })
})
