// One command line from its arguments to its exit code: 0 done, 1 refused or failed, 2 wrongly called. A command is a file that exports
// `register(program, io)`; it throws a CliError to end with a message and another exit code.
import packageJson from '../../package.json' with { type: 'json' }
import { CliError, EXIT_REFUSED, type Io } from './io.ts'
import { createProgram, type Program, parsingExitCode } from './program.ts'

interface Command {
  register(program: Program, io: Io): void
}

/** In the order of the help. Only what is called is loaded: a job of `stint exec` must not wait for the rest. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  exec: () => import('./exec.ts'),
  flush: () => import('./flush.ts'),
  timings: () => import('./timings.ts'),
  running: () => import('./running.ts'),
  summary: () => import('./summary.ts'),
  metrics: () => import('./metrics.ts'),
  exceptions: () => import('./exceptions.ts'),
  processes: () => import('./processes.ts'),
  dead: () => import('./dead.ts'),
  series: () => import('./series.ts'),
  account: () => import('./account.ts'),
  key: () => import('./key.ts'),
  'reset-password': () => import('./reset-password.ts'),
}

const HELP = `
Environment:
  STINT_URL           where Stint is (http://127.0.0.1:7070)
  STINT_API_KEY       a key with the scope read, for questions; or STINT_API_KEY_FILE, a file that holds it

Exit code: 0 done, 1 refused or failed, 2 wrongly called.`

/** `args` without the program's own name. Never throws. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  const program = createProgram(io, packageJson.description, packageJson.version, HELP)
  try {
    for (const load of called(args)) (await load()).register(program, io)
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    const parsing = parsingExitCode(error)
    if (parsing !== undefined) return parsing
    const message = error instanceof Error ? error.message : String(error)
    if (message !== '') io.stderr.write(`stint: ${message}\n`)
    return error instanceof CliError ? error.exitCode : EXIT_REFUSED
  }
}

/** The command that is called; all when it is not one of them, for the help. */
function called([name = '']: readonly string[]) {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  return load === undefined ? Object.values(COMMANDS) : [load]
}
