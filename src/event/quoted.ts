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

const CLOSED_BY: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '‘': '’', '«': '»' }
const isWordAt = (text: string, i: number) => /\w/.test(text.charAt(i))

/** Strings in quotes, within a line. An apostrophe between two letters is no quote; backticks hold code, which is the fault's own. */
export function replaceQuoted(text: string): string {
  let normal = ''
  let kept = 0
  const unclosedUntil = new Map<string, number>()
  for (let i = 0; i < text.length; i++) {
    const quote = text.charAt(i)
    const closer = CLOSED_BY[quote]
    if (closer === undefined || i < (unclosedUntil.get(quote) ?? 0)) continue
    if (quote !== '"' && isWordAt(text, i - 1)) continue
    const close = findClose(text, i + 1, closer)
    if (!close.found) {
      unclosedUntil.set(quote, close.at)
      continue
    }
    if (!isKept(text, i, close.at)) {
      normal += `${text.slice(kept, i)}<string>`
      kept = close.at + 1
    }
    i = close.at
  }
  return normal + text.slice(kept)
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

/** Where a quote closes, or else the end of the line: no quote of the kind closes before that, which keeps the search linear. */
function findClose(text: string, from: number, closer: string): { found: boolean; at: number } {
  for (let i = from; i < text.length; i++) {
    const char = text.charAt(i)
    if (char === '\n') return { found: false, at: i }
    if (char === '\\') i++
    else if (char === closer && (char === '"' || !isWordAt(text, i + 1))) return { found: true, at: i }
  }
  return { found: false, at: text.length }
}
