// `stint copy`: history from one store or file into another. It works on the stores themselves, with the server's settings, so parts of the server are loaded when it is called.
import { CliError, EXIT_REFUSED, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine, safeJson } from './safe-text.ts'

interface CopyFlags {
  readonly from: string
  readonly to?: string
  readonly restart?: boolean
  readonly json?: boolean
}

const HELP = `
Settings are those of the server: without --to the copy goes into the stores that INFLUX_URL, CLICKHOUSE_URL and DATA_DIR name. Where the source is a server of its
own, name it with FROM_CLICKHOUSE_URL, _USER, _PASSWORD and _DATABASE, or FROM_INFLUX_URL, _TOKEN, _ORG and _BUCKET (secrets also as …_FILE).
The embedded engine belongs to one process: stop the server first. An interrupted copy continues where it was; an event that is copied twice is stored once.`

export function register(program: Program, io: Io): void {
  program
    .command('copy')
    .description('copy all events from one store or file into others, and compare both sides')
    .requiredOption('--from <place>', 'embedded, clickhouse, influxdb or a file')
    .option('--to <file>', 'write a file, one JSON object per line; gzipped if its name ends in .gz')
    .option('--restart', 'begin again instead of continuing an interrupted copy')
    .option('--json', 'print a summary as JSON')
    .addHelpText('after', HELP)
    .action(async ({ from, to, restart, json }: CopyFlags) => {
      const [{ planCopy }, { runCopy }] = await Promise.all([
        import('../copy/places.ts'),
        import('../copy/run-copy.ts'),
      ])
      await withServerParts(io, async (parts) => {
        const summary = await runCopy(planCopy(io.env, from, to), { restart }, parts)
        if (json) io.stdout.write(`${safeJson(summary)}\n`)
        assertComplete(summary)
      })
    })
}

export interface ServerParts {
  readonly clock: import('../clock.ts').Clock
  readonly log: import('../log.ts').Logger
  readonly stderr: Io['stderr']
  readonly signal: AbortSignal
}

/** Runs work that SIGINT and SIGTERM interrupt. Its errors become CliErrors. */
export async function withServerParts(io: Io, work: (parts: ServerParts) => Promise<void>): Promise<void> {
  const [{ createLog }, { systemClock }, { ConfigError }] = await Promise.all([
    import('../log.ts'),
    import('../clock.ts'),
    import('../config.ts'),
  ])
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    const log = createLog({ level: 'silent', pretty: false })
    await work({ clock: systemClock, log, stderr: io.stderr, signal: interrupted.signal })
  } catch (cause) {
    if (interrupted.signal.aborted)
      throw new CliError('interrupted; run the same command again to continue', EXIT_REFUSED, { cause })
    if (cause instanceof CliError) throw cause
    throw new CliError((cause as Error).message, cause instanceof ConfigError ? EXIT_USAGE : EXIT_REFUSED, { cause })
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

/** Throws CliError unless all of the source is in the target. */
export function assertComplete(summary: import('../copy/run-copy.ts').CopySummary): void {
  const { refused, expired, refusal, comparison } = summary
  const faults = [
    ...(refused > 0 ? [`the target refused ${refused} events (${oneLine(refusal ?? '')})`] : []),
    ...(expired > 0 ? [`${expired} events are older than the target's retention`] : []),
    ...(comparison !== undefined && comparison.missing > 0
      ? [`${comparison.missing} events of the source are missing in the target; run the copy again`]
      : []),
  ]
  if (faults.length > 0) throw new CliError(`the copy is not complete: ${faults.join('; ')}`)
}
