// The text of an exception → the chain of exceptions in it. The forms exclude each other, so the first that fits is the one.
import { parseAt } from './parse-at.ts'
import { parseGecko } from './parse-gecko.ts'
import { parseGo } from './parse-go.ts'
import { parsePhp } from './parse-php.ts'
import { parsePython } from './parse-python.ts'
import { parseRuby } from './parse-ruby.ts'
import { parseRust } from './parse-rust.ts'
import type { Raised } from './trace.ts'

/** With what a text must hold to be worth a parser's look. */
const FORMS = [
  [/File "/, parsePython],
  [/panicked at|stack backtrace:/i, parseRust],
  [/\.(?:go|s):\d/, parseGo],
  [/^#\d/m, parsePhp],
  [/:in [`'"]/, parseRuby],
  [/^[ \t]*at /m, parseAt],
  [/@/, parseGecko],
] as const
/** No line of a trace is longer, and no pattern reads more at once. */
const MAX_LINE = 1000

/** The exception that was raised last first, then its causes; empty when the text is no trace. */
export function parseTrace(text: string): Raised[] {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.slice(0, MAX_LINE).trimEnd())
  for (const [sign, parse] of FORMS) {
    const chain = sign.test(text) ? parse(lines) : undefined
    if (chain !== undefined) return chain
  }
  return []
}
