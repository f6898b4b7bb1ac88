// Replaces what varies between occurrences of one fault by placeholders: ids, counts, addresses, dates, durations and
// quoted values. Names in quotes and numbers that name the fault, such as exit codes, stay. The cost is linear in any
// text: repetitions are bounded, and no pattern can begin inside another's match.
import { joinPlaceholders } from './join-placeholders.ts'
import { replaceHosts, replacePlaces } from './replace-places.ts'
import { replaceQuoted } from './replace-quoted.ts'
import { isLetter } from './trace/trace.ts'

/** In English, German, French and Spanish. Whole names, since `Decoder 7` is no date. */
const MONTHS =
  'Jan(?:uary?)?|Feb(?:ruary?)?|Mar(?:ch)?|März?|Mrz|Apr(?:il)?|Ma[yi]|Jun[ei]?|Jul[yi]?|Aug(?:ust)?|' +
  'Sept?(?:ember)?|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?|janv(?:ier)?|févr(?:ier)?|mars|avr(?:il)?|mai|' +
  'juin|juil(?:let)?|août|sept(?:embre)?|oct(?:obre|ubre)?|nov(?:embre)?|déc(?:embre)?|enero|febrero|marzo|abril|' +
  'mayo|junio|julio|agosto|septiembre|noviembre|diciembre'
const MONTH = `(?:${MONTHS})(?![a-zé])\\.?`
const IS_MONTH =
  /Jan|Feb|M[aär]|Apr|Ju[nl]|Aug|Sep|O[ck]t|Nov|De[cz]|oct\.|\d (?:de )?(?:j[au]|f[eé]|ma|a[bvog]|se|oc|no|d[éi]|en)/
const CLOCK = '\\d{1,2}:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?(?: ?[AaPp][Mm])?'
const ZONE =
  '(?: ?(?:Z|UTC|GMT|[CEMW]E?S?T|[CEMP][SD]T|[BIJ]ST|MSK|[A-Z][a-z]{2,9}/[A-Z][\\w/]{2,30}|[+-]\\d\\d:?\\d\\d))?'
const UNIT = '(?:ns|us|µs|μs|ms|s|sec|min|m|h|d|[kKmMgGT]i?[bB]|[bBKMGT]|%)'

const global = (...parts: readonly string[]): RegExp => new RegExp(parts.join(''), 'g')
const DAY_OF_MONTH = global(
  `(?<!\\w)(?:[A-Z][a-z]{2,8},? )?(?:\\d{1,2}\\.?[ -](?:de )?${MONTH}|${MONTH} {1,2}\\d{1,2})`,
  `(?:,?[ -](?:de )?\\d{4})?(?:,? ${CLOCK}${ZONE}(?: \\d{4})?)?(?!\\w)`,
)
const DAY_IN_DIGITS = global(`(?<![\\w.])\\d{1,2}[/.]\\d{1,2}[/.]\\d{4}(?:,? ${CLOCK}${ZONE})?(?!\\w|\\.\\d)`)
const TIME = global(
  `(?<![\\w:])\\d{1,2}:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?(?: ?[AP]M)?${ZONE}| ?[AaPp]\\.?[Mm])(?![\\w:])`,
)
const NUMBER = global(
  '(?<![\\w.])[-+]?\\d{1,40}(?:[.,_]\\d{1,40}){0,20}(?:[eE][-+]?\\d{1,5})?(?:-(?:alpha|beta|rc|pre|dev|SNAPSHOT)',
  `(?:[.-]?\\d{1,9}){0,3})?(?:${UNIT}(?:\\d{1,9}(?:\\.\\d{1,9})?${UNIT}){0,5})?(?!\\w)`,
)

type Part = RegExp | readonly string[] | ((text: string) => boolean)
const hasFive = (text: string): boolean => text.split(':').length > 5 || text.split('-').length > 5

/**
 * Order matters: an earlier pattern hides its match from later ones. Every match contains a `part` that begins with a
 * rare character: searching for it costs a tenth of searching for the whole.
 */
const VARIABLE: readonly (readonly [pattern: RegExp, placeholder: string, part?: Part])[] = [
  [/(?<!\w)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?!\w)/gi, '<uuid>', ['-']],
  [/\beyJ[\w-]{2,2000}\.[\w-]{2,2000}\.[\w-]{0,2000}/g, '<number>', ['eyJ']], // a token (JWT)
  [/(?<=[\w$]@)(?=[a-f]{0,8}\d)[0-9a-f]{1,16}(?![\w.-])/g, '<number>', ['@']], // an object of Java
  [/#(?:PID|Reference|Port)<[\d.]+>/g, '<number>', ['#']], // Erlang
  // A pod of Kubernetes: the hash of its template, and five letters and digits; other objects have the latter.
  [/(?:-[\db-df-hj-np-tv-xz]{8,10})?-(?!https)[\db-df-hj-np-tv-xz]{5}(?![\w-])/g, '-<number>', ['-']],
  [global(`(?<!\\w)\\d{4}[-/]\\d\\d[-/]\\d\\d(?:[Tt ]${CLOCK}${ZONE})?(?!\\w)`), '<date>', ['-', '/']],
  [DAY_OF_MONTH, '<date>', IS_MONTH],
  [DAY_IN_DIGITS, '<date>', /[/.]\d{1,2}[/.]\d{4}/],
  [
    /(?<![\w.]|ersion )\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|\/\d{1,2}(?![.\d]))?(?![\w.]\d)/g,
    '<address>',
    /\.\d{1,3}\.\d/,
  ],
  [/(?<!\w)[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}(?!\w)/gi, '<address>', hasFive],
  [TIME, '<date>', (text) => text.includes(':') && /:\d\d(?::\d\d| ?[AaPp]\.?[Mm])/.test(text)],
  [/(?<!\w)0x[0-9a-f]{1,64}(?!\w)/gi, '<number>', ['0x']],
  [NUMBER, '<number>'],
]

const EMAIL = /(?<![\w.+-])[\w+-]{1,64}(?:\.[\w+-]{1,64}){0,4}@[\w-]{1,63}(?:(?:\.[\w-]{1,63}){1,8}|(?=:[ /~a-z]))/g
const IPV6 = /(?<![\w:.])\[?(?:[0-9a-f]{0,4}:){2,7}(?:\d{5}|[0-9a-f]{0,4})(?:%\w{1,20})?(?:\]:\d{1,5})?(?!\w|:[\w:])/gi
const DIGIT = /\d/g
const WORD_END = /[^A-Za-z0-9]|$/g
/** The prefix of log lines: times and process ids. */
const LOG_HEADER = new RegExp(
  '^[EFW]<number> <date> <number> [\\w.]{1,60}:<number>\\] ' + // klog
    '|^(\\[?(?:ERROR|WARN(?:ING)?|FATAL|CRITICAL|SEVERE)\\]?:? )<date>[ :,-]{0,10}' +
    '|^(?:(?:[[(] ?<(?:date|number)>[\\])]|<date>)[ :,#*-]{0,10}){1,9}',
)
/** PostgreSQL's details: `Key (email)=(ada@example.com)`. */
const ROW = /(=|row contains |values |[`"] in |\bIN )\([^()\n]{0,300}\)?/g
/** MongoDB's details: `dup key: { email: "ada" }`. */
const DUPLICATE = /(dup key: )\{[^}\n]{0,300}\}?/g
/** Values that JSON.parse() and Jackson quote. */
const NOT_JSON =
  /\b(Unexpected token )[^\n]{1,60}(?= in JSON| is not valid JSON)|(\(String\))"[^\n]{0,2000}"(?=; line)/g

const REASON =
  '(?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable|Request Timeout' +
  '|Conflict|Gone|Length Required|Precondition Failed|(?:Payload|Content) Too Large|Unsupported Media Type' +
  '|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway' +
  '|Service (?:Temporarily )?Unavailable|Gateway Time-?out|(?:Client|Server) Error)'
const VALUE = '-?(?:0x[0-9a-f]{8}|\\d{1,5})(?![\\w.]*\\w)'

/** Numbers that name the fault: exit codes, HTTP statuses, SQLSTATEs, errnos, signals, database and compiler codes. */
const TELLING: readonly (readonly [pattern: RegExp, parts?: string])[] = [
  [
    new RegExp(
      '\\b(?:(?:exit|err(?:or)?|(?:http|response)?status|return|response|result|http|sql|vendor|native|reason|event)' +
        `[ _-]?code|with code|(?<=\\()code|code(?=["']? ?[:=])|exit(?:ed)?(?: with)?` +
        '|(?:(?:exit|http|grpc|response)[ _]?)?status|errno|os error|win ?error|signal|rc|hresult|error number' +
        `|general error)["']?(?: ?[:=] ?| |\\()["']?${VALUE}`,
      'gi',
    ),
    'code exit status err signal rc hresult',
  ],
  [
    new RegExp(
      `\\b(?:sqlstate(?:["']?(?: ?[:=] ?| )["']?|\\[)|code["']?[:=] ?["']?)[0-9A-Z]{5}(?!\\w)` +
        '(?:\\]:? \\[\\d{4}\\]|\\]: [^:\\n]{1,60}: \\d{4}\\b)?',
      'gi',
    ),
    'sqlstate code',
  ],
  [
    new RegExp(
      '\\b(?:[Ee]rr(?:or|no)?|ERROR|curl) ?[[(#]?\\d{1,5}(?: ?\\([0-9A-Z]{5}\\)|[\\])])?(?=[:\\s]|$)(?! ---)|' +
        '\\bError \\d{1,3}$|\\b[Gg]ot error:? \\d{1,5}(?!\\w)|\\berror [A-Z]{1,5}\\d{3,5}(?=:)',
      'gm',
    ),
    'err curl',
  ],
  [/\b(?:ORA|TNS|PLS|RMAN|PGRST|AADSTS|LNK|MSB|NETSDK|SQL|TS|CS|P|E)-?\d{4,8}[A-Z]?(?!\w| \d\d:\d)|\bMsg \d{1,5}\b/g],
  [
    new RegExp(
      '\\b(?:utf-?(?:8|16|32)|sha-?(?:1|256|384|512)|md5|u?int(?:8|16|32|64)|float(?:32|64)|[iuf](?:8|16|32|64)|' +
        'base64|ipv[46]|oauth2|s3|ec2|x86(?:_64)?|x64|arm64|amd64|k8s|log4j2?|h26[45]|mp[34]|win32|es20\\d\\d|' +
        'latin-?1)\\b(?!\\.\\w)',
      'gi',
    ),
    'utf sha md5 int float i8 i16 i32 i64 u8 u16 u32 u64 f8 f16 f32 f64 base64 ipv oauth2 s3 ec2 x86 x64 arm64 amd64 ' +
      'k8s log4j h26 mp3 mp4 win32 es20 latin',
  ],
]
const TELLING_PARTS = TELLING.map(([pattern, parts]) => ({ pattern, parts: parts?.split(' ') }))

const STATUS = /\b[1-5]\d\d\b/
const TELLING_STATUS = new RegExp(
  `\\bHTTP(?:/\\d(?:\\.\\d)?)?(?: error| status)?:? [1-5]\\d\\d(?!\\w)|\\b[1-5]\\d\\d(?= ${REASON})|` +
    '\\b(?:returned(?: error)?|responded(?: with)?|answered(?: with)?|got|received|error):? ' +
    '[45]\\d\\d(?= ?(?:$|[.,;:)\\n]| (?:for|from|on) ))',
  'gim',
)

/** It repeats the status: `404 Not Found`. */
const REASON_PHRASE = new RegExp(`(?<=[\\ue034\\ue035][\\ue030-\\ue039]{2}) ${REASON}\\b`, 'g')

/** The same in brackets: exceptions in Python with a sentence, curl, clients of MySQL. */
const TELLING_IN_BRACKETS: readonly RegExp[] = [
  /\(-?\d{1,5}(?=, ?[bu]?["'][^\s"]{1,40} [^\s"])(?<=(?:^|[a-z](?:Error|Exception|Warning)[:)] )\(-?\d{1,5})/gm,
  /\((?:\d{1,2}\)(?<=\bcurl: .{3,4})|\d{4}\)$(?<=^(?:mysql|maria)\w{0,20}: [^\n]*))/gm,
  /\(\d{1,3}(?=[) ])(?<=MySQL server (?:on|through socket) '[^'\n]{1,100}' \(\d{1,3})/g,
]

/** Digits in a private range of Unicode, which no pattern takes for digits. */
const HIDDEN = 0xe030
const hide = (match: string): string =>
  match.replace(/[\da-fA-FxX]/g, (char) => (/\d/.test(char) ? String.fromCharCode(HIDDEN + Number(char)) : char))
const hideAll = (text: string, patterns: readonly RegExp[]): string =>
  patterns.reduce((normal, pattern) => normal.replace(pattern, hide), text)

function hideTelling(text: string): string {
  const lower = text.toLowerCase()
  const may = TELLING_PARTS.filter(({ parts }) => parts?.some((part) => lower.includes(part)) ?? true)
  let normal = hideAll(
    text,
    may.map(({ pattern }) => pattern),
  )
  if (STATUS.test(normal)) normal = normal.replace(TELLING_STATUS, hide).replace(REASON_PHRASE, '')
  return normal.includes('(') ? hideAll(normal, TELLING_IN_BRACKETS) : normal
}

const unhide = (text: string): string => text.replace(/[\ue030-\ue039]/g, (char) => String(char.charCodeAt(0) - HIDDEN))

/** White space becomes single spaces. `isContext`: the line accompanies the one that reports the fault. */
export function normalizeText(text: string, isContext = false): string {
  let normal = text
  const hasDigits = /\d/.test(text)
  if (hasDigits) normal = hideTelling(normal)
  const hides = normal !== text
  if (normal.includes('JSON') || normal.includes('(String)')) normal = normal.replace(NOT_JSON, '$1$2<string>')
  if (normal.includes('dup key: ')) normal = normal.replace(DUPLICATE, '$1{<string>}')
  normal = replaceQuoted(replacePlaces(normal, isContext))
  if (normal.includes('(')) normal = normal.replace(ROW, '$1(<string>)')
  if (normal.includes('@')) normal = normal.replace(EMAIL, '<address>')
  normal = replaceHosts(normal)
  if (hasDigits) normal = replaceNumbers(normal)
  normal = joinPlaceholders(singleSpaces(normal))
  if ('<[(EFWCS'.includes(normal.charAt(0))) normal = normal.replace(LOG_HEADER, '$1')
  normal = (hides ? unhide(normal) : normal).trim()
  return normal.endsWith('.') ? normal.slice(0, -1) : normal
}

const singleSpaces = (text: string): string => (/\s\s|[^\S ]/.test(text) ? text.replace(/\s{2,}|[^\S ]/g, ' ') : text)

function replaceNumbers(text: string): string {
  let normal = isAddress(text) ? text.replace(IPV6, (match) => (isAddress(match) ? '<address>' : match)) : text
  for (const [pattern, placeholder, part] of VARIABLE)
    if (part === undefined || holds(normal, part)) normal = normal.replace(pattern, placeholder)
  return replaceWords(normal)
}

function holds(text: string, part: Part): boolean {
  if (typeof part === 'function') return part(text)
  return part instanceof RegExp ? part.test(text) : part.some((known) => text.includes(known))
}

/** Words without a digit are not looked at: most have none. */
function replaceWords(text: string): string {
  let normal = ''
  let kept = 0
  DIGIT.lastIndex = 0
  for (let digit = DIGIT.exec(text); digit !== null; digit = DIGIT.exec(text)) {
    let start = digit.index
    while (isLetter(text.charCodeAt(start - 1))) start--
    WORD_END.lastIndex = digit.index
    const end = WORD_END.exec(text)!.index
    normal += text.slice(kept, start) + replaceWord(text.slice(start, end))
    DIGIT.lastIndex = kept = end
  }
  return kept === 0 ? text : normal + text.slice(kept)
}

/** Whether it may hold an address: not the name `std::map`, and not a time of day. */
const isAddress = (text: string): boolean => /\d/.test(text) && (text.includes('::') || text.split(':').length > 5)

/**
 * Hexadecimal and other mixed words are an id as a whole; of `user42` and `12th` the letters are kept.
 * Numbers, hexadecimal and ids share a placeholder because an id may happen to have digits only.
 */
function replaceWord(word: string): string {
  const [, before = '', , after = ''] = /^([A-Za-z]*)(\d+)([A-Za-z]*)$/.exec(word) ?? []
  const isId = before.length + after.length === 0 || (before !== '' && after !== '')
  if (
    isId ||
    word.length >= 12 ||
    (word.length >= 8 && /^\d[A-Z\d]+$/.test(word)) ||
    (word.length >= 6 && /^[0-9a-f]+$/i.test(word))
  )
    return '<number>'
  return `${before}<number>${after}`
}
