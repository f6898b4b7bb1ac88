// Replaces what varies between two occurrences of the same fault by a placeholder: quoted strings, numbers, hexadecimal, UUIDs, addresses, dates.
// Everything takes time linear in the text, whatever the text: repetitions are bounded, and no pattern can begin inside what another has read.

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const CLOCK = '\\d{1,2}:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?(?: ?[AaPp][Mm])?'
const ZONE = '(?: ?(?:Z|UTC|GMT|[+-]\\d\\d:?\\d\\d))?'
const UNIT = '(?:ns|us|µs|μs|ms|s|sec|min|m|h|d|[kKMGT]i?[bB]|[bB]|%)'

/** In this order: what an earlier one has replaced, a later one no longer sees. */
const VARIABLE: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/(?<!\w)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?!\w)/gi, '<uuid>'],
  [new RegExp(`(?<!\\w)\\d{4}[-/]\\d\\d[-/]\\d\\d(?:[Tt ]${CLOCK}${ZONE})?(?!\\w)`, 'g'), '<date>'],
  [
    new RegExp(
      `(?<!\\w)(?:[A-Z][a-z]{2,8},? )?(?:\\d{1,2}[ -]${MONTH}|${MONTH} {1,2}\\d{1,2})(?:,?[ -]\\d{4})?(?:,? ${CLOCK}${ZONE}(?: \\d{4})?)?(?!\\w)`,
      'g',
    ),
    '<date>',
  ],
  [new RegExp(`(?<!\\w)\\d{1,2}[/.]\\d{1,2}[/.]\\d{4}(?:,? ${CLOCK}${ZONE})?(?!\\w)`, 'g'), '<date>'],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|\/\d{1,2})?(?![\w.]\d)/g, '<address>'],
  [/(?<!\w)[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}(?!\w)/gi, '<address>'],
  [new RegExp(`(?<![\\w:])\\d{1,2}:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?(?: ?[AaPp][Mm])?${ZONE}(?![\\w:])`, 'g'), '<date>'],
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
const WORD = /[A-Za-z0-9]+/g
const LIST = /(<[a-z]+>)(?:, ?\1)+/g

/** All of these hold a digit. */
function replaceNumbers(text: string): string {
  let normal = text
  for (const [pattern, placeholder] of VARIABLE) normal = normal.replace(pattern, placeholder)
  return normal.replace(IPV6, (match) => (/\d/.test(match) ? '<address>' : match)).replace(WORD, replaceWord)
}

/** The text with placeholders for what varies, and its white space made single spaces. */
export function normalizeText(text: string): string {
  let normal = replaceQuoted(text)
  if (normal.includes('://')) normal = normal.replace(QUERY, '$1')
  if (normal.includes('@')) normal = normal.replace(EMAIL, '<address>')
  if (/\d/.test(normal)) normal = replaceNumbers(normal)
  if (normal.includes('<')) normal = normal.replace(LIST, '$1')
  return normal.replace(/\s+/g, ' ').trim()
}

/**
 * A word that holds digits: hexadecimal and other mixed ones are an id as a whole, of `user42` and `12th` the letters are kept.
 * Numbers, hexadecimal and ids share a placeholder, as an id may happen to have digits only.
 */
function replaceWord(word: string): string {
  if (!/\d/.test(word)) return word
  const [, before = '', , after = ''] = /^([A-Za-z]*)(\d+)([A-Za-z]*)$/.exec(word) ?? []
  const isId = before.length + after.length === 0 || (before !== '' && after !== '')
  if (isId || word.length >= 12 || (word.length >= 6 && /^[0-9a-f]+$/i.test(word))) return '<number>'
  return `${before}<number>${after}`
}

const CLOSED_BY: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '‘': '’', '«': '»' }
const isWordAt = (text: string, i: number) => /\w/.test(text.charAt(i))

/** Strings in quotes, within a line. An apostrophe between two letters is no quote; backticks hold code, which is the fault's own. */
function replaceQuoted(text: string): string {
  let normal = ''
  let kept = 0
  const unclosedUntil = new Map<string, number>()
  for (let i = 0; i < text.length; i++) {
    const quote = text.charAt(i)
    const closers = CLOSED_BY[quote]
    if (closers === undefined || i < (unclosedUntil.get(quote) ?? 0)) continue
    if (quote !== '"' && isWordAt(text, i - 1)) continue
    const close = findClose(text, i + 1, closers)
    if (!close.found) {
      unclosedUntil.set(quote, close.at)
      continue
    }
    if (!isJsonKey(text, i, close.at)) {
      normal += `${text.slice(kept, i)}<string>`
      kept = close.at + 1
    }
    i = close.at
  }
  return normal + text.slice(kept)
}

/** `{"key":` and `,"key":`: a key is the fault's own, only its value varies. */
const isJsonKey = (text: string, open: number, close: number): boolean =>
  text.charAt(close + 1) === ':' && /[{,] ?$/.test(text.slice(Math.max(0, open - 2), open))

/** Where a quote closes, or else the end of the line: no quote of the kind closes before that, which keeps the search linear. */
function findClose(text: string, from: number, closers: string): { found: boolean; at: number } {
  for (let i = from; i < text.length; i++) {
    const char = text.charAt(i)
    if (char === '\n') return { found: false, at: i }
    if (char === '\\') i++
    else if (closers.includes(char) && (char === '"' || !isWordAt(text, i + 1))) return { found: true, at: i }
  }
  return { found: false, at: text.length }
}
