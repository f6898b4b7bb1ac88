// Quoted text: a name is the fault's own and stays, any other text is a value and becomes `<string>`.
//   KeyError: 'user'   relation "users" does not exist   No module named 'yaml'   because "<local>" is null     names
//   'Ada Lovelace'   '4711'   'ada@example.com'   '/data/2026-11-20.csv'                                        values
//   "Access denied for user 'ada'"   TimeoutError('no answer')   details = "no such topic"    sentences about the fault
// A sentence keeps its quotes and is normalized like other text. A name has no white space (except in parameter lists),
// holds a letter, and is no e-mail address or path with a digit or in a temporary directory. The words around may make
// it a value: `For input string: "abc"`. JSON and logfmt keep keys, and values that describe the fault (`message`).
// The private characters are digits that normalizeText() hides.
const NAME = /^[A-Za-z_$./~<*#-](?:[\w.:;$/\\<>()[\]*#+=~%&?!\ue030-\ue039-]|, )*$/
/** `Void Cart.Add(Int32)` */
const RETURNS = /^[A-Za-z][\w.<>[\]\ue030-\ue039]* (?=[\w.<>]+\()/
/** A part of a query, as MySQL names it. */
const CLAUSE = /^[a-z]{2,10} (?:list|clause|statement)$/
const NAME_MAX = 100
/** A file of one run. */
const DATA_TYPES = 'csv|tsv|txt|log|gz|tgz|bz2|xz|zst|zip|tar|bak|tmp|img|iso|pdf|jpe?g|png|parquet|avro|xlsx?|bin|dat'
const DATA = new RegExp(`\\d[\\w-]{0,60}\\.(?:${DATA_TYPES})$`)
/** A hash or a generated id */
const HASH = /^(?=.{0,20}\d)[\da-f-]{6,100}$/i

/** The end of the text before a quote, if a value follows. */
const VALUE_WORDS =
  'string(?: to \\w{1,20})?|value|entry|input|text|data|parsing(?: time)?|user(?:name)?|customer|login|e-?mail|' +
  'character|host(?: ?name)?|failed to resolve|be resolved|unable to access|server(?: (?:on|at|through socket))?|' +
  'namespace|container(?: name)?|pod|vault|bucket|refs to|Username for|added|definer|endpoint|upstream'
const VALUE_AFTER = new RegExp(
  `(?:\\b(?:literal|syntax) for [\\w() ]{1,40}:|\\b(?:${VALUE_WORDS})) ?[:=]? ?\\(?$|@$`,
  'i',
)
/** The beginning of the text behind a quote, if a value came before. */
const VALUE_BEFORE = new RegExp(
  '^(?: (?:is not (?:a valid|in list)|could not be parsed|was not in a correct format|does not match|' +
    `port \\d{2,5})|@["'<]|, \\d{2,5}\\))`,
)
const LOOK_AROUND = 60

/** Keys whose values describe the fault. */
const DESCRIBES = new RegExp(
  '^(?:(?:err|error|exception|fault|failure|status|log)?[_.-]?' +
    '(?:message|msg|text|reason|details?|description|code|type|kind|class|cause)|' +
    'err|error|exception|event|status|level|severity)$',
  'i',
)
/** `"key":`, `key=`, `key: ` and `key = ` before a quote; the first two are JSON and logfmt. */
const KEY = /(?:(["'])([\w.-]{1,40})\1: ?|\b([\w.-]{1,40})=|\b([\w-]{1,40})(?:: ?| = ))$/
/** An exception or its code before the text that it was raised with. */
const RAISED = /(?:(?:Error|Exception|Warning|Disconnected)\(|\bwith message |[\ue030-\ue039], ?)$/
/** Between quotes: words and codes that only a sentence about a fault has. */
const FAULT_WORDS =
  "error|fail(?:ed|ure|s)?|cannot|can't|could ?n[o']t|unable|denied|refused|reset|aborted|closed|lost|not|no such|" +
  'invalid|missing|expired|mismatch(?:ed)?|exceeded|timed out|timeout|deadlock|too (?:many|long|large)|' +
  "doesn't|unknown|unreachable|unsupported|unexpected|already|forbidden"
const FAULT = new RegExp(`\\b(?:${FAULT_WORDS})\\b|[\ue030-\ue039]`, 'i')
/** Sentences of a query. */
const QUERIED = /\b(?:near|query|statement|command|sql):? ?$/i
/** So deep are quotes within quotes looked at: each level costs as much as the text. */
const NESTED = 2

const OPENS = /["'“‘«]/g
const CLOSED_BY: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '‘': '’', '«': '»' }
const isWordAt = (text: string, i: number) => /\w/.test(text.charAt(i))

/** Strings in quotes within a line. An apostrophe between letters is no quote; code in backticks is kept. */
export function replaceQuoted(text: string, depth = 0): string {
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
    const kind = kindOf(text, i, close.at)
    if (kind === 'value') {
      normal += `${text.slice(kept, i)}<string>`
      kept = close.at + 1
    } else if (kind === 'sentence' && depth < NESTED) {
      const inside = text.slice(i + 1, close.at).replace(/\\(["'])/g, '$1')
      normal += text.slice(kept, i + 1) + replaceQuoted(inside, depth + 1)
      kept = close.at
    }
    OPENS.lastIndex = close.at + 1
  }
  return kept === 0 ? text : normal + text.slice(kept)
}

/** The text between the quotes at `open` and `close`. */
function kindOf(text: string, open: number, close: number): 'name' | 'sentence' | 'value' {
  const before = text.slice(Math.max(0, open - LOOK_AROUND), open)
  if (text.charAt(close + 1) === ':' && /[{,] ?$/.test(before)) return 'name'
  const [, , jsonKey, logKey, otherKey = ''] = (/[:=] ?$/.test(before) && KEY.exec(before)) || []
  const key = jsonKey ?? logKey
  if (DESCRIBES.test(key ?? otherKey) || before.endsWith('`Err` value: ') || RAISED.test(before)) return 'sentence'
  if (key !== undefined) return 'value'
  const inside = text.slice(open + 1, close)
  const isQuery = inside.includes(' ') && QUERIED.test(before)
  if (!isQuery && inside.includes(' ') && FAULT.test(inside)) return 'sentence'
  if (isQuery || inside.length > NAME_MAX || !isName(inside) || VALUE_AFTER.test(before)) return 'value'
  return VALUE_BEFORE.test(text.slice(close + 1, close + 1 + LOOK_AROUND)) ? 'value' : 'name'
}

function isName(text: string): boolean {
  if (text.includes(' ') && CLAUSE.test(text)) return true
  const name = text.endsWith(')') ? text.replace(RETURNS, '') : text
  if (!NAME.test(name) || !/[A-Za-z]/.test(name)) return false
  if (text.startsWith('<address>')) return true
  if (text === '<path>' || HASH.test(text) || DATA.test(text)) return false
  return !/[/\\].*\d|\d.*[/\\]|^\/(?:tmp|var\/folders)\//.test(text)
}

/** The closing quote, or else the line's end; the caller does not search this stretch again, to stay linear. */
function findClose(text: string, from: number, closer: string): { found: boolean; at: number } {
  for (let i = from; i < text.length; i++) {
    const char = text[i]
    if (char === '\n') return { found: false, at: i }
    if (char === '\\') i++
    else if (char === closer && (closer === '"' || !isWordAt(text, i + 1))) return { found: true, at: i }
  }
  return { found: false, at: text.length }
}
