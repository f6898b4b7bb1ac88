// Reads the arguments of `stint exec`. They are parsed here and not by the program's own parser, which takes longer to
// load than many jobs run; that one prints the help.
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { parseSpanS } from '../../wire/span-text.ts'

export interface ExecCall {
  readonly command: readonly [name: string, ...args: string[]]
  readonly process?: string
  readonly meta?: string
  readonly uid?: string
  /** Exit codes that count as success, besides 0. */
  readonly ok?: readonly number[]
  /** Seconds. */
  readonly wait?: number
  /** Keep what the command writes, also when it succeeds; false: keep nothing of its standard output. */
  readonly output?: boolean
}

/** In the order of the help; one without a value is a switch. */
export const EXEC_FLAGS = {
  process: ['<name>', 'name of the process; default: file name of the command'],
  meta: ['<text>', 'details about the process'],
  uid: ['<id>', 'identifies this run: any id, such as the scheduler’s; default: a new one'],
  ok: ['<codes>', 'exit codes besides 0 that count as success, such as 3 or 3,4'],
  output: ['', 'keep the last 4 kB that the command writes, which may hold secrets'],
  'no-output': ['', 'keep nothing of standard output, also of a failed run'],
  wait: ['<span>', 'how long the end waits for a Stint that does not answer; default: 10s'],
} as const satisfies Partial<Record<keyof ExecCall | 'no-output', readonly [value: string, about: string]>>

/** Invalid arguments; the message says why. */
export class ExecUsage extends Error {
  override readonly name = 'ExecUsage'
}

const OPTIONS: NonNullable<ParseArgsConfig['options']> = {
  ...Object.fromEntries(
    Object.entries(EXEC_FLAGS).map(([name, [value]]) => [name, { type: value === '' ? 'boolean' : 'string' }] as const),
  ),
  help: { type: 'boolean', short: 'h' },
}

/** `args` follow `exec`: `[--NAME VALUE | --NAME=VALUE]… [--] COMMAND …`. Throws ExecUsage. */
export function parseExecCall(args: readonly string[]): ExecCall | 'help' {
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true })
  const first = tokens.find(({ kind }) => kind !== 'option')
  const at = first?.index ?? args.length
  const given = parseOptions(args.slice(0, at))
  if (given.help !== undefined) return 'help'
  const [name, ...rest] = args.slice(first?.kind === 'option-terminator' ? at + 1 : at)
  if (name === undefined) throw new ExecUsage('the command is missing')
  // Bun puts U+FFFD in place of bytes that are no UTF-8.
  if ([name, ...rest].some((word) => word.includes('\ufffd')))
    throw new ExecUsage('the arguments of the command are not UTF-8; put the command into a script and run that')
  const { ok, wait, output, 'no-output': noOutput, ...texts } = given
  if (output !== undefined && noOutput !== undefined) throw new ExecUsage('--output and --no-output exclude each other')
  return {
    ...texts,
    ...((output ?? noOutput) !== undefined && { output: output !== undefined }),
    ...(ok !== undefined && { ok: expect(parseExitCodes(ok), '--ok', 'exit codes from 0 to 255 such as 3 or 3,4') }),
    ...(wait !== undefined && { wait: expect(parseSpanS(wait), '--wait', 'a span such as 0, 5s or 1m') }),
    command: [name, ...rest],
  }
}

function parseOptions(args: readonly string[]): Readonly<Record<string, string>> {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values as Record<string, string>
  } catch (error) {
    const { message } = error as Error
    if (message.includes("'--timeout'"))
      throw new ExecUsage('no option --timeout: limit the time by timeout(1): stint exec -- timeout 30m COMMAND')
    throw new ExecUsage(message.replace(/\..*/s, ''), { cause: error })
  }
}

function expect<T>(value: T | undefined, flag: string, rule: string): T {
  if (value === undefined) throw new ExecUsage(`invalid ${flag}: expected ${rule}`)
  return value
}

/** `0,3` → [0, 3]. Undefined unless all are 0 to 255. */
function parseExitCodes(text: string): number[] | undefined {
  if (!/^\d{1,3}(,\d{1,3})*$/.test(text)) return undefined
  const codes = text.split(',').map(Number)
  return codes.every((code) => code <= 255) ? codes : undefined
}
