// `stint flush`: sends what `stint exec` could not.
import { readCliConfig } from './config.ts'
import type { Io } from './io.ts'
import { hiddenOption, type Program } from './program.ts'

interface Options {
  readonly all?: boolean
  readonly background?: boolean
}

export function register(program: Program, io: Io): void {
  program
    .command('flush')
    .description('send the events that stint exec kept while Stint was away')
    .option('--all', 'also those that were meant for another STINT_URL')
    .addOption(hiddenOption('--background')) // of the one that stint exec starts: it has nobody to talk to
    .action(async ({ all = false, background = false }: Options) => {
      const { runFlush } = await import('./exec/run-flush.ts')
      await runFlush(readCliConfig(io.env), { anyUrl: all, isSilent: background }, io)
    })
}
