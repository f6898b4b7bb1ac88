// The only file that knows commander, which parses arguments, checks their shape and prints the help.
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { EXIT_USAGE, type Io } from './io.ts'

export type Program = Command

/** A program without commands. Commands inherit its settings: they never exit, and they write to `io`. */
export const createProgram = (io: Io, description: string, version: string, help: string): Program =>
  new Command('stint')
    .description(description)
    .version(version)
    .exitOverride()
    .enablePositionalOptions() // options after the command of `stint exec` belong to that command
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'stint: ')),
    })
    .showHelpAfterError('(run it with --help for its options)')
    .addHelpText('after', help)

/** A command with what may follow it, as the help lists it. */
export interface CommandEntry {
  /** `watch list`; empty for the program itself. */
  readonly path: string
  readonly commands: readonly { readonly name: string; readonly about: string }[]
  /** `--limit`. */
  readonly options: readonly string[]
}

/** The program and all of its commands. */
export function listCommands(command: Program, path = ''): CommandEntry[] {
  const commands = command.commands.map((it) => ({ name: it.name(), about: it.description() }))
  const options = command.options.flatMap(({ long }) => (long ? [long] : []))
  const inner = command.commands.flatMap((it) => listCommands(it, path === '' ? it.name() : `${path} ${it.name()}`))
  return [{ path, commands, options: [...options, '--help'] }, ...inner]
}

/** Error of an option's or argument's parser; `rule` describes valid values. */
export const invalidArgument = (rule: string): Error => new InvalidArgumentError(rule)

/** A parser of arguments from one that returns undefined for an invalid text; `rule` describes valid ones. */
export const strictly =
  <T>(parse: (text: string) => T | undefined, rule: string) =>
  (text: string): T => {
    const value = parse(text)
    if (value === undefined) throw invalidArgument(rule)
    return value
  }

/** The exit code if parsing ended the program, with a message or the help; undefined for any other error. */
export function parsingExitCode(error: unknown): number | undefined {
  if (!(error instanceof CommanderError)) return undefined
  return error.exitCode === 0 ? 0 : EXIT_USAGE
}

/** Drops what follows an unknown command: commander answers `nosuch --help` with the help of all commands. */
export function upToUnknown(program: Program, args: readonly string[]): readonly string[] {
  let command = program
  for (const [i, name] of args.entries()) {
    const { commands, registeredArguments } = command
    if (commands.length === 0 || registeredArguments.length > 0 || name.startsWith('-') || name === 'help') return args
    const found = commands.find((it) => it.name() === name)
    if (found === undefined) return args.slice(0, i + 1)
    command = found
  }
  return args
}

/** For options that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]
