// The lines of a text as fingerprint and headline read them: what a line is comes before words are searched in it.
import { splitLines, withoutLogger, withoutPrinter } from '../trace/printed-lines.ts'
import { asPrinted } from './printed-text.ts'
import { readJsonLine } from './read-json-line.ts'

/** No logger writes longer lines; of a longer text the middle is not read. */
const LINE_MAX = 20_000
const OBJECT_LINES = 200

/** Without controls of terminals, lines of JSON as the lines they mean, traces without prefixes. */
export function readText(text: string): string[] {
  const lines = asPrinted(text).split('\n')
  const read = text.includes('{') && text.includes('":') ? joinObjects(lines).flatMap(readLine) : lines
  return splitLines(stripPrefixes(read).join('\n'))
}

/** An object over several lines, as APIs answer, becomes one. */
function joinObjects(lines: readonly string[]): readonly string[] {
  const begin = lines.indexOf('{')
  const end = begin < 0 ? -1 : lines.indexOf('}', begin)
  if (end < 0 || end - begin > OBJECT_LINES) return lines
  return [...lines.slice(0, begin), lines.slice(begin, end + 1).join(''), ...lines.slice(end + 1)]
}

function readLine(line: string): string | string[] {
  if (!line.endsWith('}') && !line.trimEnd().endsWith('}')) return line
  const at = line.indexOf('{')
  if (at < 0 || line.length > LINE_MAX) return line
  const bare = at === 0 ? line : withoutLogger(withoutPrinter(line))
  return readJsonLine(bare) ?? line
}

// What stands before a frame on its line stands before every line of that trace: time, host, process, level, whatever
// the logger is. It is found by the frame and taken off; no logger is known by its name.

/** A frame that does not begin its line. */
const FRAME = new RegExp(
  '\\S(?=\\s{1,40}(?:File "[^"\\n]{1,400}", line \\d|at (?:async )?[^\\s(]{1,300}(?: \\[as \\w{1,60}\\])? ?' +
    '\\([^()\\n]{0,300}\\)|#\\d{1,4} +\\S{1,400}(?:\\(\\d| in )|from \\S{1,300}:\\d{1,7}:in ))',
)
const PARTS = ['File "', ' at ', '\tat ', ' #', '\t#', ' from ', '\tfrom ']
/** Each costs a look at all lines. */
const PREFIXES = 4
const PREFIX_MAX = 300

/** Each line without the prefix of its trace. */
function stripPrefixes(lines: readonly string[]): readonly string[] {
  let now = lines
  for (let i = 1, found = 0; i < now.length && found < PREFIXES; i++) {
    const line = now[i]!
    const prefix = prefixOf(line)
    if (prefix === undefined || prefixOf(now[i - 1]!) !== undefined) continue
    const shape = shapeOf(prefix)
    const above = shape.exec(now[i - 1]!)
    // The exception's own line stands above; a sentence such as `failed at load (a.js:1)` has none that begins like it.
    if (above === null || above[0].length === now[i - 1]!.length) continue
    now = now.map((it) => it.replace(shape, ''))
    found++
  }
  return now
}

/** Without a letter or digit it is a border, which Python draws around the parts of a group. */
function prefixOf(line: string): string | undefined {
  if (!PARTS.some((part) => line.includes(part))) return undefined
  const end = FRAME.exec(line.slice(0, 2 * PREFIX_MAX))?.index
  const prefix = end === undefined ? '' : line.slice(0, end + 1)
  return /\w/.test(prefix) ? prefix : undefined
}

/** Digits vary: times, processes. */
const shapeOf = (prefix: string): RegExp =>
  new RegExp(`^${prefix.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\d+/g, '\\d{1,20}')}(?: |\\t|$)`)
