// The lines that introduce a stack trace → the exception's type and message.

const PREFIXES = [
  /^Unhandled exception\. /,
  /^Unhandled (?:exception|rejection):? /i,
  /^Uncaught (?:\(in promise\) )?/,
  /^Exception in thread "[^"]{0,200}" /,
  /^(?:PHP )?(?:Fatal|Recoverable fatal|Parse) error: {1,2}(?:Uncaught )?/,
  /^(?:Caused by|Suppressed|Next):? /,
  /^\[cause\]: /,
  /^(?:--->|--- >) ?(?:\(Inner Exception #\d{1,4}\) )?/,
]
const NAMED = /^([A-Za-z_$][\w$]{0,100}(?:(?:\.|::|\\)[A-Za-z_$][\w$]{0,100}){0,20}(?: \[\w{1,60}\])?)(?::(?: (.*))?)?$/
/** Rails: `Type (message):`. */
const IN_BRACKETS = /^([A-Z]\w{0,100}(?:::\w{1,100}){0,20}) \((.*)\):?$/
const EXCEPTION =
  /(?:Error|Exception|Fault|Failure|Interrupt|Exit|Warning|Panic|Throwable|Iteration|Group|NotFound|Timeout)(?: \[\w+\])?$/
const QUALIFIED = /(?:\.|::|\\)[A-Z][\w$]*$/
/** So many prefixes at most are stacked on one line. */
const PREFIXES_MAX = 3
/** No header is longer. */
const HEADER_LINES = 50
/** Source lines that runtimes print around a fault, and the carets below them. */
const EXCERPT = /^\s*(?:\d+ \| .*|[\^~]+)\s*$/

/** Go's and Swift's ends, behind whatever a log puts before them. */
const PANIC = /^(?:.{0,200}?[ :])?(panic|[Ff]atal error)(?: serving \S+)?: (?! ?Uncaught)(.*)$/
const TRAILER = /^(?:Require stack:$|- \/|\[signal |(?:stack backtrace|\[?stack ?trace\]?):?$|Thread \d+ .*crashed:?$)/i
const LOG_PREFIX = /^\[?\d{4}-\d\d-\d\d[T ][\d:.,+Z-]+\]? +(?:\[?[A-Za-z-]{4,8}\]?:? +)?/

/** The line is the beginning of an exception's text, not the middle of one. */
export const startsHeader = (line: string): boolean => EXCEPTION.test(typeOf(stripPrefix(line)))

const typeOf = (line: string): string => NAMED.exec(line)?.[1] ?? ''

/**
 * Of several lines that name an exception the first, or in a log (`isLog`) the one nearest to the frames; without one, the last
 * paragraph.
 */
export function readHeader(block: readonly string[], isLog: boolean): { type: string; message: string } {
  const recent = block.slice(-HEADER_LINES)
  const lines = recent.filter((line) => !EXCERPT.test(line)).map((line) => stripPrefix(line.trim()))
  const match = (line: string) => {
    const [, panic, said = ''] = PANIC.exec(line) ?? []
    if (panic !== undefined) return { type: panic, message: said }
    const [, type = '', message = ''] = NAMED.exec(line) ?? IN_BRACKETS.exec(line) ?? []
    return EXCEPTION.test(type) || QUALIFIED.test(type) ? { type, message } : undefined
  }
  const at = isLog ? lines.findLastIndex((line) => match(line)) : lines.findIndex((line) => match(line))
  if (at >= 0) {
    const { type, message } = match(lines[at]!)!
    return { type, message: joined([message, ...lines.slice(at + 1)]) }
  }
  const paragraph = lastParagraph(lines.filter((line) => !TRAILER.test(line)))
  const [, type = '', message] = NAMED.exec(paragraph[0] ?? '') ?? []
  return message !== undefined && /^[A-Z]/.test(type)
    ? { type, message: joined([message, ...paragraph.slice(1)]) }
    : { type: '', message: joined(paragraph) }
}

function stripPrefix(line: string): string {
  let rest = line.replace(LOG_PREFIX, '')
  for (let round = 0, before = ''; before !== rest && round < PREFIXES_MAX; round++) {
    before = rest
    for (const prefix of PREFIXES) rest = rest.replace(prefix, '')
  }
  return rest
}

function lastParagraph(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex((line) => line !== '') + 1
  return lines.slice(lines.lastIndexOf('', end - 1) + 1, end)
}

const joined = (lines: readonly string[]): string =>
  lines
    .filter((line) => !TRAILER.test(line))
    .join('\n')
    .trim()
