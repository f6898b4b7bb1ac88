// One command line from its arguments to its exit code: 0 done, 1 refused or failed, 2 wrongly called. A command is a file that exports
// `register(program, io)`; it throws a CliError to end with a message.
import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import * as account from './account.ts'
import { CliError, EXIT_REFUSED, EXIT_USAGE, type Io } from './io.ts'
import * as key from './key.ts'
import * as resetPassword from './reset-password.ts'

const COMMANDS: readonly { register(program: Command, io: Io): void }[] = [account, key, resetPassword]

const HELP = `
Environment:
  STINT_URL           where Stint is (http://127.0.0.1:7070)
  STINT_API_KEY       a key with the scope read, for questions; or STINT_API_KEY_FILE, a file that holds it

Exit code: 0 done, 1 refused or failed, 2 wrongly called.`

/** `args` without the program's own name. Never throws. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  const program = new Command('stint')
    .description(packageJson.description)
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'stint: ')),
    })
    .showHelpAfterError('(--help shows what there is)')
    .addHelpText('after', HELP)
  for (const command of COMMANDS) command.register(program, io)
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has said already what is wrong with the call, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
    const message = error instanceof Error ? error.message : String(error)
    io.stderr.write(`stint: ${message}\n`)
    return error instanceof CliError ? error.exitCode : EXIT_REFUSED
  }
}
