import { describe, expect, test } from 'bun:test'
import { fingerprint, normalizeException } from '../../src/event/fingerprint.ts'
import { FAULTS } from './traces.ts'

describe.each(FAULTS)('$language: $fault', ({ occurrences: [one, another], normal }) => {
  test('leaves what does not vary', () => {
    expect(normalizeException(one)).toBe(normal)
    expect(normalizeException(another)).toBe(normal)
  })

  test('has one fingerprint', () => {
    expect(fingerprint(one)).toMatch(/^v1:[0-9a-f]{16}$/)
    expect(fingerprint(another)).toBe(fingerprint(one))
  })

  test('is the same with other line ends and a line break at its end', () => {
    expect(fingerprint(`${one.replaceAll('\n', '\r\n')}\r\n`)).toBe(fingerprint(one))
  })
})

test('no two faults of the table share a fingerprint', () => {
  expect(new Set(FAULTS.map(({ occurrences }) => fingerprint(occurrences[0]))).size).toBe(FAULTS.length)
})

test('a fingerprint never changes within its version', () => {
  expect(fingerprint('')).toBe('v1:e3b0c44298fc1c14')
  expect(fingerprint('TypeError: x\n    at load (/srv/a.ts:1:2)')).toBe('v1:977286fab9a051fd')
})

describe('another fault is', () => {
  const trace = (type: string, message: string, frames: string[]) =>
    [`${type}: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n')
  const base = trace('TypeError', 'x is not a function', ['load (/srv/a.ts:1:2)', 'main (/srv/b.ts:3:4)'])
  test.each([
    ['of another type', trace('RangeError', 'x is not a function', ['load (/srv/a.ts:1:2)', 'main (/srv/b.ts:3:4)'])],
    ['of another message', trace('TypeError', 'y is not a function', ['load (/srv/a.ts:1:2)', 'main (/srv/b.ts:3:4)'])],
    [
      'in another function',
      trace('TypeError', 'x is not a function', ['store (/srv/a.ts:1:2)', 'main (/srv/b.ts:3:4)']),
    ],
    ['in another file', trace('TypeError', 'x is not a function', ['load (/srv/c.ts:1:2)', 'main (/srv/b.ts:3:4)'])],
    [
      'in a function with another number',
      trace('TypeError', 'x is not a function', ['load2 (/srv/a.ts:1:2)', 'main (/srv/b.ts:3:4)']),
    ],
    [
      'reached another way',
      trace('TypeError', 'x is not a function', ['load (/srv/a.ts:1:2)', 'test (/srv/b.ts:3:4)']),
    ],
  ])('one %s', (_, other) => expect(fingerprint(other)).not.toBe(fingerprint(base)))

  test('not one that was only reached another way further down', () => {
    const frames = (last: string) => ['a', 'b', 'c', 'd', 'e', last].map((name) => `${name} (/srv/a.ts:1:2)`)
    expect(fingerprint(trace('Error', 'x', frames('f')))).toBe(fingerprint(trace('Error', 'x', frames('g'))))
  })
})

describe('what is no trace is not taken for one:', () => {
  test.each([
    ['a sentence with at', 'failed\n  at the end (of the day)', 'failed\nat the end (of the day)'],
    ['an address with a port', 'failed\nada@example.com:25:1', 'failed\n<address>:<number>:<number>'],
    ['a list with numbers', 'failed\n#1 one\n#2 two', 'failed\n#<number> one\n#<number> two'],
    ['a debugger of C', '#0  0x00007f1a in read () at io.c:12', '#<number> <number> in read () at io.c:<number>'],
    ['nothing at all', ' \n\t\n', ''],
  ])('%s', (_, text, normal) => expect(normalizeException(text)).toBe(normal))
})

describe('a text of 15,000 characters takes little time, whatever it holds:', () => {
  const units =
    'a|1|"|\'|`|(|[|{|<|:|::|.|,|1,|1.|a.|a@|a-|0x|1a|-1|é|\\|/|C:\\|\n|\r| |\t|at |    at a (b:1:2)\n|at a (|at a(|eval at |' +
    'File "|  File "a", line 1, in b\n|Traceback (most recent call last)\n|goroutine 1 [|a()\n\t/a.go:1\n|#0 |#0 a(1): b(\n|' +
    "a:1:in 'b|from |thread 'a|panicked at |stack backtrace:\n|   0: a\n|caused by |Caused by: |---> |Error: |a::a|A.A|$1|__1|" +
    'a@b/|a@/:1:1\n|2026-11-20T|12:34:56|Mon, |Nov 20 |10.0.0.|ab:|https://a?|Uncaught |Unhandled exception. |<number>, |,"|":'
  test.each(units.split('|').map((unit) => [unit]))('%j', (unit) => {
    const text = unit.repeat(Math.ceil(15_000 / unit.length)).slice(0, 15_000)
    const began = performance.now()
    for (const hostile of [text, `Error: ${text}!`, `Error: x\n    at a (${text}`, `"${text}`]) fingerprint(hostile)
    expect(performance.now() - began).toBeLessThan(4000)
  })
})
