// Shared by the commands that ask the API and print its answer: for people, or as JSON for programs.
import { systemClock } from '../clock.ts'
import { parseSpanS } from '../wire/span-text.ts'
import { formatTable } from './format-rows.ts'
import { parseLocalTime } from './format-time.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { invalidArgument, type Program, strictly } from './program.ts'
import { oneLine, safeJson } from './safe-text.ts'

export const JSON_OPTION = ['--json', 'print the answer as JSON'] as const

export interface Json {
  readonly json?: boolean
}

export const printJson = ({ stdout }: Io, body: unknown): void => stdout.write(`${safeJson(body, 2)}\n`)

/** The text of a file; `-` is standard input. Throws CliError. */
export async function readInput(io: Io, path: string): Promise<string> {
  try {
    return path === '-' ? await io.readStdin() : await Bun.file(path).text()
  } catch (cause) {
    throw new CliError(`cannot read file ${oneLine(path)}: ${(cause as Error).message}`, EXIT_USAGE, { cause })
  }
}

export interface List<T> {
  readonly about: string
  ask(): Promise<T>
  readonly heads: readonly string[]
  rows(answer: T): string[][]
  /** Instead of a table without rows. */
  readonly empty?: string
}

/** Adds `list` to a group of commands. */
export function addList<T>(group: Program, io: Io, { about, ask, heads, rows, empty }: List<T>): Program {
  return group
    .command('list')
    .description(about)
    .option(...JSON_OPTION)
    .action(async ({ json }: Json) => {
      const answer = await ask()
      if (json) return printJson(io, answer)
      const found = rows(answer)
      if (found.length === 0 && empty !== undefined) io.stderr.write(`${empty}\n`)
      else io.stdout.write(formatTable(heads, found))
    })
}

/** The one that is called so or has this id. Throws CliError. */
export function findNamed<T extends { readonly id: string; readonly name: string }>(
  what: string,
  which: string,
  items: readonly T[],
  advice = '',
): T {
  const found = items.filter(({ id, name }) => id === which || name === which)
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw new CliError(`no ${what} is called ${oneLine(which)}${advice}`)
  const ids = found.map(({ id }) => oneLine(id)).join(', ')
  throw new CliError(`more than one ${what} is called ${oneLine(which)}; use the id: ${ids}`)
}

export const parseCount = strictly(
  (text) => (/^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined),
  'Expected a whole number from 1.',
)

/** A parser of arguments that takes one of these names. */
export const oneOf = <T extends string>(names: readonly T[]) =>
  strictly((text) => names.find((name) => name === text), `Expected ${names.join(', ')}.`)

/** A moment on the command line: local time, RFC 3339, or a span from now. Returns RFC 3339. */
export function parseMoment(text: string): string {
  const seconds = /^[1-9]\d*[smhd]$/.test(text) ? parseSpanS(text) : undefined
  const time = seconds === undefined ? parseLocalTime(text) : new Date(systemClock.wallUs() / 1000 + seconds * 1000)
  if (time instanceof Date && !Number.isNaN(time.getTime())) return time.toISOString()
  if (typeof time === 'string' && !time.startsWith('-')) return time
  throw invalidArgument('Expected an existing local time ("2026-11-20 21:00"), RFC 3339 or a span such as 2h.')
}
