// A fingerprint names the fault behind an exception's text, so that its occurrences can be grouped: it is the hash of what is left of the text
// without what varies. Versioned: a change to what is left is a new version, and groups never mix versions.
import { createHash } from 'node:crypto'
import { normalizeText } from './normalize-text.ts'
import { parseTrace } from './trace/parse-trace.ts'
import type { Frame, Raised } from './trace/trace.ts'

const VERSION = 'v1'
/** Deeper frames tell how the fault was reached, not what it is. */
const FRAMES = 5
const CAUSES = 5
const MESSAGE_LINES = 10
const MESSAGE_CHARS = 1000

/** `v1:` and 16 hexadecimal digits. */
export function fingerprint(exception: string): string {
  const hash = createHash('sha256').update(normalizeException(exception)).digest('hex')
  return `${VERSION}:${hash.slice(0, 16)}`
}

/**
 * What the fingerprint is made of, to be shown: of a stack trace the type, the message and the top frames (function and file) of the exception
 * and its causes; of any other text its first lines; both with placeholders such as `<number>` and `<string>` for what varies.
 */
export function normalizeException(exception: string): string {
  const chain = parseTrace(exception)
  if (chain.length === 0) return normalizeMessage(exception)
  return chain
    .slice(0, CAUSES + 1)
    .map(describeRaised)
    .join('\ncaused by ')
}

function describeRaised({ type, message, frames }: Raised): string {
  const header = [normalizeName(type), normalizeMessage(message)].filter((part) => part !== '').join(': ')
  return [header, ...topFrames(frames).map((frame) => `  at ${frame}`)].join('\n')
}

/** A function that calls itself counts once: how deep it went varies. */
function topFrames(frames: readonly Frame[]): string[] {
  const top: string[] = []
  for (const { name, file } of frames) {
    if (top.length === FRAMES) break
    const place = file === '' ? '' : `(${normalizeText(file)})`
    const frame = [normalizeName(name), place].filter((part) => part !== '').join(' ')
    if (frame !== top.at(-1)) top.push(frame)
  }
  return top
}

const normalizeMessage = (message: string): string =>
  message
    .split('\n', MESSAGE_LINES)
    .map(normalizeText)
    .filter((line) => line !== '')
    .join('\n')
    .slice(0, MESSAGE_CHARS)

/** Of a function's name only what compilers and runtimes number: `step1` and `step2` are two functions. */
const normalizeName = (name: string): string =>
  name
    .replace(/0x[0-9a-f]{1,16}/gi, '<number>')
    .replace(/\$\d+/g, '$<number>')
    .replace(/(__|Accessor|Proxy|CGLIB|DisplayClass)\d+(?:_\d+)*/g, '$1<number>')
