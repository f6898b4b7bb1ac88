// `stint health` and `stint series`: whether Stint takes and delivers events, and how much of the series limit is used.

import { formatCsvLine } from '../wire/csv.ts'
import type { Health } from '../wire/operations.ts'
import type { SeriesUse } from '../wire/processes.ts'
import { createApi } from './api.ts'
import { CSV_FLAG, checkFormat, type OutputOptions } from './ask-question.ts'
import { JSON_OPTION } from './commands.ts'
import { formatTable } from './format-rows.ts'
import { formatDuration } from './format-time.ts'
import { CliError, type Io } from './io.ts'
import type { Program } from './program.ts'
import { createPaint, safeJson } from './safe-text.ts'

const KINDS = ['points', 'exceptions'] as const

export function register(program: Program, io: Io): void {
  const open = () => createApi(io)

  program
    .command('health')
    .description('check that Stint takes events, that the key is valid, and that events reach their stores')
    .option(...JSON_OPTION)
    .action(async ({ json }: OutputOptions) => {
      const api = open()
      await api.checkReady()
      const health = await api.askWithKey<Health>('GET', '/api/health')
      const failing = KINDS.filter((kind) => ['retrying', 'parked'].includes(health.destinations[kind].state))
      io.stdout.write(json ? `${safeJson(health)}\n` : describeHealth(health))
      if (failing.length > 0) throw new CliError(`delivery paused: ${failing.join(', ')}`)
    })

  program
    .command('series')
    .description('show how many distinct combinations of process, meta and metric are used, and the limit')
    .option(...JSON_OPTION)
    .option(...CSV_FLAG)
    .action(async (options: OutputOptions) => {
      checkFormat(options)
      const answer = await open().askWithKey<SeriesUse>('GET', '/api/series')
      const { used, max, warning: isWarning } = answer
      if (options.json) io.stdout.write(`${JSON.stringify(answer)}\n`)
      else if (options.csv) io.stdout.write(formatCsvLine(['used', 'max']) + formatCsvLine([used, max]))
      else io.stdout.write(max === 0 ? 'No limit.\n' : `${used} of ${max} (${percent(used / max)})\n`)
      if (!isWarning) return
      const reached = used < max ? `${percent(used / max)} of the series limit used` : 'series limit reached'
      const effect = `${used < max ? 'beyond it ' : ''}new processes, metas and metrics are refused`
      const warning = `warning: ${reached}; ${effect}`
      io.stderr.write(`stint: ${createPaint({ ...io, stdout: io.stderr })(warning, 'yellow')}\n`)
    })
}

function describeHealth({ spools, destinations, dead, warnings }: Health): string {
  const rows = KINDS.map((kind) => {
    const [{ store, state, reason }, { records, oldest_s }] = [destinations[kind], spools[kind]]
    const waiting = records === 0 ? '0' : `${records}, oldest ${formatDuration(oldest_s * 1000)}`
    return [kind, store, reason === undefined ? state : `${state}: ${reason}`, waiting]
  })
  const letters =
    dead.own === 0 ? '' : `${dead.own} dead ${dead.own === 1 ? 'letter' : 'letters'}; see stint dead list.\n`
  const faults = warnings.map(({ detail }) => `Warning: ${detail}\n`).join('')
  return `${formatTable(['EVENTS', 'STORE', 'STATE', 'WAITING'], rows)}${letters}${faults}`
}

/** Rounded down: 100 % means that nothing is left. */
const percent = (part: number): string => `${Math.floor(part * 100)} %`
