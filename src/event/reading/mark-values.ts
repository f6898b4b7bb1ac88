// What varies and has no digits that a pattern knows, and codes that are digits and do not vary, before a text is
// normalized. The private characters are those that normalizeText() hides digits in.
import { isDigit } from '../trace/trace.ts'

/** HRESULT and NTSTATUS; as decimals, too. An address has other digits, or stands in a frame. */
const STATUS_CODE = /(?<![\w#])(?:0x[89c][0-9a-f]{7}|-(?:214[67]|1073)\d{6})(?![\w.]| in )/gi
const HIDDEN = 0xe030

/** `3rd`, `17th`, `1er`, `2º` */
const ORDINAL = /(?<![\w.])(\d{1,9})(?:st|nd|rd|th|er|[eè]re?|[eè]me|º|ª)(?![\wè])/g
const DAY =
  'Mon(?:day)?|Tue(?:s(?:day)?)?|Wed(?:nesday)?|Thu(?:rs(?:day)?)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?|Montag|' +
  'Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|' +
  'martes|miércoles|jueves|viernes|sábado|domingo'
/** A day alone, or before a date. */
const DAYS = new RegExp(`(?<![\\w'"./-])(?:${DAY})s?(?![\\w'"/-]|\\.\\w|,? {1,2}(?:[A-Z][a-z]+\\.? {1,2})?\\d)`, 'g')
const IN_DAYS = 'day Mon Tue Wed Thu Fri Sat Sun tag ittwoch di manche lunes rtes coles ves bado mingo'.split(' ')
/** Cyrillic ends here; scripts behind it have digits of their own. */
const LAST_WITHOUT = '\u052f'
const DIGIT = /\p{Nd}/u

/** Where a query begins, if its other word is there, too. */
const BEGINS = /\b(?:SELECT|INSERT\s+INTO|REPLACE\s+INTO|MERGE\s+INTO|UPDATE|DELETE\s+FROM)\b/i
const QUERIES = [
  ['select ', ' from '],
  ['insert', 'into'],
  ['replace', 'into'],
  ['merge', 'into'],
  ['update ', ' set '],
  ['delete', 'from'],
]
/** A text stands behind an operator. Its numbers are values anyway. */
const VALUE = /[NEXB]?'(?:[^'\\\n]|''|\\.){0,2000}'|(?:NULL|TRUE|FALSE)\b|%s|\?|[$:]\d{1,4}/.source
const OPERATOR = /(?:[=<>(,]|\b(?:LIKE|IN|AND|OR|BETWEEN|THEN|ELSE|WHEN)) {0,3}/.source
const LITERAL = new RegExp(`(${OPERATOR})(?:${VALUE})`, 'gi')
/** All tuples of a bulk insert, or a list. */
const TUPLE = /\((?:[^()\n]|\([^()\n]{0,300}\)){0,4000}\)?/.source
const TUPLES = new RegExp(`(\\bVALUES?|\\bIN) ?${TUPLE}(?: ?, ?${TUPLE}){0,400}`, 'gi')

/** The text, whose values normalizeText() knows. */
export function markValues(text: string): string {
  let marked = text
  if (marked.includes('0x') || marked.includes('-214') || marked.includes('-1073'))
    marked = marked.replace(STATUS_CODE, hide)
  if (hasOrdinal(marked)) marked = marked.replace(ORDINAL, '$1')
  if (IN_DAYS.some((part) => marked.includes(part))) marked = marked.replace(DAYS, '<date>')
  if (hasOtherScript(marked)) marked = withPlainDigits(marked)
  const lower = marked.toLowerCase()
  if (QUERIES.some((words) => words.every((word) => lower.includes(word))))
    marked = marked.split('\n').map(markLiterals).join('\n')
  return marked
}

const markLiterals = (line: string): string => {
  const at = BEGINS.exec(line)?.index
  if (at === undefined) return line
  return line.slice(0, at) + line.slice(at).replace(TUPLES, '$1 (<string>)').replace(LITERAL, '$1<string>')
}

const hide = (code: string): string =>
  code.toLowerCase().replace(/\d/g, (digit) => String.fromCharCode(HIDDEN + Number(digit)))
const DIGITS = Array.from({ length: 10 }, (_, digit) => String.fromCharCode(HIDDEN + digit))

/** Once the text is normalized. */
export const unhide = (text: string): string =>
  DIGITS.some((digit) => text.includes(digit))
    ? text.replace(/[\ue030-\ue039]/g, (char) => String(char.charCodeAt(0) - HIDDEN))
    : text

function hasOrdinal(text: string): boolean {
  for (let i = 1; i < text.length; i++)
    if ('snrteèº\u00aa'.includes(text.charAt(i)) && isDigit(text.charCodeAt(i - 1))) return true
  return false
}

const withPlainDigits = (text: string): string =>
  Array.from(text, (char) => (char > LAST_WITHOUT && DIGIT.test(char) ? '1' : char)).join('')

function hasOtherScript(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charAt(i) > LAST_WITHOUT) return true
  return false
}
