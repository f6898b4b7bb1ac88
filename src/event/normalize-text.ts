// Replaces what varies between two occurrences of one fault by a placeholder: ids, counts, addresses, dates, durations and quoted values.
// Names in quotes stay, as do numbers that name the fault, such as exit codes. The cost is linear in the text, whatever the
// text: repetitions are bounded, and no pattern can begin inside what another has read.

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const CLOCK = '\\d{1,2}:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?(?: ?[AaPp][Mm])?'
const ZONE = '(?: ?(?:Z|UTC|GMT|[+-]\\d\\d:?\\d\\d))?'
const UNIT = '(?:ns|us|µs|μs|ms|s|sec|min|m|h|d|[kKMGT]i?[bB]|[bB]|%)'

/**
 * In this order: an earlier one hides its match from the later ones. `part` is a part of every match that begins with a rare character, so that
 * looking for it costs a tenth of looking for the whole.
 */
const VARIABLE: readonly (readonly [pattern: RegExp, placeholder: string, part?: RegExp])[] = [
  [/(?<!\w)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?!\w)/gi, '<uuid>'],
  [new RegExp(`(?<!\\w)\\d{4}[-/]\\d\\d[-/]\\d\\d(?:[Tt ]${CLOCK}${ZONE})?(?!\\w)`, 'g'), '<date>'],
  [
    new RegExp(
      `(?<!\\w)(?:[A-Z][a-z]{2,8},? )?(?:\\d{1,2}[ -]${MONTH}|${MONTH} {1,2}\\d{1,2})(?:,?[ -]\\d{4})?(?:,? ${CLOCK}${ZONE}(?: \\d{4})?)?(?!\\w)`,
      'g',
    ),
    '<date>',
    /Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec/,
  ],
  [
    new RegExp(`(?<!\\w)\\d{1,2}[/.]\\d{1,2}[/.]\\d{4}(?:,? ${CLOCK}${ZONE})?(?!\\w)`, 'g'),
    '<date>',
    /[/.]\d{1,2}[/.]\d{4}/,
  ],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|\/\d{1,2})?(?![\w.]\d)/g, '<address>', /\.\d{1,3}\.\d/],
  [/(?<!\w)[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}(?!\w)/gi, '<address>', /(?:[:-][0-9a-f]{2}){5}/i],
  [
    new RegExp(`(?<![\\w:])\\d{1,2}:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?(?: ?[AaPp][Mm])?${ZONE}(?![\\w:])`, 'g'),
    '<date>',
    /:\d\d:\d\d/,
  ],
  [/(?<!\w)0x[0-9a-f]{1,64}(?!\w)/gi, '<number>'],
  [
    new RegExp(
      `(?<![\\w.])[-+]?\\d{1,40}(?:[.,_]\\d{1,40}){0,20}(?:[eE][-+]?\\d{1,5})?(?:${UNIT}(?:\\d{1,9}(?:\\.\\d{1,9})?${UNIT}){0,5})?(?!\\w)`,
      'g',
    ),
    '<number>',
  ],
]

const EMAIL = /(?<![\w.+-])[\w+-]{1,64}(?:\.[\w+-]{1,64}){0,4}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g
const IPV6 = /(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:%\w{1,20})?(?![\w:])/gi
const QUERY = /(https?:\/\/[^\s?#"'`<>]{1,500})[?#][^\s"'`<>]{0,2000}/g
const DIGIT = /\d/g
const WORD_END = /[^A-Za-z0-9]|$/g
const LIST = /(<[a-z]+>)(?:, ?\1)+/g
/** PostgreSQL's details: `Key (email)=(ada@example.com)`. */
const ROW = /(=|row contains )\([^()\n]{0,300}\)?/g
/** The directory of a deployed source file varies. */
const DEPLOYED =
  /(?<![\w/:.])\/(?:[\w.@+-]{1,60}\/){1,20}(?=[\w.-]{1,60}\.(?:py|[cm]?[jt]s|rb|php|java|go|rs|cs|c|cpp|swift)\b)/g
const TEMPORARY = /\/(?:tmp|var\/folders)\/[^\s"'`:,)]{1,300}/g
/** `30 s` is `30s`. */
const SPACED_UNIT = /(?<=<number>) (?:ns|us|µs|μs|ms|s|secs?|seconds?|min|minutes?|h|hours?|[kKMGT]i?[bB]|bytes?)\b/g
/** One attempt, two attempts. */
const COUNTED = /(?<=<number> )[A-Za-z]{1,30}[b-hj-rtv-z]s\b/g
const toSingular = (word: string): string =>
  word.replace(/(?:(ie)|)s$/, (_, ie?: string) => (ie === undefined ? '' : 'y'))
const NOT_JSON = /\b(Unexpected token )[^\n]{1,60}(?= in JSON| is not valid JSON)/g

const REASON =
  'Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable|Request Timeout|Conflict|Gone|' +
  'Length Required|Precondition Failed|Payload Too Large|Content Too Large|Unsupported Media Type|Unprocessable|Too Many Requests|' +
  'Internal Server Error|Not Implemented|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out|(?:Client|Server) Error'
const VALUE = '-?(?:0x[0-9a-f]{8}|\\d{1,5})(?![\\w.]*\\w)'

/** Numbers that name the fault: exit codes, HTTP statuses, SQLSTATEs, errnos, signals and the error codes of databases and compilers. */
const TELLING: readonly RegExp[] = [
  new RegExp(
    `\\b(?:(?:exit|err(?:or)?|status|return|response|result|http|sql|vendor|native|reason|event)[ _-]?code|with code|(?<=\\()code|code(?=[:=])|exit(?:ed)?(?: with)?|(?:exit |http |response )?status)["']?(?: ?[:=] ?| |\\()["']?${VALUE}`,
    'gi',
  ),
  new RegExp(
    `\\b(?:errno|os error|win ?error|signal|rc|hresult|error number|general error)["']?(?: ?[:=] ?| |\\()["']?${VALUE}`,
    'gi',
  ),
  /\b(?:sqlstate(?:["']?(?: ?[:=] ?| )["']?|\[)|code["']?[:=] ?["']?)[0-9A-Z]{5}(?!\w)(?:\]:? \[\d{4}\]|\]: [^:\n]{1,60}: \d{4}\b)?/gi,
  /\bHTTP(?:\/\d(?:\.\d)?)?(?: error| status)?:? [1-5]\d\d(?!\w)/gi,
  new RegExp(`\\b[1-5]\\d\\d(?= (?:${REASON}))`, 'gi'),
  /\b(?:returned(?: error)?|responded(?: with)?|answered(?: with)?|got|received|error):? [45]\d\d(?= ?(?:$|[.,;:)\n]| (?:for|from|on) ))/gim,
  /\b(?:[Ee]rr(?:or|no)?|ERROR) ?[[(#]?\d{1,5}(?: ?\([0-9A-Z]{5}\)|[\])])?(?=[:\s]|$)|\bError \d{1,3}$/gm,
  /\b(?:ORA|TNS|PLS|RMAN|PGRST|AADSTS|LNK|MSB|NETSDK|SQL|TS|CS|P|E)-?\d{4,8}[A-Z]?(?!\w)|\bMsg \d{1,5}\b/g,
  /\bcurl: \(\d{1,2}\)/g,
  /\b(?:utf-?(?:8|16|32)|sha-?(?:1|256|384|512)|md5|u?int(?:8|16|32|64)|float(?:32|64)|[iuf](?:8|16|32|64)|base64|ipv[46]|oauth2|s3|ec2|x86(?:_64)?|x64|arm64|amd64|k8s|log4j2?|h26[45]|mp[34]|win32|es20\d\d|latin-?1)\b/gi,
]

/** Digits in a private range of Unicode, which no pattern takes for digits. */
const HIDDEN = 0xe030
const hide = (match: string): string =>
  match.replace(/[\da-fA-FxX]/g, (char) => (/\d/.test(char) ? String.fromCharCode(HIDDEN + Number(char)) : char))
const unhide = (text: string): string => text.replace(/[\ue030-\ue039]/g, (char) => String(char.charCodeAt(0) - HIDDEN))

/** The text with placeholders for what varies, and its white space made single spaces. */
export function normalizeText(text: string): string {
  let normal = text
  const hasDigits = /\d/.test(text)
  if (hasDigits) for (const pattern of TELLING) normal = normal.replace(pattern, hide)
  if (normal.includes('JSON')) normal = normal.replace(NOT_JSON, '$1<string>')
  normal = replaceQuoted(normal)
  if (normal.includes('(')) normal = normal.replace(ROW, '$1(<string>)')
  if (normal.includes('://')) normal = normal.replace(QUERY, '$1')
  if (normal.includes('@')) normal = normal.replace(EMAIL, '<address>')
  if (normal.includes('/')) normal = normal.replace(TEMPORARY, '<path>').replace(DEPLOYED, '')
  if (hasDigits) normal = replaceNumbers(normal)
  if (normal.includes('>,')) normal = normal.replace(LIST, '$1')
  if (normal.includes('<number> ')) normal = normal.replace(SPACED_UNIT, '').replace(COUNTED, toSingular)
  return singleSpaces(unhide(normal)).trim()
}

const singleSpaces = (text: string): string => (/\s\s|[^\S ]/.test(text) ? text.replace(/\s+/g, ' ') : text)

function replaceNumbers(text: string): string {
  let normal = isAddress(text) ? text.replace(IPV6, (match) => (isAddress(match) ? '<address>' : match)) : text
  for (const [pattern, placeholder, part] of VARIABLE)
    if (part === undefined || part.test(normal)) normal = normal.replace(pattern, placeholder)
  return replaceWords(normal)
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

const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

/** Whether it may hold an address: not the name `std::map`, and not a time of day. */
const isAddress = (text: string): boolean => /\d/.test(text) && (text.includes('::') || text.split(':').length > 5)

/**
 * Hexadecimal and other mixed words are an id as a whole; of `user42` and `12th` the letters are kept.
 * Numbers, hexadecimal and ids share a placeholder because an id may happen to have digits only.
 */
function replaceWord(word: string): string {
  const [, before = '', , after = ''] = /^([A-Za-z]*)(\d+)([A-Za-z]*)$/.exec(word) ?? []
  const isId = before.length + after.length === 0 || (before !== '' && after !== '')
  if (isId || word.length >= 12 || (word.length >= 6 && /^[0-9a-f]+$/i.test(word))) return '<number>'
  return `${before}<number>${after}`
}

// Quoted text: a name is the fault's own and stays, any other text is a value and becomes `<string>`.
//   KeyError: 'user'   relation "users" does not exist   No module named 'yaml'   because "<local>" is null        names
//   'Ada Lovelace'   '4711'   'ada@example.com'   '/data/2026-11-20.csv'                                            values
// A name has no white space (except in a list of parameters), holds a letter, and is no e-mail address and no path with a digit or in a
// directory for temporary files. It is a value nevertheless where the words around say so: `For input string: "abc"`.
// In JSON and logfmt the keys stay, and of the values the texts that describe the fault, such as `message`.
// The private characters are digits that normalizeText() hides.
const NAME = /^[A-Za-z_$./~<*#-](?:[\w.:;$/\\<>()[\]*#+=~%&?!\ue030-\ue039-]|, )*$/
/** `Void Cart.Add(Int32)` */
const RETURNS = /^[A-Za-z][\w.<>[\]\ue030-\ue039]* (?=[\w.<>]+\()/
const NAME_MAX = 100
const URL = /^https?:\/\//

/** The end of the text before a quote, if a value follows. */
const VALUE_AFTER =
  /(?:\b(?:literal|syntax) for [\w() ]{1,40}:|\b(?:string(?: to \w{1,20})?|value|entry|input|text|data|parsing(?: time)?|user(?:name)?|customer|login|e-?mail|character|hostname)) ?[:=]? ?\(?$/i
/** The beginning of the text behind a quote, if a value came before. */
const VALUE_BEFORE = /^ (?:is not (?:a valid|in list)|could not be parsed|was not in a correct format|does not match)\b/
const LOOK_AROUND = 60

/** Keys whose values describe the fault. */
const DESCRIBES =
  /^(?:message|msg|err|error|exception|reason|detail|description|code|type|kind|status|level|severity|class|cause)$/i
/** `"key":`, `key=` and `key: ` before a quote; the first two are JSON and logfmt. */
const KEY = /(?:(["'])([\w.-]{1,40})\1: ?|\b([\w.-]{1,40})=|\b([\w-]{1,40}): ?)$/

const OPENS = /["'“‘«]/g
const CLOSED_BY: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '‘': '’', '«': '»' }
const isWordAt = (text: string, i: number) => /\w/.test(text.charAt(i))

/** Strings in quotes, within a line. An apostrophe between two letters is no quote; backticks hold code, which is the fault's own. */
function replaceQuoted(text: string): string {
  let normal = ''
  let kept = 0
  const unclosedUntil = new Map<string, number>()
  OPENS.lastIndex = 0
  for (let found = OPENS.exec(text); found !== null; found = OPENS.exec(text)) {
    const [quote] = found
    const i = found.index
    if (i < (unclosedUntil.get(quote) ?? 0)) continue
    if (quote !== '"' && isWordAt(text, i - 1)) continue
    const close = findClose(text, i + 1, CLOSED_BY[quote]!)
    if (!close.found) {
      unclosedUntil.set(quote, close.at)
      continue
    }
    if (!isKept(text, i, close.at)) {
      normal += `${text.slice(kept, i)}<string>`
      kept = close.at + 1
    }
    OPENS.lastIndex = close.at + 1
  }
  return kept === 0 ? text : normal + text.slice(kept)
}

/** Whether the quoted text between the quotes at `open` and `close` stays. */
function isKept(text: string, open: number, close: number): boolean {
  const before = text.slice(Math.max(0, open - LOOK_AROUND), open)
  if (text.charAt(close + 1) === ':' && /[{,] ?$/.test(before)) return true
  const [, , jsonKey, logKey, otherKey = ''] = (/[:=] ?$/.test(before) && KEY.exec(before)) || []
  const key = jsonKey ?? logKey
  if (DESCRIBES.test(key ?? otherKey) || before.endsWith('`Err` value: ')) return true
  if (key !== undefined) return false
  const inside = text.slice(open + 1, close)
  if (inside.length > NAME_MAX || !isName(inside)) return false
  return !VALUE_AFTER.test(before) && !VALUE_BEFORE.test(text.slice(close + 1, close + 1 + LOOK_AROUND))
}

function isName(text: string): boolean {
  const name = text.endsWith(')') ? text.replace(RETURNS, '') : text
  if (!NAME.test(name) || !/[A-Za-z]/.test(name)) return false
  if (URL.test(text)) return true
  return !/[/\\].*\d|\d.*[/\\]|^\/(?:tmp|var\/folders)\//.test(text)
}

const LINE_FEED = 10
const BACKSLASH = 92

/** The closing quote, or the end of the line without one; the caller need not search this stretch again, which keeps the search linear. */
function findClose(text: string, from: number, closer: string): { found: boolean; at: number } {
  const code = closer.charCodeAt(0)
  for (let i = from; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === LINE_FEED) return { found: false, at: i }
    if (char === BACKSLASH) i++
    else if (char === code && (closer === '"' || !isWordAt(text, i + 1))) return { found: true, at: i }
  }
  return { found: false, at: text.length }
}
