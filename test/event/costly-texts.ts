// Texts that could make a fingerprint slow, and what one costs.

export const CHARS = 15_000
const LISTED =
  'a|1|"|\'|`|(|[|{|<|:|::|.|,|1,|1.|a.|a@|@/|a@/|//|a-|0x|1a|-1|é|\\|/|C:\\|\n|\r| |\t|at |    at a (b:1:2)\n|at a (|at a(|eval at |' +
  'File "|  File "a", line 1, in b\n|Traceback (most recent call last)\n|goroutine 1 [|a()\n\t/a.go:1\n|#0 |#0 a(1): b(\n|#0 0x1 in a(|' +
  "a:1:in 'b|from |thread 'a|panicked at |stack backtrace:\n|   0: a\n|0 a + 1 in b at |caused by |Caused by: |---> |Error: |a::a|A.A|$1|__1|" +
  'a@b/|a@/:1:1\n|2026-11-20T|12:34:56|Mon, |Nov 20 |10.0.0.|ab:|https://a?|Uncaught |Unhandled exception. |<number>, |,"|":|"a" |\'a\' |' +
  "x='a' |for user a |connect a:1|connecting to a| at a/| at //a line |user a |user=|a:\\a |a:\\a a a a\\|/home/a/|a?a=|://a/1|(@INC |dup key: {|\"a b not '|Error(1, '|Error: (1, 'a |" +
  "(1234)\n|mysql: (1234)\n|MySQL server on 'a' (1|'\\\\'|with message '|with url: |Got error: |(node:1) |what(): |" +
  "x='a' |status 1 |error |(code |=(|Unexpected token |in JSON|/tmp/|SQLSTATE[|<number> as |fatal error: |.php in /a:1| (A|" +
  'https://a/1|a.b.c:80|a:8080|host a|lookup a on |resolve host |connect to a|connect to a port |ID: a1|id=|arn:aws:a:b|bucket a-|bucket a |' +
  '/srv/a/|/srv/|../|./|a/b.go|C:\\a\\|\\\\a\\|is valid for a|names: |Certificate for <|<date> |<date> a b[1]: |[1] |[ |<address>|a@b:/c.git|' +
  "Command '['a|','|image a:|Table a.|/a:|/a:/|1-|1-1_|1.1.|1:1:|1 1 |(a=1, | (1)| [1]|eyJa.|#PID<1|20 de |20 novembre |oct. 2|" +
  '404 Not Found |E1 <date> |addr=|url=http://a/| a=|-bcdfg|a1.gz|1.csv|/1.gz|rsync: |/srv/a1/|[a] =>|server at a.|a@b:a|a.com|' +
  "LINE 1: |1-rc|` in (|'a clause' |c__AnonStorey1|at a.b (c) [0x0] in <|error A1|A1B2|a@1f|" +
  ':a.git|ERROR : a|ERROR : a: |unix:///|ip-1-1-1-1.|tcp :1|refused (a:1|No such container: a|: [|a: Name or service not known|a- |$ a'
/** Whole lines that were slow once, and what loggers print before a line. */
const PRINTED = ['a-1  | ', 'a  | a\n', '[pod/', '│ ', '\u001b[1m', 'Nov 20 03:00:00 a b[1]: ', '03:00:00 [A]: at a']
const LINES = [
  ...PRINTED,
  '2026-11-20T03:00:00Z a\n',
  '(a) b.ex:1: c\n',
  '** (A) a\n',
  "',)",
  'a.b [<address>]',
  'a=b;',
  'a/b.rb',
  'ERROR <date> ',
  ...[
    '{"level":"error","msg":"no rows","err":{"stack":"Error: a\\n    at a (b:1:2)"}}\n',
    '{"log":"at a (b:1:2)\\n"}\n',
    '{"a":',
  ],
  ...[
    '{"a":"{\\"a\\":\\"b\\"}"}\n',
    '\u001b]8;;a\u0007',
    '\u001b]',
    'a\b',
    '\r1%',
    'SELECT ',
    'SELECT a FROM b WHERE c = 1 ',
  ],
  ...['INSERT INTO a VALUES (1, (2)), ', 'UPDATE a SET b = (', "select a from b where c = '", 'Monday ', '1st ', '٣ '],
  ...[
    '[03:00:01] at a (b:1:2)\n',
    '[1] a\n[2]  at a (b:1:2)\n',
    'a  at ',
    '==1==ERROR: a\n',
    'a: failed ',
    '  a: b\n',
    'a: b c\nd\n',
  ],
  `@${'/'.repeat(998)}\n`,
  `a@${'a/'.repeat(498)}\n`,
  `${'('.repeat(998)}\n`,
]
export const STARTS = [
  '',
  'Error: ',
  'Error: x\n    at a (b:1:2)\n',
  'a.sh: exited with code 1\n',
  '"',
  'Traceback (most recent call last):\n',
]
export const UNITS: readonly string[] = [...LISTED.split('|'), ...LINES]

export const fill = (unit: string, start = ''): string =>
  (start + unit.repeat(Math.ceil(CHARS / unit.length))).slice(0, CHARS)
