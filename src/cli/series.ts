// `stint series`: how much of the budget of series is used. Beyond it new processes, metas and metrics are refused.
import { createApi } from './api.ts'
import { readCliConfig } from './config.ts'
import { formatCsvLine } from './format-csv.ts'
import type { Io } from './io.ts'
import { createPaint } from './paint.ts'
import type { Program } from './program.ts'
import { CSV_FLAG, checkForm, type OutputOptions } from './questions/question-command.ts'

export function register(program: Program, io: Io): void {
  program
    .command('series')
    .description('how many distinct combinations of process, meta and metric are used, of how many')
    .option('--json', 'print the answer as JSON')
    .option(...CSV_FLAG)
    .action(async (options: OutputOptions) => {
      checkForm(options)
      const { body } = await createApi(readCliConfig(io.env), io).askWithKey('GET', '/api/series')
      const { used, max, warning: isWarning } = body as { used: number; max: number; warning: boolean }
      if (options.json) io.stdout.write(`${JSON.stringify(body)}\n`)
      else if (options.csv) io.stdout.write(formatCsvLine(['used', 'max']) + formatCsvLine([used, max]))
      else io.stdout.write(max === 0 ? 'There is no limit.\n' : `${used} of ${max} (${percent(used / max)})\n`)
      if (!isWarning) return
      const warning =
        used < max
          ? `${percent(used / max)} of the budget of series are used; beyond it new processes, metas and metrics are refused`
          : 'the budget of series is spent: new processes, metas and metrics are refused'
      io.stderr.write(`stint: ${createPaint({ ...io, stdout: io.stderr })(`warning: ${warning}`, 'yellow')}\n`)
    })
}

/** Never 100 % of a budget with something left. */
const percent = (part: number): string => `${Math.floor(part * 100)} %`
