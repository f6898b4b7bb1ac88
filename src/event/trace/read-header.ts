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
/** Source lines that runtimes print around a fault, and the carets below them. */
const EXCERPT = /^\s*(?:\d+ \| .*|[\^~]+)\s*$/

/** Of several lines that could be it, the first that names an exception; else the last paragraph. */
export function readHeader(block: readonly string[]): { type: string; message: string } {
  const lines = block.filter((line) => !EXCERPT.test(line)).map((line) => stripPrefix(line.trim()))
  for (const [i, line] of lines.entries()) {
    const [, type = '', message = ''] = NAMED.exec(line) ?? IN_BRACKETS.exec(line) ?? []
    if (EXCEPTION.test(type) || QUALIFIED.test(type)) return { type, message: joined([message, ...lines.slice(i + 1)]) }
  }
  const paragraph = lastParagraph(lines)
  const [, type = '', message] = NAMED.exec(paragraph[0] ?? '') ?? []
  return message !== undefined && /^[A-Z]/.test(type)
    ? { type, message: joined([message, ...paragraph.slice(1)]) }
    : { type: '', message: joined(paragraph) }
}

function stripPrefix(line: string): string {
  let rest = line
  for (let before = ''; before !== rest; ) {
    before = rest
    for (const prefix of PREFIXES) rest = rest.replace(prefix, '')
  }
  return rest
}

function lastParagraph(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex((line) => line !== '') + 1
  return lines.slice(lines.lastIndexOf('', end - 1) + 1, end)
}

const joined = (lines: readonly string[]): string => lines.join('\n').trim()
