// Words in the text of an exception as a reader sees it, like its fingerprint and headline. What is stored keeps a
// terminal's colours, JSON's escapes (`\"`, `\\`, `\/`, `\u00e9`, also of JSON within JSON) and its members, which a
// headline joins: `ERROR failed: no rate code=E42` of {"level":50,"msg":"failed","err":"no rate","code":"E42"}.
import { LEVEL_KEY } from '../../event/reading/read-json-line.ts'

/** A text without colours and movements of the cursor. */
const PRINTED =
  `if(position(exception, '\\x1b[') = 0, exception, ` +
  `replaceRegexpAll(exception, '\\x1b\\\\[[0-?]{0,40}[ -/]{0,3}[@-~]', ''))`

/** Neither JSON nor a headline changes these; a colon at the end may join two members. */
const PLAIN = /^[\w .,:;()[\]{}@#%*!?$^~|-]*(?<!:)$/
const QUOTE = '\\\\*"'
const COLON = `${QUOTE}\\s*:\\s*(?:${QUOTE})?`
/** What a log may have for a word of a level. */
const LEVELS: ReadonlyMap<string, string> = new Map(
  Object.entries({ error: '[0-3]|[56]0|err|crit', warn: '4|40', info: '[5-7]|[1-3]0' }).map(([word, values]) => [
    word,
    `${LEVEL_KEY}${COLON}(?:${values})\\b`,
  ]),
)

/** The conditions that a text contains each word, in any case, and their parameters. */
export function findWords(words: readonly string[]): { where: string[]; params: Record<string, string> } {
  const conditions = words.map((word, i) => {
    const level = LEVELS.get(word.toLowerCase())
    const isPlain = level === undefined && PLAIN.test(word)
    const value = isPlain ? word : `(?is)${patternOf(word)}${level === undefined ? '' : `|${level}`}`
    const parameter = `{word_${i}:String}`
    const sql = isPlain
      ? `positionCaseInsensitiveUTF8(${PRINTED}, ${parameter}) > 0`
      : `match(${PRINTED}, ${parameter})`
    return { sql, value }
  })
  return {
    where: conditions.map(({ sql }) => sql),
    params: Object.fromEntries(conditions.map(({ value }, i) => [`word_${i}`, value])),
  }
}

/** In the syntax of RE2. */
function patternOf(word: string): string {
  const parts = word.match(/\\+|[^\\]/gu) ?? []
  return parts
    .map((part, i) => (part === ':' && i === parts.length - 1 ? `(?:${QUOTE}|:)` : patternOfPart(part)))
    .join('')
}

function patternOfPart(part: string): string {
  if (/^\w$/.test(part)) return part
  if (part.startsWith('\\')) return `\\\\{${part.length},}`
  const literal = /^[!-~]$/.test(part) ? `\\${part}` : part
  const escapes = [...new Set([part, part.toLowerCase(), part.toUpperCase()])].map(escapeOf)
  return `(?:\\\\*${[literal, ...escapes, ...(part === '=' ? [COLON] : [])].join('|')})`
}

/** One for each UTF-16 code unit. */
const escapeOf = (char: string): string =>
  char
    .split('')
    .map((unit) => `\\\\+u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
