// `stint exec` and `stint flush` for the parser of arguments; the code that runs them is loaded when it is needed.
import { readCliConfig } from './config.ts'
import { type ExecCall, parseExitCodes, parseTimeoutS } from './exec/parse-exec-call.ts'
import type { Io } from './io.ts'
import { hiddenOption, type Program, strictly } from './program.ts'

const AFTER = `
Input, output, signals and the exit code are those of the command. The run counts as failed if the exit code is not 0,
after a signal, and if the command cannot start; an exception then says how it ended and holds the end of its standard
error, unless that is a terminal. The command's arguments are never sent. With --timeout the command gets SIGTERM, 10 s
later SIGKILL, and stint exits with 124. Events that Stint does not take in time are kept in $XDG_STATE_HOME/stint
(~/.local/state/stint) and sent by the next stint exec or stint flush.`

export function register(program: Program, io: Io): void {
  const parseOk = strictly(parseExitCodes, 'Expected exit codes from 0 to 255 such as 3 or 3,4.')
  const parseTimeout = strictly(parseTimeoutS, 'Expected a span such as 90s, 30m or 24h, at most 24d.')
  program
    .command('exec')
    .description('run a command and time it; Stint being away does not affect the command')
    .usage('[options] [--] COMMAND [ARGUMENTS…]')
    .argument('<command...>')
    .option('--process <name>', 'name of the process; default: file name of the command')
    .option('--meta <text>', 'details about the process')
    .option('--uid <id>', 'identifies this run, a-z 0-9 - _; default: a new one')
    .option('--ok <codes>', 'exit codes besides 0 that count as success, such as 3 or 3,4', parseOk)
    .option('--timeout <span>', 'stop the command after 90s, 30m, 24h, …; the run counts as failed', parseTimeout)
    .passThroughOptions()
    .addHelpText('after', AFTER)
    .action(async ([name, ...args]: [string, ...string[]], options: Omit<ExecCall, 'command'>) => {
      const { runExec } = await import('./exec/run-exec.ts')
      await runExec({ ...options, command: [name, ...args] }, io)
    })

  program
    .command('flush')
    .description('send the events that were kept while Stint was away')
    .option('--all', 'include events for another STINT_URL')
    .addOption(hiddenOption('--background')) // used by the process that stint exec starts; nobody reads its output
    .addOption(hiddenOption('--later')) // likewise, while Stint is away
    .action(async ({ all = false, background = false, later = false }: Record<string, boolean>) => {
      const { flushLater, runFlush } = await import('./exec/flush.ts')
      if (later) return flushLater(readCliConfig(io.env), io)
      await runFlush(readCliConfig(io.env), { anyUrl: all, isSilent: background }, io)
    })
}
