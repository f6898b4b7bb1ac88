import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { headlineOf } from '../../src/wire/headline.ts'
import HEADLINES from './headlines.json'

const PYTHON = 'Traceback (most recent call last):\n  File "job.py", line 3, in <module>\n    load()\n    ~~~~^^'

test.each([
  ['a Python traceback', `${PYTHON}\nValueError: row 3 is bad\n`, 'ValueError: row 3 is bad'],
  [
    'a Python traceback with CRLF',
    `${PYTHON}\nValueError: row 3 is bad`.replaceAll('\n', '\r\n'),
    'ValueError: row 3 is bad',
  ],
  ['a Python message of two lines', `${PYTHON}\nValueError: row 3 is bad\nand row 4`, 'ValueError: row 3 is bad'],
  ['a Python exception without a message', `${PYTHON}\nKeyboardInterrupt`, 'KeyboardInterrupt'],
  [
    'chained Python exceptions',
    `${PYTHON}\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n${PYTHON}\nValueError: b`,
    'ValueError: b',
  ],
  [
    'a Python exception group',
    '  + Exception Group Traceback (most recent call last):\n  |   File "job.py", line 1, in <module>\n  |     raise group\n  | ExceptionGroup: two (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File "job.py", line 2, in f\n    | ValueError: inner\n    +------------------------------------',
    'ExceptionGroup: two (2 sub-exceptions)',
  ],
  [
    'a Python job under stint exec',
    `python3: exited with code 1\n${PYTHON}\nValueError: row 3 is bad`,
    'ValueError: row 3 is bad',
  ],
  ['a job that names its fault', 'sh: exited with code 4\nValueError: row 3 is bad', 'ValueError: row 3 is bad'],
  [
    'a job that names several faults',
    'sh: exited with code 1\nno such table: a\nINFO failed once\n  ERROR: no rows \nbye',
    'ERROR: no rows',
  ],
  ['a prefixed Java exception', 'Caused by: a.B: no\n  of two lines\n\tat a.C.d(C.java:1)', 'a.B: no'],
  ['a rejection of Node', '(node:7) UnhandledPromiseRejectionWarning: Error: no\n    at a (b:1:2)', 'Error: no'],
  ['an error of Elixir', '03:00:01 [error] GenServer a terminating\n** (ArgumentError) no', '** (ArgumentError) no'],
  [
    'a Rust panic of one line',
    "a: exited with code 101\nthread 'a' panicked at 'no', a.rs:1:2\nnote: run with",
    "thread 'a' panicked at 'no', a.rs:1:2",
  ],
  ['a log with a prefix', `${PYTHON}\nKeyError: 'a'`.replace(/^/gm, 'Nov 20 03:00:01 web app[7]: '), "KeyError: 'a'"],
  ['a container and colours', 'sh: exited with code 1\nweb-1  | \u001b[31mERROR\u001b[0m no rows', 'ERROR no rows'],
  [
    'a job whose fault stands above its frames',
    `a: exited with code 1\nno such row\n${'\tat x\n'.repeat(20)}`,
    'no such row',
  ],
  ['a job that names no fault', 'sh: exited with code 4\n12 rows\nWARN failed once', 'WARN failed once'],
  ['a job that says nothing', 'sh: exited with code 4', 'sh: exited with code 4'],
  ['a job that named a fault long before its end', `sh: exited with code 4\nerror: a\n${'row\n'.repeat(10)}`, 'row'],
  [
    'a job that timed out',
    'sh: timed out after 30 s and was ended by SIGTERM\nerror: a',
    'sh: timed out after 30 s and was ended by SIGTERM',
  ],
  ['a job that was killed', 'sh: was ended by SIGKILL\nerror: a', 'sh: was ended by SIGKILL'],
  ['a text of several lines that is not of a job', 'no rows\nerror: a', 'no rows'],
  ['a traceback that was cut off', PYTHON, 'Traceback (most recent call last):'],
  ['a JavaScript error', 'TypeError: x is undefined\n    at load (import.ts:12:9)', 'TypeError: x is undefined'],
  [
    'an uncaught JavaScript error as Node prints it',
    "/srv/a.js:3\n    throw new Error('x')\n          ^\n\nError: disk full\n    at main (/srv/a.js:3:9)\n\nNode.js v22.1.0",
    'Error: disk full',
  ],
  ['a JavaScript error with a code', 'Error [ERR_X]: no\n    at a (b:1:2)', 'Error [ERR_X]: no'],
  [
    'a JavaScript message of several lines',
    'ValidationError: two faults\n  - a is missing\n  - b is missing\n    at check (a.js:1:2)',
    'ValidationError: two faults',
  ],
  [
    'a Java exception with its cause',
    'Exception in thread "main" java.lang.IllegalStateException: no rows\n\tat A.main(A.java:3)\nCaused by: java.io.IOException: closed\n\tat B.b(B.java:1)',
    'java.lang.IllegalStateException: no rows',
  ],
  [
    'a .NET exception',
    'Unhandled exception. System.InvalidOperationException: no rows\n   at Program.Main()',
    'System.InvalidOperationException: no rows',
  ],
  [
    'a Go panic',
    'worker: exited with code 2\npanic: index out of range [3]\n\ngoroutine 1 [running]:',
    'panic: index out of range [3]',
  ],
  ['a Rust panic', "thread 'main' panicked at src/main.rs:2:5:\nrow 3 is bad\nnote: run with …", 'row 3 is bad'],
  [
    'a Ruby error',
    "job.rb:1:in 'load': row 3 is bad (ArgumentError)\n\tfrom job.rb:4:in '<main>'",
    "job.rb:1:in 'load': row 3 is bad (ArgumentError)",
  ],
  [
    'a JSON log whose template follows its second sentence',
    '{"level":"error","message":"night job stopped","event":"Loaded 3 rows","@mt":"Loaded {n} rows"}',
    'ERROR night job stopped: Loaded 3 rows',
  ],
  ['a text of one line', 'no rows', 'no rows'],
  ['a text that begins with empty lines', '\n  \n  no rows  \nmore', 'no rows'],
  ['an empty text', '', ''],
  ['white space', ' \n\t\n', ''],
])('the headline of %s', (_, text, headline) => {
  expect(headlineOf(text)).toBe(headline)
})

test.each(HEADLINES)('the headline says why: $name', ({ text, says }) => {
  expect(says.filter((said) => headlineOf(text).includes(said))).not.toEqual([])
})

test('a headline is always one line, empty only for a blank text, and part of it', () => {
  const line = fc.constantFrom(
    '',
    ' ',
    '  at x',
    'Traceback (most recent call last):',
    '  + Exception Group Traceback (most recent call last):',
    '  | a',
    "thread 'a' panicked at b",
    'panic: c',
    'E: d',
    'é😀',
  )
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom('\n', '\r\n', '\r'), (lines, lineBreak) => {
      const text = lines.join(lineBreak)
      const headline = headlineOf(text)
      expect(headline).not.toMatch(/[\r\n]/)
      expect(text).toContain(headline)
      expect(headline === '').toBe(text.trim() === '')
    }),
  )
})

// An expression that backtracks would exceed the time limit of the test.
test('a text of the largest size is read to a headline within it', () => {
  for (const text of [
    'a '.repeat(7500),
    'a.'.repeat(7500),
    '|'.repeat(15_000),
    `${'Uncaught '.repeat(1600)}\n  at x`,
  ]) {
    expect(text).toContain(headlineOf(text))
  }
})
