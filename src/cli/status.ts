// `stint status`: how every process is. `stint health` and `stint series`: whether Stint takes and delivers events, and
// how much of the series limit is used.

import { toTime } from '../clock.ts'
import { formatCsvLine } from '../wire/csv.ts'
import { describeProcess, type Words } from '../wire/describe-process.ts'
import type { Health } from '../wire/operations.ts'
import type { Overview, OverviewProcess } from '../wire/overview.ts'
import { STORE_AWAY, toneOf } from '../wire/process-state.ts'
import type { SeriesUse } from '../wire/processes.ts'
import { formatDuration, formatSpan, formatTimes } from '../wire/span-text.ts'
import { type Api, askPages, createApi } from './api.ts'
import { CSV_FLAG, checkFormat, lookOf, type OutputOptions } from './ask-question.ts'
import { JSON_OPTION } from './commands.ts'
import { type Cell, formatTable } from './format-rows.ts'
import { formatLocalTime } from './format-time.ts'
import { CliError, type Io } from './io.ts'
import type { Program } from './program.ts'
import { createPaint, oneLine, safeJson } from './safe-text.ts'

const KINDS = ['points', 'exceptions'] as const

/** Nothing is wrong in an answer that is older than this, but what came since is not known. */
const OLD_S = 60
const EXIT_OLD = 3

export function register(program: Program, io: Io): void {
  const open = () => createApi(io)

  program
    .command('status')
    .description(
      'show how every process is, trouble first; exits with 1 while something is wrong, with 3 if the answer is ' +
        'older than a minute',
    )
    .argument('[process]', 'only this process')
    .option(...JSON_OPTION)
    .option(...CSV_FLAG)
    .action(async (process: string | undefined, options: OutputOptions) => {
      checkFormat(options)
      const overview = await askOverview(open(), process)
      if (process !== undefined && overview.processes.length === 0)
        throw new CliError(`no process is called ${process}`)
      if (options.json) io.stdout.write(`${safeJson(overview)}\n`)
      else if (options.csv) io.stdout.write(statusCsv(overview))
      else io.stdout.write(describeStatus(overview, io))
      if (overview.tone === 'bad') throw new CliError(options.json || options.csv ? overview.sentence : '')
      if ((overview.stale_s ?? 0) > OLD_S) throw new CliError('the answer is older than a minute', EXIT_OLD)
    })

  program
    .command('health')
    .description('check that Stint takes events, that the key is valid, and that events reach their stores')
    .option(...JSON_OPTION)
    .action(async ({ json }: OutputOptions) => {
      const api = open()
      const { notes, refused } = await api.readiness()
      const health = await api.askWithKey<Health>('GET', '/api/health')
      const failing = KINDS.filter((kind) => ['retrying', 'parked'].includes(health.destinations[kind].state))
      io.stdout.write(json ? `${safeJson(health)}\n` : describeHealth(health))
      if (!json) for (const note of notes) io.stdout.write(`Warning: ${oneLine(note)}\n`)
      if (refused !== undefined) throw refused
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

/** All pages. */
async function askOverview(api: Api, process: string | undefined): Promise<Overview> {
  const search = new URLSearchParams(process === undefined ? {} : { process })
  const processes: OverviewProcess[] = []
  let last: unknown
  for await (const { rows, answer } of askPages(api, '/api/overview', 'processes', search, true)) {
    processes.push(...(rows as OverviewProcess[]))
    last = answer
  }
  return { ...(last as Overview), processes }
}

const COLUMNS = ['process', 'state', 'meta', 'since', 'last_start_at', 'next_start_at', 'late_at', 'exception'] as const

const COLUMNS_SHOWN = ['PROCESS', 'STATE'].map((title) => ({ title, cut: true }))

const statusCsv = ({ processes }: Overview): string =>
  formatCsvLine(COLUMNS) + processes.map((row) => formatCsvLine(COLUMNS.map((name) => row[name]))).join('')

const WORDS: Words = {
  duration: formatDuration,
  moment: (ms) => formatLocalTime(toTime(ms)).slice(0, 16),
  times: formatTimes,
}

function describeStatus({ at, sentence, stale_s: staleS, processes }: Overview, io: Io): string {
  const rows = processes.map((row): Cell[] => {
    const { text, change } = describeProcess(row, Date.parse(at), WORDS)
    const tone = toneOf(row.state)
    const said = [text, ...(row.exception === null ? [] : [row.exception]), ...(change === undefined ? [] : [change])]
    const style = tone === 'bad' ? 'red' : tone === 'warn' ? 'yellow' : undefined
    return [row.process, style === undefined ? said.join(' ') : { text: said.join(' '), style }]
  })
  const age = staleS === null ? '' : ` ${describeAge(staleS)}`
  const table = rows.length === 0 ? '' : formatTable(COLUMNS_SHOWN, rows, lookOf(io))
  return `${sentence === '' ? 'No processes yet.' : sentence}${age}\n${table}`
}

const describeAge = (staleS: number): string =>
  staleS === 0 ? STORE_AWAY : `This is ${formatSpan(staleS * 1000)} old: events wait to be read.`

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
