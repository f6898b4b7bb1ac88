// The text that `stint exec` sends for a command that failed: how it ended, then the last part of what it wrote to stderr, which may begin
// in the middle of a line.
import { parseTraces, splitLines, type Trace } from './trace/parse-trace.ts'

export interface Failure {
  readonly command: string
  /** `exited with code 1` */
  readonly ending: string
  /** The stack trace that the command ended with. */
  readonly trace?: Trace
  /** Without a trace: the lines that say most about the fault, at most LINES of them. */
  readonly lines: readonly string[]
}

const HOW = '(?:exited with code \\d{1,3}|was ended by (?:SIG\\w{1,12}|signal \\d{1,3}))'
const ENDING = new RegExp(`^(\\S[^\\n]{0,255}?): ((?:timed out after [\\d.]{1,20} s and )?${HOW})$`)
const LINES = 3
const LINE_CHARS = 400
/** A fault is explained at most so many lines before the end. */
const LOOK_BACK = 10
/** Only the last part of a line this long was kept. */
const CUT_LINE = 900
const ERROR =
  /\b(?:error|fatal|fail(?:ed|ure|s)?|cannot|can't|could not|couldn't|unable|denied|refused|not found|no such|invalid|missing|undefined|exceeded|abort(?:ed|ing)?|panic|exception|unknown|unreachable|killed|critical|does not)\b|[a-z](?:Error|Exception)\b/i
const ORDINARY =
  /\b(?:INFO|DEBUG|TRACE|NOTICE|WARN(?:ING)?)\b|level=(?:info|debug|warn)|^\s*(?:info|debug|warn(?:ing)?)[: ]/
/** What runtimes print below a trace. */
const BELOW_TRACE = /^(?:\s|\}|Node\.js v|Bun v|note: |exit status |$)/

/** Undefined unless the text is one of `stint exec`. */
export function readFailure(text: string): Failure | undefined {
  const end = text.indexOf('\n')
  const [, command, ending] = ENDING.exec((end < 0 ? text : text.slice(0, end)).trim()) ?? []
  if (command === undefined || ending === undefined) return undefined
  if (end < 0) return { command, ending, lines: [] }
  const lines = splitLines(text.slice(end + 1))
  const trace = parseTraces(lines, true).findLast((found) => isWhole(found) && isLast(found, lines))
  if (trace !== undefined) return { command, ending, trace, lines: [] }
  return { command, ending, lines: lastLines(lines, /exited/.test(ending)) }
}

/** A trace that lost its header lost an unknown number of frames, too. */
const isWhole = ({ chain, start }: Trace): boolean => start > 0 || chain[0]!.type !== '' || chain[0]!.message !== ''

const isLast = ({ end }: Trace, lines: readonly string[]): boolean =>
  lines.slice(end).filter((line) => !BELOW_TRACE.test(line)).length <= LINES

/** Those of the last lines that report an error, and the last one: unless a signal ended the command amid its ordinary work. */
function lastLines(lines: readonly string[], hasExited: boolean): string[] {
  const said = lines.filter((line, i) => line.trim() !== '' && !(i === 0 && line.length >= CUT_LINE))
  const recent = said.slice(said.length > LOOK_BACK ? -LOOK_BACK : 0)
  return recent
    .filter((line, i) => (hasExited && i === recent.length - 1) || (ERROR.test(line) && !ORDINARY.test(line)))
    .slice(-LINES)
    .map((line) => line.slice(0, LINE_CHARS))
}
