// The lines of a text as fingerprint and headline read them: what a line is comes before words are searched in it.
import { splitLines, withoutLogger, withoutPrinter } from '../trace/printed-lines.ts'
import { asPrinted } from './printed-text.ts'
import { readJsonLine } from './read-json-line.ts'
import { stripPrefixes } from './strip-prefixes.ts'

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
