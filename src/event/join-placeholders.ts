// What varies around placeholders, once numbers are replaced. A pattern is tried on texts with its `part` alone.

const UNITS =
  'ns|us|µs|μs|ms|s|[a-z]{0,5}sec(?:ond)?s?|min(?:ute)?s?|h(?:ours?)?|days?|[kKmMgGT]i?[bB]|[a-z]{0,4}bytes?'
const singular = (word: string): string => word.replace(/ies$|s$/, (end) => (end === 's' ? '' : 'y'))

/** Above each rule what it removes, and a text with it. */
const RULES: readonly (readonly [part: string, pattern: RegExp, to: string | ((word: string) => string)])[] = [
  // The name of a host beside its address: `looking up db-2.corp [10.0.0.7]`, `lost db-2.corp/10.0.0.7:80`
  [
    ' [<address>',
    /(?<![\w.<>-])(?:[\w-]|<number>){1,60}(?:\.(?:[\w-]|<number>){1,60}){1,8} \[<address>\]/g,
    '<address>',
  ],
  ['<address>', /(?<![\w.:/>-])(?:[\w.-]|<number>){0,60}(?:\/?\[?<address>\]?(?::<number>)?){1,5}/g, '<address>'],
  // A tuple of one, as Python 2 prints it: `Error('closed',)`
  [',)', /(?<=['"]),\)/g, ')'],
  // An address behind the host in quotes: `no answer from server 'db' (10.0.0.7)`
  ['<string> (<address>)', /<string> \(<address>\)/g, '<string>'],
  // The host that syslog prints behind the time: `Nov 20 03:00:01 mx1 k3s[17]: no rows`
  ['<date> ', /^(<date> )[^\s:[]{1,253} (?=[\w./<>-]{1,60}\[<number>\]: |kernel: )/, '$1'],
  // A key that says only where: `SSL_connect peeraddr=10.0.0.7:443 state=error`
  ['=<address>', /(?<=[\s,{[])\w{0,30}(?:addr|host|ur[il])\w{0,12}=<address>[^\s,;})\]]{0,500} ?/gi, ''],
  // A number in brackets, or a list of figures: `the pool is empty (total=10, idle=0)`
  [
    '<number>)',
    / \(<number>(?:, ?<number>|,){0,9}\)| \((?:[\w.]{1,40}[=:] ?<number>, ?){1,20}[\w.]{1,40}[=:] ?<number>\)/g,
    '',
  ],
  // The place in the data: `(FILENAME=a.csv FNR=17)`
  ['<number>)', / \((?:file(?:name)?|path|input|source)[=:] ?[^\s,()]{1,200},? \w{1,20}[=:] ?<number>\)/gi, ''],
  // An index: `out of range [:117] with length 31`
  ['<number>]', /(?:(?<=[^[ ]) |(?<=\$))\[:?<number>(?::<number>?)?\](?: with (?:length|capacity) <number>)?/g, ''],
  // An id of several parts: `order 2026-17_3 is gone`
  ['-<number>', /(?<![\w<>.-])[A-Za-z]?<number>[a-z]?(?:[-_]<number>[a-z]?){1,9}(?![-\w.<])/g, '<number>'],
  // A version, thousands: `v1.2.3`, `1 234 567`
  ['.<number>', /<number>(?:\.<number>)+/g, '<number>'],
  ['> <number>', /<number>(?: <number>)+/g, '<number>'],
  // A list: `rows 1, 2, 3`
  ['>,', /(<[a-z]+>)(?:, ?\1)+/g, '$1'],
  // A unit behind a space: `took 30 s`
  ['<number> ', new RegExp(`(?<=<number>) (?:(?:${UNITS})\\b|%)`, 'g'), ''],
  // One attempt, `2 attempts`
  ['<number> ', /(?<=<number> )(?!does\b)[A-Za-z]{1,30}[b-hj-rtv-z]s\b/g, singular],
]

export const joinPlaceholders = (text: string): string =>
  RULES.reduce((now, [part, from, to]) => (now.includes(part) ? now.replace(from, to as string) : now), text)
