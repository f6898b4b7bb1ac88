// Finds the stack traces in a text. One pass over the lines serves all languages: a line is a frame, connects two
// exceptions of a chain, or belongs to an exception's message, which is above its frames (in Python below them).
import { withoutLogger } from './printed-lines.ts'
import { type FoundFrame, readFrame } from './read-frame.ts'
import type { Frame, Raised } from './trace.ts'

export interface Trace {
  /** The exception that was raised last first, then its causes; never empty. */
  readonly chain: readonly Raised[]
  /** The indices of its first frame's line and of the line behind its last one. */
  readonly start: number
  readonly end: number
}

/** Everything printed about one exception. */
interface Part {
  readonly above: string[]
  readonly frames: FoundFrame[]
  readonly below: string[]
  /** Rust: the place behind `panicked at`. */
  place?: string
  /** Ruby and Python 2.7: the outermost frame stands first. */
  isReversed?: true
}

/** A cause follows the exception it led to. */
const CAUSE = /^\s*(?:Caused by: |\[cause\]: |---> )/
/** An exception follows its cause. */
const RAISED_NEXT = /^[\s|]*(?:During handling of|The above exception was|Next [A-Z\\]|\+-[+-])/
/** Every line that CAUSE, RAISED_NEXT, INNER_ENDS or SUPPRESSED accepts; most lines begin with another character. */
const CONNECTS_BY = 'C[-DTN+S|'
const CONNECTS = /^[\s|]*(?:Caused by: |\[cause\]: |---|During |The above |Next |\+-|Suppressed: )/
const BEGINS = 'Traceback (most recent call last)'
const INNER_ENDS = /^\s*--- End of inner exception stack trace ---/
const SUPPRESSED = /^\s+Suppressed: /
const PANICKED = /^thread '[^']*' (?:\(\d+\) )?panicked at (.*)$/
const OLD_PANIC = /^'(.*)', (\S+:\d+:\d+)$/
const GOROUTINE = /^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[/
const PHP_PLACE = / (?:in|at) (\/?[^\s]+?)(?::\d+\)?| on line \d+)$/

/** In the order of the text. `isLog`: lines above a trace may belong to something else. */
export function parseTraces(printed: readonly string[], isLog = false): Trace[] {
  const lines = printed.map(withoutLogger)
  const traces: Trace[] = []
  let chain: Part[] = []
  let open: Part[] = []
  let start = -1
  let end = 0
  const begin = (isFirst: boolean, ...above: string[]): Part => {
    const part: Part = { above, frames: [], below: [] }
    if (isFirst) chain.unshift(part)
    else chain.push(part)
    open.push(part)
    return part
  }
  const finish = () => {
    const raised = chain.filter(({ frames, place }) => frames.length > 0 || place !== undefined)
    if (raised.length > 0) traces.push({ chain: raised.map((part) => describePart(part, isLog)), start, end })
    chain = []
    open = []
    start = -1
    return begin(true)
  }
  finish()
  let isOver = false // the first goroutine is the one that failed

  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    let part = open.at(-1)!
    const isGoroutine = line.startsWith('goroutine ') && GOROUTINE.test(line)
    if (isGoroutine) isOver = part.frames.length > 0
    const found = isGoroutine ? undefined : readFrame(lines, i)
    if (found !== undefined) {
      if (isOver) continue
      const isNew = found.isPython ? part.below.length > 0 : part.below.some(startsHeader)
      if (isNew) {
        const { below } = part
        part = finish()
        if (!found.isPython) part.above.push(...below)
      } else part.below.length = 0
      if (start < 0) start = i
      part.frames.push(found)
      if (found.lines === 2) i++
      end = i + 1
      continue
    }
    const connects = CONNECTS_BY.includes(line.trimStart().charAt(0)) && CONNECTS.test(line)
    if (connects && INNER_ENDS.test(line)) open.length > 1 && open.pop()
    else if (line.includes(BEGINS)) {
      const isConnected = part.frames.length === 0 || /^\s*\|/.test(line)
      if (!isConnected) part = finish()
      else if (/^\s*\|/.test(line)) part = begin(true)
      part.above.length = 0
      part.isReversed = true
    } else if (connects && RAISED_NEXT.test(line) && part.frames.length > 0) begin(true, line)
    else if (connects && CAUSE.test(line) && (part.frames.length > 0 || part.above.length > 0)) begin(false, line)
    else if (connects && SUPPRESSED.test(line)) {
      begin(false)
      chain.pop() // its frames belong to no cause
    } else if (line.startsWith("thread '") && PANICKED.test(line)) {
      part = finish()
      part.place = PANICKED.exec(line)![1]!
      start = i
      end = i + 1
    } else if (isGoroutine) continue
    else if (part.frames.length === 0) part.above.push(line)
    else if (!part.frames[0]!.isPython) part.below.push(line)
    else if (part.below.length > 0 || /^(?: *\| )?\S/.test(line)) {
      if (line !== '') part.below.push(line.replace(/^ *\| /, ''))
      if (line !== '' && part.below.length === 1) end = i + 1
    }
  }
  finish()
  return traces
}

function describePart({ above, frames, below, place, isReversed }: Part, isLog: boolean): Raised {
  const first = frames[0]
  if (place !== undefined) return describePanic(place, above, frames)
  if (first?.isPython) return { ...readHeader(below, false), frames: frames.toReversed() }
  const said = frames.findIndex(({ says }) => says !== undefined)
  const ordered = isReversed ? frames.toReversed() : frames
  if (said >= 0) {
    const [, message = frames[said]!.says!, type = ''] = /^(.*) \(([A-Z][\w:]*)\)$/.exec(frames[said]!.says!) ?? []
    return { type, message, frames: ordered }
  }
  const { type, message } = readHeader(above, isLog)
  const file = message.includes('.php') ? PHP_PLACE.exec(message)?.[1] : undefined
  if (file === undefined || !file.endsWith('.php')) return { type, message, frames: ordered }
  const thrown: Frame = { name: '', place: file, family: 'script' }
  return { type, message: message.replace(PHP_PLACE, ''), frames: [thrown, ...ordered] }
}

function describePanic(place: string, below: readonly string[], frames: readonly FoundFrame[]): Raised {
  const [, message, at] = OLD_PANIC.exec(place) ?? []
  const end = below.findIndex((line) => line.startsWith('note: ') || line === 'stack backtrace:')
  const said = below.slice(0, end < 0 ? undefined : end)
  const panicked: Frame = { name: '', place: at ?? place.replace(/:$/, ''), family: 'native' }
  return { type: 'panic', message: message ?? said.join('\n').trim(), frames: frames.length > 0 ? frames : [panicked] }
}

// The lines that introduce a stack trace → the exception's type and message.
const PREFIXES = [
  '\\(\\w{1,20}:\\d{1,10}\\) ',
  'UnhandledPromiseRejectionWarning: (?=\\S)',
  'Unhandled exception\\. ',
  '[Uu]nhandled (?:[Ee]xception|(?:[Pp]romise )?[Rr]ejection):? ',
  'Uncaught (?:\\(in promise\\) )?',
  'Exception in thread "[^"]{0,200}" ',
  '(?:PHP )?(?:Fatal|Recoverable fatal|Parse) error: {1,2}(?:Uncaught )?',
  '(?:Caused by|Suppressed|Next):? ',
  '\\[cause\\]: ',
  '(?:--->|--- >) ?(?:\\(Inner Exception #\\d{1,4}\\) )?',
]
/** So many prefixes at most are stacked on one line. */
const PREFIXES_MAX = 6
const STACKED = new RegExp(`^(?:${PREFIXES.join('|')}){1,${PREFIXES_MAX}}`)
const NAMED = /^([A-Za-z_$][\w$]{0,100}(?:(?:\.|::|\\)[A-Za-z_$][\w$]{0,100}){0,20}(?: \[\w{1,60}\])?)(?::(?: (.*))?)?$/
/** Rails: `Type (message):`. */
const IN_BRACKETS = /^([A-Z]\w{0,100}(?:::\w{1,100}){0,20}) \((.*)\):?$/
const EXCEPTION = new RegExp(
  '(?:Error|Exception|Fault|Failure|Interrupt|Exit|Warning|Panic|Throwable|Iteration|Group|NotFound|Timeout)' +
    '(?: \\[\\w+\\])?$',
)
const QUALIFIED = /(?:\.|::|\\)[A-Z][\w$]*$/
/** No header is longer. */
const HEADER_LINES = 50
/** Source lines that runtimes print around a fault, and the carets below them. */
const EXCERPT = /^\s*(?:\d+ \| .*|[\^~]+)\s*$/

/** Go's and Swift's ends, behind whatever a log puts before them. */
const PANIC = /^(?:.{0,200}?[ :])?(panic|[Ff]atal error|\w{1,20}Sanitizer)(?: serving \S+)?: (?! ?Uncaught)(.*)$/
const TRAILER = /^(?:Require stack:$|- \/|\[signal |(?:stack backtrace|\[?stack ?trace\]?):?$|Thread \d+ .*crashed:?$)/i
const LOG_PREFIX =
  /^(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,+Z-]+\]? +(?:\[?[A-Za-z-]{4,8}\]?:? +)?|\[?(?:ERROR|FATAL|SEVERE|WARN)\]? +)/

/** The line is the beginning of an exception's text, not the middle of one. */
const startsHeader = (line: string): boolean => EXCEPTION.test(typeOf(stripPrefix(line)))

const typeOf = (line: string): string => NAMED.exec(line)?.[1] ?? ''

/**
 * Of several lines that name an exception the first, or in a log (`isLog`) the one nearest to the frames; without one,
 * the last paragraph, or in a log its last line.
 */
function readHeader(block: readonly string[], isLog: boolean): { type: string; message: string } {
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
  const paragraph = lastParagraph(lines.filter((line) => !TRAILER.test(line))).slice(isLog ? -1 : 0)
  const [, type = '', message] = NAMED.exec(paragraph[0] ?? '') ?? []
  return message !== undefined && /^[A-Z]/.test(type)
    ? { type, message: joined([message, ...paragraph.slice(1)]) }
    : { type: '', message: joined(paragraph) }
}

const stripPrefix = (line: string): string => line.replace(LOG_PREFIX, '').replace(STACKED, '')

function lastParagraph(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex((line) => line !== '') + 1
  return lines.slice(lines.lastIndexOf('', end - 1) + 1, end)
}

const joined = (lines: readonly string[]): string =>
  lines
    .filter((line) => !TRAILER.test(line))
    .join('\n')
    .trim()
