// The headline of an exception: the line of its text that says what happened, for where a whole text has no room.
import { ENDING } from '../event/failed-command.ts'
import { faultIn } from '../event/fault-words.ts'
import { RANK, rankLines, reasonOf } from '../event/rank-lines.ts'
import { readText } from '../event/reading/read-text.ts'
import { withoutLogger } from '../event/trace/printed-lines.ts'

const PYTHON = /^.*Traceback \(most recent call last\):$/
const RUST = /^thread '.*' panicked at /
/** Elixir's `** (EXIT from #PID<0.9.0>) an exception was raised:` has the exception below it. */
const GO_OR_ELIXIR = /^(?:panic|fatal error): |^\s*\*\* \([A-Z].*[^:]$/
/** Ruby: `job.rb:1:in 'load': no rows (ArgumentError)` */
const RUBY = /^\S.{0,300}:\d+:in [`'"].{1,200}?['"]: .*\([A-Z][\w:]*\)$/
const RUBY_FRAME = /^\s+(?:\d+: )?from \S/
/** A frame as JavaScript, Java and .NET print it. */
const FRAME = /^\s+at \S/
const PREFIX =
  'Uncaught |Unhandled exception\\. |Exception in thread "[^"]*" |Caused by: |\\(node:\\d+\\) |Unhandled\\w+: '
const NAMED = new RegExp(`^(?:${PREFIX})*([\\w$.]+(?: \\[\\w+\\])?(?::.*)?)$`)
const EXCEPTION = /^[\w$]*(?:Error|Exception|\w\.[\w$.]+)\b/
/** The frame that Python draws around the parts of an exception group. */
const MARGIN = /^[\s|+-]*/

/**
 * One line without its line break, in the text's own characters; empty for a text without any. Python prints the
 * message after the frames, Rust on a line of its own, and Node puts the source before it; of a command it is the
 * reason near its end, or the last thing that it said. Elsewhere it is the first line.
 */
export function headlineOf(text: string): string {
  const lines = readText(text).map(withoutLogger)
  return (
    afterTraceback(lines) ??
    afterPanic(lines) ??
    aboveFrames(lines) ??
    (ofCommand(lines) ?? lines.find((line) => line !== ''))?.trim() ??
    ''
  )
}

const LOOKED_AT = 15_000
const SHORT_MAX = 300

/** Cut to fit a table; empty for a text without any. */
export const shortHeadline = (text: string): string => cutText(headlineOf(text.slice(0, LOOKED_AT)), SHORT_MAX)

const LONG_MAX = 500

/** For a notification and what is kept in memory. */
export const longHeadline = (text: string): string => cutText(headlineOf(text), LONG_MAX)

/** Cuts a text to `length` code units without splitting a surrogate pair, such as an emoji. */
export const cutText = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')

/** Whether the text of a failed command says why it failed: in a trace, or in a line that names a fault. */
export function saysWhy(text: string): boolean {
  const lines = readText(text).map(withoutLogger)
  if ((afterTraceback(lines) ?? afterPanic(lines) ?? aboveFrames(lines)) !== undefined) return true
  return rankLines(lines.slice(1)).some(({ rank }) => rank > RANK.outcome)
}

/** The last of chained exceptions is the one that was not caught; for a group it is the group itself. */
function afterTraceback(lines: readonly string[]): string | undefined {
  const isTop = (line: string) => PYTHON.test(line) && !line.trimStart().startsWith('|')
  const start = lines.findLastIndex(isTop)
  if (start < 0) return undefined
  const margin = MARGIN.exec(lines[start]!)![0].length
  for (const line of lines.slice(start + 1)) {
    const inner = line.slice(margin)
    if (inner !== '' && !/^\s/.test(inner)) return inner
  }
  return undefined
}

function afterPanic(lines: readonly string[]): string | undefined {
  const rust = lines.findIndex((line) => RUST.test(line))
  if (rust >= 0 && / panicked at '/.test(lines[rust]!)) return lines[rust]
  if (rust >= 0 && lines[rust + 1]) return lines[rust + 1]
  return lines.find((line) => GO_OR_ELIXIR.test(line)) ?? raisedByRuby(lines)
}

/** The exception that was not caught stands first, its causes below. */
function raisedByRuby(lines: readonly string[]): string | undefined {
  let first = lines.findLastIndex((line) => RUBY.test(line))
  for (let i = first - 1; i >= 0 && (RUBY.test(lines[i]!) || RUBY_FRAME.test(lines[i]!)); i--)
    if (RUBY.test(lines[i]!)) first = i
  return lines[first]
}

/**
 * The nearest line above the first frame like `Name: message`, which may have several lines; of a command, whose log
 * may be above, one that names an exception. Otherwise the reason.
 */
function aboveFrames(lines: readonly string[]): string | undefined {
  const frame = lines.findIndex((line) => FRAME.test(line))
  const isLog = ENDING.test(lines[0]!)
  const above = lines.slice(isLog ? 1 : 0, Math.max(0, frame))
  const named = above.map((line) => NAMED.exec(line)?.[1]).findLast((line) => line && !(isLog && !EXCEPTION.test(line)))
  return named ?? (isLog ? reasonOf(above) : above.findLast((line) => faultIn(line) === 'error'))
}

/** The reason that the command gave, unless a signal or a limit of time ended it. */
function ofCommand([first = '', ...said]: readonly string[]): string | undefined {
  return HAS_SPOKEN.test(ENDING.exec(first)?.[2] ?? '') ? reasonOf(said) : undefined
}

/** Ends of a command that it may have explained; it raises SIGABRT itself. */
const HAS_SPOKEN = /^(?:failed|exited|was ended by SIGABRT)/
