// `stint alerts …`: lists alerts, acknowledges them and resolves them by hand.
import type { Alert, AlertAnswer, AlertPage, Unjudged } from '../wire/alerts.ts'
import { createApi } from './api.ts'
import { JSON_OPTION, type Json, parseCount, printJson } from './commands.ts'
import { formatTable } from './format-rows.ts'
import { formatLocalTime } from './format-time.ts'
import type { Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine } from './safe-text.ts'

export function register(program: Program, io: Io): void {
  const api = () => createApi(io)
  const alerts = program
    .command('alerts')
    .description('list alerts, newest first, and checks that were not made (scope manage)')
    .option('--state <state>', 'firing or resolved')
    .option('--limit <n>', 'at most so many', parseCount, 20)
    .option(...JSON_OPTION)
    .action(async ({ state, limit, json }: Json & { state?: string; limit: number }) => {
      const search = new URLSearchParams({ limit: String(limit), ...(state !== undefined && { state }) })
      const page = await api().askWithKey<AlertPage>('GET', `/api/alerts?${search}`)
      if (json) return printJson(io, page)
      if (page.alerts.length === 0) io.stderr.write('No alerts.\n')
      else io.stdout.write(formatTable(['ID', 'SINCE', 'STATE', 'CONDITION', 'SUMMARY'], page.alerts.map(toRow)))
      for (const check of page.unjudged) io.stderr.write(`Not checked: ${oneLine(describe(check))}\n`)
    })

  const change = (name: string, description: string, method: 'POST' | 'DELETE', path: string, done: string) =>
    alerts
      .command(name)
      .description(description)
      .argument('<alert>', 'id of the alert')
      .option(...JSON_OPTION)
      .action(async (id: string, _: unknown, command: { optsWithGlobals(): Json }) => {
        const url = `/api/alerts/${encodeURIComponent(id)}/${path}`
        const { alert } = await api().askWithKey<AlertAnswer>(method, url)
        if (command.optsWithGlobals().json) printJson(io, { alert })
        else io.stderr.write(`Alert ${oneLine(alert.id)} ${done}.\n`)
      })
  change('ack', 'acknowledge an alert: its reminders and delayed channels are silent', 'POST', 'ack', 'acknowledged')
  change('unack', 'undo an acknowledgement', 'DELETE', 'ack', 'is not acknowledged any more')
  change('resolve', 'resolve an alert by hand; it does not fire again for the same run', 'POST', 'resolve', 'resolved')
}

const toRow = ({ id, since, state, condition, summary, acknowledged }: Alert): string[] => [
  id,
  formatLocalTime(since),
  acknowledged !== null && state === 'firing' ? `firing, acknowledged by ${acknowledged.by}` : state,
  condition,
  summary,
]

const describe = ({ watch, condition, process, since, reason }: Unjudged): string =>
  `${watch.name}${condition === null ? '' : ` (${condition})`}${process === null ? '' : `, ${process}`} since ` +
  `${formatLocalTime(since)}: ${reason}`
