// One command line from its arguments to its exit code: 0 done, 1 refused or failed, 2 usage error. A command is
// registered by a file that exports `register(program, io)`; it throws a CliError to end with a message and another
// exit code.

import packageJson from '../../package.json' with { type: 'json' }
import { formatVersion, readVersion } from '../version.ts'
import { CliError, EXIT_REFUSED, type Io } from './io.ts'
import { createProgram, type Program, parsingExitCode, upToUnknown } from './program.ts'

interface Commands {
  register(program: Program, io: Io): void
}

/** Needs the commands of all files. */
const COMPLETION = 'completion'

type Load = () => Promise<Commands>

/** Files and their commands in the order of the help. Only the called command's file is loaded: `stint` starts fast. */
const FILES: readonly (readonly [load: Load, ...names: string[]])[] = [
  [() => import('./exec.ts'), 'exec', 'flush'],
  [() => import('./send.ts'), 'start', 'end', 'metric', 'exception'],
  [() => import('./questions.ts'), 'timings', 'running', 'summary', 'metrics', 'exceptions', 'processes'],
  [() => import('./dead.ts'), 'dead'],
  [() => import('./status.ts'), 'status', 'health', 'series'],
  [() => import('./watch.ts'), 'watch'],
  [() => import('./alerts.ts'), 'alerts'],
  [() => import('./channel.ts'), 'channel'],
  [() => import('./maintenance.ts'), 'maintenance'],
  [() => import('./login.ts'), 'login', 'logout'],
  [() => import('./account.ts'), 'account'],
  [() => import('./key.ts'), 'key'],
  [() => import('./server-accounts.ts'), 'reset-password', 'accounts'],
  [() => import('./copy.ts'), 'copy', 'export', 'import'],
  [() => import('./completion.ts'), COMPLETION],
]

const HELP = `
Settings:
  STINT_URL           Stint's address; default http://127.0.0.1:7070
  STINT_API_KEY       API key with the scope write for events, read for questions, manage for watches; or
                      STINT_API_KEY_FILE, a file that holds it
  stint login saves both in ~/.config/stint.json, readable by you alone; commands run by cron find them there, too.

Exit code: 0 done, 1 refused or failed, 2 usage error.`

/** `args` without the program's own name. Never throws. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  const program = createProgram(io, packageJson.description, formatVersion(readVersion()), HELP)
  try {
    for (const load of filesOf(args)) (await load()).register(program, io)
    await program.parseAsync(upToUnknown(program, args), { from: 'user' })
    return 0
  } catch (error) {
    const parsing = parsingExitCode(error)
    if (parsing !== undefined) return parsing
    const message = error instanceof Error ? error.message : String(error)
    if (message !== '') io.stderr.write(`stint: ${message}\n`)
    return error instanceof CliError ? error.exitCode : EXIT_REFUSED
  }
}

/** The called command's file; all files for anything else, because the help lists all commands. */
function filesOf([called = '']: readonly string[]): Load[] {
  const file = called === COMPLETION ? undefined : FILES.find(([, ...names]) => names.includes(called))
  return (file === undefined ? FILES : [file]).map(([load]) => load)
}
