// The text of an exception → the chain of exceptions in it. The forms exclude each other, so the first that fits is the one.
import { parseAt } from './parse-at.ts'
import { parseGecko } from './parse-gecko.ts'
import { parseGo } from './parse-go.ts'
import { parsePhp } from './parse-php.ts'
import { parsePython } from './parse-python.ts'
import { parseRuby } from './parse-ruby.ts'
import { parseRust } from './parse-rust.ts'
import type { Raised } from './trace.ts'

const FORMS = [parsePython, parseRust, parseGo, parsePhp, parseRuby, parseAt, parseGecko]
/** No line of a trace is longer, and no pattern reads more at once. */
const MAX_LINE = 1000

/** The exception that was raised last first, then its causes; empty when the text is no trace. */
export function parseTrace(text: string): Raised[] {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.slice(0, MAX_LINE).trimEnd())
  for (const parse of FORMS) {
    const chain = parse(lines)
    if (chain !== undefined) return chain
  }
  return []
}
