// A fingerprint names the fault behind an exception's text, so that its occurrences can be grouped: it is the hash of the text without what
// varies. A change to the rule is a new version; a stored fingerprint keeps its version, so one fault may have a group per version.
//   v1 (until November 2026) replaced all quoted text and all numbers, and took the first lines of what `stint exec` sends
//   v2 keeps names in quotes and numbers that name the fault, drops frames of runtimes and compilers, and groups failures of `stint exec`
//      by their ending and last lines
import { createHash } from 'node:crypto'
import { normalizeText } from './normalize-text.ts'
import { readFailure } from './read-failure.ts'
import { parseTraces, splitLines, type Trace, withLineFeeds } from './trace/parse-trace.ts'
import { type Frame, fileName, isInternal, type Raised } from './trace/trace.ts'

const VERSION = 'v2'
/** Deeper frames show how the fault was reached, not what it is. */
const FRAMES = 5
const CAUSES = 5
const MESSAGE_LINES = 10
/** Enough of a message to recognise the fault. Twice as much is read, so that a cut never shows what varies. */
const MESSAGE_CHARS = 500
const CAUSE_CHARS = 200
/** Every build of a bundle gives names of this length to other functions. */
const MINIFIED_NAME = 2

/** `v2:` and 16 hexadecimal digits. */
export function fingerprint(exception: string): string {
  const hash = createHash('sha256').update(normalizeException(exception)).digest('hex')
  return `${VERSION}:${hash.slice(0, 16)}`
}

/**
 * The text that the fingerprint is the hash of. From a stack trace: type, message and top frames (function and file) of the exception and its
 * causes. From a failure of `stint exec`: how the command ended and its trace or last lines. From any other text: its first lines. Varying
 * parts are placeholders such as `<number>` and `<string>`.
 */
export function normalizeException(exception: string): string {
  const failure = readFailure(exception)
  if (failure !== undefined) {
    const { command, ending, trace, lines } = failure
    const said = trace === undefined ? normalizeLines(lines) : describeTrace(trace)
    const how = `${normalizeFile(command)}: ${normalizeText(ending)}`
    return said === '' ? how : `${how}\n${said}`
  }
  const [trace] = parseTraces(splitLines(exception))
  return trace === undefined ? normalizeMessage(exception.trimStart(), MESSAGE_CHARS) : describeTrace(trace)
}

const describeTrace = ({ chain }: Trace): string =>
  chain
    .slice(0, CAUSES + 1)
    .map((raised, i) => describeRaised(raised, i === 0 ? MESSAGE_CHARS : CAUSE_CHARS))
    .join('\ncaused by ')

function describeRaised({ type, message, frames }: Raised, maxChars: number): string {
  const header = [normalizeName(type), normalizeMessage(message, maxChars)].filter((part) => part !== '').join(': ')
  const top = topFrames(frames)
  if (RECURSES.test(type + message)) top.sort()
  return [...(header === '' ? [] : [header]), ...top.map((frame) => `  at ${frame}`)].join('\n')
}

/** Where a recursion stopped is chance. */
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
    const name = fileName(frame)
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

const normalizeLines = (lines: readonly string[]): string =>
  lines
    .map(normalizeText)
    .filter((line, i, all) => line !== '' && line !== all[i - 1])
    .join('\n')

/** A function's name without what compilers and runtimes number: `step1` and `step2` remain two functions. */
const normalizeName = (name: string): string =>
  NUMBERED.test(name) ? dropNumbers(name.slice(0, 300)) : name.slice(0, 300)

const NUMBERED = /[$<{#@]|^block |\.MoveNext$|::h[0-9a-f]{16}$|0x|(?:\.func|\.gowrap|\.init\.|__|Accessor|Proxy)\d/
const dropNumbers = (name: string): string =>
  name
    .replace(/::h[0-9a-f]{16}$/, '') // Rust
    .replace(/::\{\{closure\}\}|\{closure#\d+\}/g, '::closure')
    .replace(/\{closure[^}]*\}/g, '{closure}') // PHP
    .replace(/@anonymous.*$/, '@anonymous')
    .replace(/<>c(?:__DisplayClass\d+_\d+)?\.|\.MoveNext$/g, '') // C#
    .replace(/<(\w+)>[bdg]__(\w+\|)?\d+(?:_\d+)?/g, (_, method: string, local?: string) =>
      local === undefined ? method : `${method}.${local.slice(0, -1)}`,
    )
    .replace(/\$\$.*$/, '') // CGLIB and lambdas of the JVM
    .replace(/\$\d+/g, '$')
    .replace(/(?<=\.func|\.gowrap|\.init\.)\d+(?:\.\d+)*/g, '') // Go
    .replace(/#\d+/g, '') // Swift
    .replace(/block (?:\(\d+ levels\) )?in /, 'block in ') // Ruby
    .replace(/0x[0-9a-f]{1,16}/gi, '<number>')
    .replace(/(?<=__|Accessor|Proxy)\d+(?:_\d+)*/g, '<number>')

/** A file's name without the hash of a bundle and without ids. */
const normalizeFile = (file: string): string =>
  /\d|[.~-][\w-]{8}/.test(file) ? dropHashes(file.slice(0, 200)) : file.slice(0, 200)

const dropHashes = (file: string): string =>
  file
    .replace(/[.-](?=[\w-]{8}\.(?:m?js|css)$)(?=\S*\d|\S*[a-z][A-Z]\S*[A-Z]|\S*[A-Z]{2})[\w-]{8}(?=\.)/, '')
    .replace(/(?:^|[.~-])[0-9a-f]{8,64}(?=[.~-])/g, '')
    .replace(/\d{3,}/g, '<number>')
