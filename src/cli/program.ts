// The only file that knows commander, which parses arguments, checks their shape and prints the help.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { EXIT_USAGE, type Io } from './io.ts'

export type Program = Command

/** A program without commands; theirs inherit its ways: they never exit, and they write to `io`. */
export const createProgram = (io: Io, description: string, version: string, help: string): Program =>
  new Command('stint')
    .description(description)
    .version(version)
    .exitOverride()
    .enablePositionalOptions() // what follows the command of `stint exec` is not ours
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'stint: ')),
    })
    .showHelpAfterError('(--help shows what there is)')
    .addHelpText('after', help)

/** An option that the help does not show. */
export const hiddenOption = (flags: string): Option => new Option(flags).hideHelp()

/** For a parser of an option or argument: `rule` says what is right. */
export const invalidArgument = (rule: string): Error => new InvalidArgumentError(rule)

/** The exit code when parsing ended the program, having said why or shown the help; undefined for any other error. */
export function parsingExitCode(error: unknown): number | undefined {
  if (!(error instanceof CommanderError)) return undefined
  return error.exitCode === 0 ? 0 : EXIT_USAGE
}
