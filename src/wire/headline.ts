// The headline of an exception: the line of its text that says what happened, for where a whole text has no room.
import { ENDING, LOOK_BACK, namesFault } from '../event/failed-command.ts'
import { splitLines, withoutLogger } from '../event/trace/printed-lines.ts'

const PYTHON = /^.*Traceback \(most recent call last\):$/
const RUST = /^thread '.*' panicked at /
const GO_OR_ELIXIR = /^(?:panic|fatal error): |^\*\* \([A-Z]/
/** A frame as JavaScript, Java and .NET print it. */
const FRAME = /^\s+at \S/
const PREFIX =
  'Uncaught |Unhandled exception\\. |Exception in thread "[^"]*" |Caused by: |\\(node:\\d+\\) |Unhandled\\w+: '
const NAMED = new RegExp(`^(?:${PREFIX})*([\\w$.]+(?: \\[\\w+\\])?(?::.*)?)$`)
/** The frame that Python draws around the parts of an exception group. */
const MARGIN = /^[\s|+-]*/

/**
 * One line without its line break, in the text's own characters; empty for a text without any. Python prints the
 * message after the frames, Rust on a line of its own, and Node puts the source before it; a command names the fault
 * near its end. Elsewhere it is the first line.
 */
export function headlineOf(text: string): string {
  const lines = splitLines(text).map(withoutLogger)
  return (
    afterTraceback(lines) ??
    afterPanic(lines) ??
    aboveFrames(lines) ??
    (ofCommand(lines) ?? lines.find((line) => line !== ''))?.trim() ??
    ''
  )
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
  return lines.find((line) => GO_OR_ELIXIR.test(line))
}

/** The nearest line above the first frame like `Name: message`, which may have several lines; or one with a fault. */
function aboveFrames(lines: readonly string[]): string | undefined {
  const frame = lines.findIndex((line) => FRAME.test(line))
  const above = lines.slice(ENDING.test(lines[0]!) ? 1 : 0, Math.max(0, frame))
  const named = above.map((line) => NAMED.exec(line)?.[1]).findLast((line) => line !== undefined)
  return named ?? above.findLast(namesFault)
}

/** The last line that names a fault, unless a signal or a limit of time ended the command. */
function ofCommand([first = '', ...said]: readonly string[]): string | undefined {
  if (!ENDING.exec(first)?.[2]?.startsWith('exited')) return undefined
  const recent = said.filter((line) => line !== '').slice(-LOOK_BACK)
  return recent.findLast(namesFault)
}
