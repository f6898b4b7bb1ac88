import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  fingerprint,
  formerFingerprint,
  normalizeException,
  rememberFingerprints,
} from '../../src/event/fingerprint.ts'
import { asLogs, logLines, readCorpus, readTraces, sortFaults } from './corpus.ts'

const FAULTS = readTraces()

test.each(FAULTS)(
  '$fault: keeps the constant parts, in one group whatever the line endings',
  ({ one, another, normal }) => {
    expect(normalizeException(one)).toBe(normal)
    expect(normalizeException(another)).toBe(normal)
    expect(fingerprint(one)).toMatch(/^v5:[0-9a-f]{16}$/)
    for (const text of [another, `${one.replaceAll('\n', '\r\n')}\r\n`])
      expect(fingerprint(text)).toBe(fingerprint(one))
  },
)

test('no two faults of the table share a fingerprint', () => {
  expect(new Set(FAULTS.map(({ one }) => fingerprint(one))).size).toBe(24)
})

test('groups a corpus of errors in ten languages with at most 1 % wrong merges and splits', () => {
  const faults = readCorpus()
  const texts = faults.flatMap((fault) => fault.texts)
  expect(texts.length).toBeGreaterThanOrEqual(200)
  expect(faults.length).toBeGreaterThanOrEqual(70)
  const { merges, splits } = sortFaults(faults, fingerprint)
  console.log(
    `${texts.length} texts of ${faults.length} faults: ${merges.length} wrong merges, ${splits.length} wrong splits`,
  )
  if (merges.length + splits.length > 0) console.log([...merges, ...splits].join('\n'))
  expect(merges.length + splits.length).toBeLessThanOrEqual(texts.length / 100)
})

test.each([
  ['exceptions', readCorpus('trackers.txt')],
  ['logs of stint exec', asLogs(readCorpus('trackers.txt'))],
  ['exceptions of other reports', readCorpus('reports.txt')],
  ['logs of these', asLogs(readCorpus('reports.txt'))],
])('groups errors of public trackers, as %s, with at most 0.5 %% wrong merges and 5 %% splits', (_, faults) => {
  const texts = faults.flatMap((fault) => [...new Set(fault.texts)])
  const { merges, splits } = sortFaults(faults, fingerprint)
  console.log(
    `${texts.length} texts of ${faults.length} faults: ${merges.length} wrong merges, ${splits.length} wrong splits`,
  )
  expect(merges.length).toBeLessThanOrEqual(texts.length / 200)
  expect(splits.length).toBeLessThanOrEqual((5 * texts.length) / 100)
})

test.each([
  ['as exceptions', (text: string) => text],
  ['as logs of stint exec', (text: string) => `job: exited with code 1\nstarting\n${text}`],
])('no two of the faults that look alike share a fingerprint, %s', (_, wrap) => {
  const texts = readFileSync(join(import.meta.dir, 'look-alikes.txt'), 'utf8')
    .trimEnd()
    .split('\n')
  const groups = Map.groupBy(texts, (text) => fingerprint(wrap(text))).values()
  expect([...groups].filter((group) => group.length > 1)).toEqual([])
})

test.each([
  ['as exceptions', readCorpus('repetitions.txt')],
  ['as logs of stint exec', asLogs(readCorpus('repetitions.txt'))],
])('occurrences that differ in a value are one group, %s, but for 4 of a hundred', (_, faults) => {
  const texts = faults.flatMap((fault) => [...new Set(fault.texts)])
  expect(sortFaults(faults, fingerprint).splits.length).toBeLessThanOrEqual((4.5 * texts.length) / 100)
})

test('the count of wrong merges and splits detects both', () => {
  const fault = (name: string, ...texts: string[]) => ({ name, texts })
  expect(sortFaults([fault('a', 'x', 'y'), fault('b', 'x')], (text) => text)).toEqual({
    merges: ['b = a'],
    splits: ['a: y'],
  })
})

test.each([
  ['v5', fingerprint, ['v5:e3b0c44298fc1c14', 'v5:977286fab9a051fd', 'v5:8278b4a54dbf518f'], '2e831064380c4448'],
  ['v4', formerFingerprint, ['v4:e3b0c44298fc1c14', 'v4:977286fab9a051fd', 'v4:8278b4a54dbf518f'], '4a6deaefcfd7a524'],
] as const)('a fingerprint never changes within its version: %s', (_, fingerprintOf, few, all) => {
  const texts = [
    '',
    'TypeError: x\n    at load (/srv/a.ts:1:2)',
    "import.sh: exited with code 3\nrow 12: no rate for 'EUR'",
  ]
  expect(texts.map((text) => fingerprintOf(text))).toEqual([...few])
  const corpus = readCorpus().flatMap((fault) => fault.texts.map((text) => fingerprintOf(text)))
  // Changes with the corpus; the count shows whether it did.
  const digest = createHash('sha256').update(corpus.join()).digest('hex').slice(0, 16)
  expect([corpus.length, digest]).toEqual([615, all])
})

describe('a failure of stint exec', () => {
  const failure = (log: string, ...said: string[]) => ['import.sh: exited with code 1', log, ...said].join('\n')

  test('is one group, whatever its log contains and wherever it was cut off', () => {
    const texts = Array.from({ length: 100 }, (_, i) =>
      failure(logLines(200 + i, i), `fatal: no space left on /data/${i}`),
    )
    expect(new Set(texts.map(fingerprint)).size).toBe(1)
  })

  test('is grouped by its last lines, not by its first ones', () => {
    const log = Array.from({ length: 12 }, (_, i) => `step ${i} done`).join('\n')
    const said = ['no such host', 'connection refused', 'permission denied', 'disk full', 'bad gateway']
    expect(new Set(said.map((line) => fingerprint(failure(log, line)))).size).toBe(5)
  })

  test('is grouped by its ending', () => {
    const endings = ['exited with code 1', 'exited with code 2', 'was ended by SIGKILL', 'was ended by SIGTERM']
    const texts = [...endings, 'timed out after 30 s and was ended by SIGTERM'].map(
      (ending) => `a.sh: ${ending}\nno rows`,
    )
    expect(new Set(texts.map(fingerprint)).size).toBe(5)
  })

  test('is grouped by the trace at its end', () => {
    expect(normalizeException(failure(logLines(30, 1), 'RangeError: no row 5', '    at load (/srv/a.ts:1:2)'))).toBe(
      'import.sh: exited with code 1\nRangeError: no row <number>\n  at load (a.ts)',
    )
  })

  test('is not grouped by a trace whose beginning was cut off, since the remaining frames are arbitrary', () => {
    const frames = (from: number) =>
      Array.from({ length: 9 - from }, (_, i) => `    at step${i + from} (/srv/a.ts:1:2)`)
    const cut = (from: number) => `node: exited with code 1\n${frames(from).join('\n')}\n    at main (/srv/b.ts:3:4)`
    expect(fingerprint(cut(2))).toBe(fingerprint(cut(5)))
  })

  test('is grouped only by its ending if just the end of one long line was kept', () => {
    expect(normalizeException(failure('x y '.repeat(3000)))).toBe('import.sh: exited with code 1')
  })

  test('does not match text that only looks like one', () => {
    expect(normalizeException('the job exited with code 3 and 5 rows')).toBe(
      'the job exited with code 3 and <number> row',
    )
  })
})

describe('a quoted text', () => {
  test.each([
    ["no column 'user_name'", "no column 'user_name'"],
    ['relation "shop.users" does not exist', 'relation "shop.users" does not exist'],
    ['because "<local4>.name()" is null', 'because "<local<number>>.name()" is null'],
    ['because "Map.get(Object, int)" is null', 'because "Map.get(Object, int)" is null'],
    ["no command 'git-lfs'", "no command 'git-lfs'"],
    ["no customer 'Ada Lovelace'", 'no customer <string>'],
    ["no key '4711'", 'no key <string>'],
    ["no key 'user:4711'", "no key 'user:<number>'"],
    ["no key '3f2a9c1e-1b2c-4d5e-8f90-123456789abc'", 'no key <string>'],
    ["no key 'ada@example.com'", 'no key <string>'],
    ["cannot open '/etc/app.conf'", "cannot open 'app.conf'"],
    ["cannot open '/data/2026-11-20.csv'", 'cannot open <string>'],
    ["cannot open '/tmp/tmpqkzvbwxy/x'", 'cannot open <string>'],
    ['For input string: "abc"', 'For input string: <string>'],
    ["'abc' is not a valid Color", '<string> is not a valid Color'],
    ["{'user': 'ada lee', 'message': 'no room 5'}", "{'user': <string>, 'message': 'no room <number>'}"],
    ['msg="no room" user="ada"', 'msg="no room" user=<string>'],
  ])('%s', (text, normal) => expect(normalizeException(text)).toBe(normal))
})

describe('keeps a number that identifies the error:', () => {
  const kept = [
    'exit status 3',
    'exit code: 3',
    'HTTP 404',
    'HTTP/1.1 503',
    'status=503',
    'status code 503',
    'SQLSTATE[42P01]',
  ]
  const also = ['SQLSTATE: 42P01', '[Errno 13] no', '(os error 2)', 'signal 9', 'ORA-00942', 'curl: (22) no']
  test.each([...kept, ...also, 'ERROR 1062 (23000)', 'code=2', 'HRESULT: 0x80070005', 'cannot decode utf8'])(
    '%s',
    (text) => expect(normalizeException(text)).toBe(text),
  )
  test.each([
    ['404 Not Found: x', '404: x'],
    ['404 rows', '<number> row'],
    ['1 row', '<number> row'],
    ['took 30 s', 'took <number>'],
    ['took 1m30s', 'took <number>'],
    ['postal code 10115', 'postal code <number>'],
    ['order 4711', 'order <number>'],
    ['returned 404 rows', 'returned <number> row'],
  ])('%s', (text, normal) => expect(normalizeException(text)).toBe(normal))
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

  test('ignores differences in deeper frames', () => {
    const frames = (last: string) => ['a', 'b', 'c', 'd', 'e', last].map((name) => `${name} (/srv/a.ts:1:2)`)
    expect(fingerprint(trace('Error', 'x', frames('f')))).toBe(fingerprint(trace('Error', 'x', frames('g'))))
  })
})

describe('is not recognised as a trace:', () => {
  test.each([
    ['a sentence with at', 'failed\n  at the end (of the day)', 'failed\nat the end (of the day)'],
    ['an address with a port', 'failed\nada@example.com:25:1', 'failed\n<address>:<number>'],
    ['a list with numbers', 'failed\n#1 one\n#2 two', 'failed\n#<number> one\n#<number> two'],
    ['nothing at all', ' \n\t\n', ''],
  ])('%s', (_, text, normal) => expect(normalizeException(text)).toBe(normal))

  test('recognises frames of C debuggers', () =>
    expect(normalizeException('#0  0x00007f1a in read () at io.c:12')).toBe('  at read (io.c)'))
})

test('a text that repeats is fingerprinted once, until as many characters of others have come', () => {
  const computed: string[] = []
  const fingerprintOf = rememberFingerprints(100, (text) => {
    computed.push(text)
    return `of ${text}`
  })
  const [a, b] = ['a'.repeat(20), 'b'.repeat(20)]
  for (const text of [a, b, a, b]) expect(fingerprintOf(text)).toBe(`of ${text}`)
  expect(computed).toEqual([a, b])
  fingerprintOf('c'.repeat(40))
  expect(fingerprintOf(a)).toBe(`of ${a}`)
  expect(computed).toHaveLength(3)
  for (const text of ['d', 'e', 'f', 'g']) fingerprintOf(text.repeat(40))
  fingerprintOf(b)
  expect(computed).toHaveLength(8)
  expect(fingerprintOf('h'.repeat(1000))).toBe(`of ${'h'.repeat(1000)}`)
})

test.each([
  ...'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ').map((month) => [`20 ${month} 2026`, '<date>']),
  ['20/11/2026', '<date>'],
  ['20.11.2026', '<date>'],
  ['21:52:10', '<date>'],
  ['10.0.0.17:80', '<address>'],
  ['00:1A:2b:3c:4d:5e', '<address>'],
  ['00-1a-2b-3c-4d-5e', '<address>'],
  ['fe80::1', '<address>'],
  ['7f3a12bc9d', '<number>'],
  ['user42x', '<number>'],
])('%s varies', (text, placeholder) => {
  expect(normalizeException(`failed with ${text} there`)).toBe(`failed with ${placeholder} there`)
})
