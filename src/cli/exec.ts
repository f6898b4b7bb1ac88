// `stint exec`: how it is called. What it does is loaded only when it is.
import type { ExecCall } from './exec/parse-exec-call.ts'
import type { Io } from './io.ts'
import type { Program } from './program.ts'

export function register(program: Program, io: Io): void {
  program
    .command('exec')
    .description('run a command and time it; it runs all the same when Stint is away')
    .usage('[options] [--] COMMAND [ARGUMENTS…]')
    .argument('<command...>')
    .option('--process <name>', 'name of the process; else the file name of the command')
    .option('--meta <text>', 'details about the process')
    .option('--uid <id>', 'tells this run apart, a-z 0-9 - _; else a new one')
    .passThroughOptions()
    .addHelpText('after', AFTER)
    .action(async ([name, ...args]: [string, ...string[]], options: Omit<ExecCall, 'command'>) => {
      const { runExec } = await import('./exec/run-exec.ts')
      await runExec({ ...options, command: [name, ...args] }, io)
    })
}

const AFTER = `
Input, output, signals and the exit code are those of the command. When it fails, an exception tells how, and the end of its
standard error unless that is a terminal; its arguments are not told. What Stint does not take in time is kept in
$XDG_STATE_HOME/stint (~/.local/state/stint) and sent later: by the next stint exec, or by stint flush.`
