// `stint maintenance …`: stretches of time in which notifications are held back.

import { systemClock } from '../clock.ts'
import type { Maintenance, MaintenanceAnswer, Maintenances } from '../wire/maintenance.ts'
import { describeNextDue } from '../wire/words.ts'
import { createApi } from './api.ts'
import { addList, JSON_OPTION, type Json, parseMoment, printJson } from './commands.ts'
import { formatLocalTime } from './format-time.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'

interface Options extends Json {
  readonly from?: string
  readonly to?: string
  readonly cron?: string
  readonly tz?: string
  readonly length?: string
}

export function register(program: Program, io: Io): void {
  const api = () => createApi(io)
  const maintenance = program
    .command('maintenance')
    .description('maintenances: stretches of time in which notifications are held back (scope manage)')

  addList(maintenance, io, {
    about: 'list maintenances',
    ask: () => api().askWithKey<Maintenances>('GET', '/api/maintenance'),
    heads: ['ID', 'STATE', 'PROCESS', 'WHEN'],
    rows: (answer) => answer.maintenance.map(toRow),
    empty: 'No maintenances.',
  })

  maintenance
    .command('add')
    .description('plan a maintenance; what still fires at its end is notified then')
    .argument('<process>', 'exact name, or with * for any text')
    .option('--from <time>', 'local time, RFC 3339 or a span from now; default: now', parseMoment)
    .option('--to <time>', 'its end, such as 2h', parseMoment)
    .option('--cron <expression>', 'it begins at each of these moments, such as "0 2 * * 0", and lasts --length')
    .option('--tz <zone>', 'time zone of --cron; default UTC')
    .option('--length <span>', 'how long each one lasts')
    .option(...JSON_OPTION)
    .action(async (process: string, { from, to, cron, tz, length, json }: Options) => {
      if ((cron === undefined) !== (length === undefined))
        throw new CliError('--cron and --length belong together', EXIT_USAGE)
      if (cron === undefined && to === undefined)
        throw new CliError('a maintenance needs --to, or --cron and --length', EXIT_USAGE)
      const repeat = cron === undefined ? undefined : { cron, tz, length }
      const wanted = { process, from, to, repeat }
      const made = await api().askWithKey<MaintenanceAnswer>('POST', '/api/maintenance', wanted)
      if (json) printJson(io, made)
      else io.stdout.write(`${made.maintenance.id}\n`)
      const due = describeNextDue(made.maintenance.repeat, made.maintenance.next_due)
      if (due !== undefined) io.stderr.write('Times are in UTC; use --tz Europe/Berlin for another zone.\n')
    })

  maintenance
    .command('rm')
    .description('delete a maintenance; what it held back is sent')
    .argument('<id>')
    .action(async (id: string) => {
      await api().askWithKey('DELETE', `/api/maintenance/${encodeURIComponent(id)}`)
      io.stderr.write('Maintenance deleted.\n')
    })
}

function toRow({ id, active, process, from, to, repeat }: Maintenance): string[] {
  const parts = [
    repeat && `${repeat.cron} (${repeat.tz ?? 'UTC'}) for ${repeat.length}`,
    from && `from ${formatLocalTime(from)}`,
    to && `to ${formatLocalTime(to)}`,
  ]
  const isOver = to !== null && to !== undefined && Date.parse(to) <= systemClock.wallUs() / 1000
  return [id, active ? 'active' : isOver ? 'over' : 'planned', process, parts.filter(Boolean).join(', ')]
}
