// A fingerprint is a hash of an exception's text without its varying parts; occurrences of one fault share it.
// A changed rule is a new version. Stored fingerprints keep theirs, so one fault may have a group per version.
import { createHash } from 'node:crypto'
import { ENDING } from './failed-command.ts'
import { ERROR } from './fault-words.ts'
import { normalizeText } from './normalize-text.ts'
import { RANK, type Ranked, rankLines } from './rank-lines.ts'
import { markValues, unhide } from './reading/mark-values.ts'
import { readText } from './reading/read-text.ts'
import { parseTraces, type Trace } from './trace/parse-trace.ts'
import { splitLines, withLineFeeds, withoutLogger } from './trace/printed-lines.ts'
import { type Frame, fileName, isInternal, type Raised } from './trace/trace.ts'

/** Deeper frames show how the fault was reached, not what it is. */
const FRAMES = 5
const CAUSES = 5
const MESSAGE_LINES = 10
/** Enough of a message to recognise the fault. Twice as much is read, so that a cut never shows what varies. */
const MESSAGE_CHARS = 500
const CAUSE_CHARS = 200
/** Every build of a bundle gives names of this length to other functions. */
const MINIFIED_NAME = 2

/** `v5:` and 16 hexadecimal digits. */
export const fingerprint = (exception: string): string => hashed('v5', normalizeException(exception))

/** `v4:` and 16 hexadecimal digits, as 2.0 computes them: decisions about its groups stay for one release. */
export const formerFingerprint = (exception: string): string => hashed('v4', normalizeRead(exception, true))

const hashed = (version: string, normal: string): string =>
  `${version}:${createHash('sha256').update(normal).digest('hex').slice(0, 16)}`

export type FingerprintOf = (exception: string) => string

/** Total length of the remembered texts, in two halves: the older one is dropped when the newer one is full. */
const REMEMBERED_CHARS = 2_000_000

/** Repeated failures have the same text, and a look-up costs a hundredth of a fingerprint. */
export function rememberFingerprints(maxChars = REMEMBERED_CHARS, compute: FingerprintOf = fingerprint): FingerprintOf {
  let older = new Map<string, string>()
  let newer = new Map<string, string>()
  let newerChars = 0
  return (exception) => {
    const known = newer.get(exception)
    if (known !== undefined) return known
    const found = older.get(exception) ?? compute(exception)
    if (newerChars + exception.length > maxChars / 2) {
      older = newer
      newer = new Map()
      newerChars = 0
    }
    newer.set(exception, found)
    newerChars += exception.length
    return found
  }
}

/**
 * The text that is hashed. Stack trace: type, message and top frames (function and file) of the exception and its
 * causes. `stint exec` failure: how the command ended, and its trace or last lines. Any other text: its first lines.
 * Varying parts are placeholders such as `<number>` and `<string>`.
 */
export const normalizeException = (exception: string): string =>
  unhide(normalizeRead(markValues(readText(exception).join('\n'))))

/** `isFormer`: by the rules of v4. */
function normalizeRead(exception: string, isFormer = false): string {
  const failure = readFailure(exception, isFormer)
  if (failure !== undefined) {
    const { command, ending, trace, lines } = failure
    const said = trace === undefined ? normalizeLines(lines, LINE_CHARS) : describeTrace(trace)
    const how = `${normalizeFile(command)}: ${normalizeText(ending)}`
    return said === '' ? how : `${how}\n${said}`
  }
  const lines = splitLines(exception)
  const [trace] = parseTraces(lines)
  return trace === undefined ? normalizeMessage(lines.join('\n').trimStart(), MESSAGE_CHARS) : describeTrace(trace)
}

const describeTrace = ({ chain }: Trace): string =>
  chain
    .slice(0, CAUSES + 1)
    .map((raised, i) => describeRaised(raised, i === 0 ? MESSAGE_CHARS : CAUSE_CHARS))
    .join('\ncaused by ')

function describeRaised({ type, message, frames }: Raised, maxChars: number): string {
  const said = type.endsWith('UnknownHostException') ? '' : normalizeMessage(message, maxChars) // it is the host
  const header = [normalizeName(type), said].filter((part) => part !== '').join(': ')
  const top = topFrames(frames)
  if (RECURSES.test(type + message)) top.sort()
  return [...(header === '' ? [] : [header]), ...top.map((frame) => `  at ${frame}`)].join('\n')
}

/** The depth at which a recursion stopped is arbitrary. */
const RECURSES = /StackOverflow|RecursionError|SystemStackError|call stack size|stack overflow/i

/** Frames of the runtime count only if there are no others. */
function topFrames(frames: readonly Frame[]): string[] {
  const own = describeFrames(frames.values().filter((frame) => !isInternal(frame)))
  return own.length > 0 ? own : describeFrames(frames)
}

/** A function that calls itself counts once: the depth varies. */
function describeFrames(frames: Iterable<Frame>): string[] {
  const top = new Set<string>()
  for (const frame of frames) {
    const name = frame.family === 'script' && isInternal(frame) ? '' : fileName(frame)
    const file = normalizeFile(name)
    const isMinified = file !== name && frame.name.length <= MINIFIED_NAME
    const parts = [isMinified ? '' : normalizeName(frame.name), file === '' ? '' : `(${file})`]
    top.add(parts.filter((part) => part !== '').join(' '))
    if (top.size === FRAMES) break
  }
  return [...top]
}

const normalizeMessage = (message: string, maxChars: number): string =>
  normalizeLines(withLineFeeds(message.slice(0, 2 * maxChars)).split('\n', MESSAGE_LINES)).slice(0, maxChars)

const normalizeLines = (lines: readonly string[], maxChars = Number.POSITIVE_INFINITY): string =>
  lines
    .map((line, i) => normalizeLine(line, lines[i - 1]).slice(0, maxChars))
    .filter((line, i, all) => line !== '' && line !== all[i - 1])
    .join('\n')

/** Below a message, a URL says only where something came from, and PostgreSQL's excerpt of the query nothing. */
const normalizeLine = (line: string, above = line): string =>
  line.startsWith('LINE ') && !above.startsWith('LINE ')
    ? ''
    : normalizeText(line, above !== line && line.includes('://') && !ERROR.test(line))

/** A function's name without what compilers and runtimes number: `step1` and `step2` remain two functions. */
const normalizeName = (name: string): string =>
  NUMBERED.test(name) ? dropNumbers(name.slice(0, 300)) : name.slice(0, 300)

const NUMBERED =
  /[$<{#@]|^block |\.MoveNext$|::h[0-9a-f]{16}$|0x|(?:\.func|\.gowrap|\.init\.|__|Accessor|Proxy|AnonStorey)\d/
const dropNumbers = (name: string): string =>
  name
    .replace(/::h[0-9a-f]{16}$/, '') // Rust
    .replace(/\{closure[^}]*\}/g, '{closure}') // PHP
    .replace(/@anonymous.*$/, '@anonymous')
    .replace(/<>c(?:__DisplayClass\d+_\d+)?\.|\.MoveNext$/g, '') // C#
    .replace(/<(\w+)>[bdg]__(\w+\|)?\d+(?:_\d+)?/g, (_, method: string, local?: string) =>
      local === undefined ? method : `${method}.${local.slice(0, -1)}`,
    )
    .replace(/\$\d+/g, '$')
    .replace(/(?<=\.func|\.gowrap|\.init\.)\d+(?:\.\d+)*/g, '') // Go
    .replace(/#\d+/g, '') // Swift
    .replace(/block (?:\(\d+ levels\) )?in /, 'block in ') // Ruby
    .replace(/0x[0-9a-f]{1,16}/gi, '<number>')
    .replace(/(?<=__|Accessor|Proxy|AnonStorey)_?\d+(?:_\d+)*/g, '<number>')

/** A file's name without the hash of a bundle and without ids. */
const normalizeFile = (file: string): string =>
  /\d|[.~-][\w-]{8}/.test(file) ? dropHashes(file.slice(0, 200)) : file.slice(0, 200)

const dropHashes = (file: string): string =>
  file
    .replace(/[.-](?=[\w-]{8}\.(?:m?js|css)$)(?=\S*\d|\S*[a-z][A-Z]\S*[A-Z]|\S*[A-Z]{2})[\w-]{8}(?=\.)/, '')
    .replace(/(?:^|[.~-])[0-9a-f]{8,64}(?=[.~-])/g, '')
    .replace(/\d{3,}/g, '<number>')

// What `stint exec` sends for a failed command: how it ended, then the end of its stderr, which may begin mid-line.
export interface Failure {
  readonly command: string
  /** `exited with code 1` */
  readonly ending: string
  /** The stack trace that the command ended with. */
  readonly trace?: Trace
  /** Without a trace: the lines that say most about the fault, at most LINES of them. */
  readonly lines: readonly string[]
}

const LINES = 4
const LINE_CHARS = 400
/** Only the last part of a line this long was kept. */
const CUT_LINE = 900
/** Lines that runtimes print below a trace. */
const BELOW_TRACE = /^(?:\s|\}|Node\.js v|Bun v|note: |exit status |$)/

/** Undefined unless the text is one of `stint exec`. */
function readFailure(text: string, isFormer: boolean): Failure | undefined {
  const end = text.indexOf('\n')
  const [, command, ending] = ENDING.exec((end < 0 ? text : text.slice(0, end)).trim()) ?? []
  if (command === undefined || ending === undefined) return undefined
  if (end < 0) return { command, ending, lines: [] }
  const lines = splitLines(text.slice(end + 1))
  const trace = parseTraces(lines, true).findLast((found) => isWhole(found) && isLast(found, lines))
  if (trace !== undefined) return { command, ending, trace, lines: [] }
  return { command, ending, lines: lastLines(lines, /exited|failed/.test(ending), isFormer) }
}

/** A trace that lost its header lost an unknown number of frames, too. */
const isWhole = ({ chain, start }: Trace): boolean => start > 0 || chain[0]!.type !== '' || chain[0]!.message !== ''

const isLast = ({ end }: Trace, lines: readonly string[]): boolean =>
  lines.slice(end).filter((line) => !BELOW_TRACE.test(withoutLogger(line))).length <= LINES

/**
 * The last lines that name a fault, and the last one of all, unless a signal ended the command amid ordinary work. If
 * none says why, the last two: every failure of a job may end with the same line, in any language.
 */
function lastLines(lines: readonly string[], hasExited: boolean, isFormer: boolean): string[] {
  const whole = lines.filter((line, i) => !(i === 0 && line.length >= CUT_LINE))
  const ranked = rankLines(whole, isFormer)
  const isKnown = ranked.some(({ rank }) => rank >= RANK.lack)
  const said = ranked.filter(({ rank }) => rank >= RANK.ordinary && !(isKnown && rank === RANK.count))
  const last = said.at(-1) ?? ranked.findLast(({ rank }) => rank > RANK.place)
  const above = isKnown || last?.rank === RANK.ordinary ? undefined : said.at(-2)
  const counts = (one: Ranked) => one.rank >= RANK.outcome || (hasExited && (one === last || one === above))
  const chosen = (last === undefined || said.length > 0 ? said : [last]).filter(counts).slice(-LINES)
  // Below another line a URL says only where something came from.
  return (isKnown ? chosen : chosen.reverse()).map(({ line }) => line)
}
