// What a line is, before words are searched in it: terminals, lines of JSON, prefixes.
import { describe, expect, test } from 'bun:test'
import { asPrinted } from '../../src/event/reading/printed-text.ts'
import { readText } from '../../src/event/reading/read-text.ts'

describe('what a terminal would show', () => {
  test.each([
    ['a title', '\u001b]0;backup\u0007no rows', 'no rows'],
    ['a link', 'see \u001b]8;;https://a.example\u001b\\rates\u001b]8;;\u001b\\', 'see rates'],
    ['a title that never ends', '\u001b]0;backup\nno rows', '\nno rows'],
    ['colours of every form', '\u001b[38;2;1;2;3mno\u001b[0K rows\u001b[?25h\u001b(B', 'no rows'],
    ['backspaces', 'roms\b\bws', 'rows'],
    ['a backspace at the start of a line', 'a\n\b\bb', 'a\nb'],
    ['states of a progress line', ' 1% [=>  ]\r57% [==> ]\r99% [===>]\nno rows', '99% [===>]\nno rows'],
    ['what overwrote a progress line', ' 1%\r 2%\rno rows', ' 2%\nno rows'],
    ['lines of Windows and of old Macs', 'a\r\nb\rc', 'a\nb\nc'],
  ])('%s', (_, text, shown) => expect(asPrinted(text)).toBe(shown))
})

const STACK = 'Error: no rates\n    at load (/srv/a.js:1:2)'
const line = (members: object): string => JSON.stringify(members)

describe('a line of JSON is read by form, whatever its members are called', () => {
  test.each([
    ['pino', line({ level: 50, time: 1795834801000, pid: 7, hostname: 'a', msg: 'no rates' }), ['ERROR no rates']],
    ['syslog levels', line({ severity: '4', text: 'no rates' }), ['WARN no rates']],
    ['a stack', line({ level: 'error', message: 'stopped', stack: STACK }), ['ERROR stopped', ...STACK.split('\n')]],
    [
      'a nested error',
      line({ msg: 'stopped', err: { message: 'no rates', code: 'E7' } }),
      ['stopped: no rates code=E7'],
    ],
    ['an error that repeats', line({ msg: 'stopped: no rates', error: 'no rates' }), ['stopped: no rates']],
    ['a trace as a list', line({ msg: 'a b', trace: STACK.split('\n') }), ['a b', ...STACK.split('\n')]],
    ['Docker', line({ log: '    main()\n', stream: 'stderr', time: '2026-11-28T03:00:01Z' }), ['    main()']],
    ['JSON within', line({ log: line({ level: 'info', msg: 'begin' }), stream: 'stdout' }), ['INFO begin']],
    ['a template', line({ '@mt': 'no {What} in {Where}', What: 'rates', Where: 'Rome' }), ['no rates in Rome']],
    [
      'no known member',
      line({ quando: '2026-11-28 03:00:01', cosa: 'mancano i tassi', chi: 'job' }),
      ['mancano i tassi'],
    ],
    ['a prefix', `app-1  | ${line({ level: 'error', msg: 'no rates' })}`, ['ERROR no rates']],
    ['several lines', '{\n  "error": {\n    "message": "no rates"\n  }\n}', ['no rates']],
    ['members without a text', line({ a: 1, b: [2] }), [line({ a: 1, b: [2] })]],
    ['no JSON', '{"msg": no rates}', ['{"msg": no rates}']],
  ])('%s', (_, text, lines) => expect(readText(text)).toEqual(lines))
})

describe('what stands before a frame stands before its trace', () => {
  const trace = ['Traceback (most recent call last):', '  File "/srv/a.py", line 3, in load', "KeyError: 'EUR'"]
  const java = ['java.lang.IllegalStateException: no rates', '\tat com.acme.Load.run(Load.java:31)']
  const ruby = ["a.rb:1:in 'load': no rates (IOError)", "\tfrom a.rb:3:in '<main>'"]
  const PREFIXES = [
    '<134>1 2026-11-21T03:00:01.123Z host1 job 4711 - - ',
    'Nov 21 03:00:01 ',
    '[03:00:01] ',
    '[2026-11-21T03:00:01.123Z] ',
    '2026-11-21T03:00:01.1234567Z ',
    '[job] ',
    "2026-11-28 03:00:01,123 DEBG 'job' stderr output: ",
    '2026/11/21 03:00:01 [stderr] ',
    'E 03:00:01.123 4711 job: ',
    '03:00:01.123 | ERROR | job | ',
    '[2026-11-21 03:00:01 +0000] [17] [ERROR] ',
    '2026-11-21 03:00:01.123 ERROR 1 --- [main] c.a.Load : ',
    'I, [2026-11-21T03:00:01.123 #4711]  INFO -- : ',
    'job/load-1a2b[load]: ',
  ]
  test.each(PREFIXES)('%s', (prefix) => {
    for (const lines of [trace, java, ruby]) {
      const later = (said: string, i: number) => `${prefix.replace('01', `0${i + 1}`)}${said}`
      expect(readText(lines.map(later).join('\n'))).toEqual(lines)
    }
  })

  test('a sentence that looks like a frame keeps its beginning', () => {
    const text = 'copied 3 files\njob failed at load (/srv/a.js:1:2)\njob failed at load (/srv/a.js:1:2)'
    expect(readText(text)).toEqual(text.split('\n'))
  })
})
