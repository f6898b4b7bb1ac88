// `stint exec` and `stint flush` for the parser of arguments; the code that runs them is loaded when it is needed.
import { EXEC_FLAGS } from './exec/parse-exec-call.ts'
import type { Io } from './io.ts'
import type { Program } from './program.ts'

const AFTER = `
Input, output, signals and the exit code are those of the command. The run counts as failed if the exit code is not 0,
after a signal, and if the command cannot start; an exception then says how it ended and holds the end of its standard
error, unless that is a terminal, and of its standard output where both are one (2>&1) or it is a socket. STINT_OUTPUT=1
and 0 choose this for all commands. The command's arguments are never sent. Events that Stint does not take are kept in
$XDG_STATE_HOME/stint (~/.local/state/stint) and sent by the next stint exec or stint flush.`

export function register(program: Program, io: Io): void {
  const exec = program
    .command('exec')
    .description('run a command and time it; Stint being away does not affect the command')
    .usage('[options] [--] COMMAND [ARGUMENTS…]')
    .argument('<command...>')
    .addHelpText('after', AFTER)
    .action(() => {}) // main.ts has run it
  for (const [name, [value, about]] of Object.entries(EXEC_FLAGS)) exec.option(`--${name} ${value}`.trimEnd(), about)

  program
    .command('flush')
    .description('send the events that were kept while Stint was away, and once more those that it refused')
    .option('--all', 'include events for another address or key')
    .action(async ({ all = false }: { all?: boolean }) => {
      const { runFlush } = await import('./exec/flush.ts')
      await runFlush(all, io)
    })
}
