// `stint copy`, `export` and `import` work on the stores themselves, with the server's settings; parts of the
// server are loaded when they are called.
import { join } from 'node:path'
import type { CopyParts, CopyPlan } from '../copy/places.ts'
import type { Json } from './commands.ts'
import { readCliConfig } from './config.ts'
import { defineHealthchecks } from './import-healthchecks.ts'
import { CliError, EXIT_REFUSED, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine, safeJson } from './safe-text.ts'

export function register(program: Program, io: Io): void {
  registerCopy(program, io)
  registerTransfers(program, io)
}

const JSON_FLAG = ['--json', 'print a summary as JSON'] as const

interface CopyFlags extends Json {
  readonly from: string
  readonly to?: string
  readonly restart?: boolean
}

const COPY_HELP = `
Settings are those of the server: without --to the copy goes into the stores that INFLUX_URL, CLICKHOUSE_URL and
DATA_DIR name. Where the source is a server of its own, name it with FROM_CLICKHOUSE_URL, _USER, _PASSWORD and
_DATABASE, or FROM_INFLUX_URL, _TOKEN, _ORG and _BUCKET (secrets also as …_FILE).
The embedded engine belongs to one process: stop the server first. An interrupted copy continues where it was; an event
that is copied twice is stored once.`

function registerCopy(program: Program, io: Io): void {
  program
    .command('copy')
    .description('copy all events from one store or file into others, and compare both sides')
    .requiredOption('--from <place>', 'embedded, clickhouse, influxdb or a file')
    .option('--to <file>', 'write a file, one JSON object per line; gzipped if its name ends in .gz')
    .option('--restart', 'begin again instead of continuing an interrupted copy')
    .option(...JSON_FLAG)
    .addHelpText('after', COPY_HELP)
    .action(async ({ from, to, restart, json }: CopyFlags) => {
      const { planCopy } = await import('../copy/places.ts')
      await run(io, json, () => planCopy(io.env, from, to, restart))
    })
}

// `stint export` and `stint import`: the events of one account as a file, out of the configured stores and into them.
interface TransferFlags extends Json {
  readonly account?: string
}

const ACCOUNT = ['--account <account>', 'e-mail address or id of the account'] as const
const TRANSFER_HELP = `
Settings are those of the server: INFLUX_URL, CLICKHOUSE_URL and DATA_DIR name the stores, and DATA_DIR the accounts.
With the embedded engine stop the server first.
A file has one JSON object per line; it is gzipped if its name ends in .gz.`

function registerTransfers(program: Program, io: Io): void {
  program
    .command('export')
    .description('write all events of one account into a file')
    .argument('<file>', 'must not exist yet')
    .requiredOption(...ACCOUNT)
    .option(...JSON_FLAG)
    .addHelpText('after', TRANSFER_HELP)
    .action(async (file: string, flags: TransferFlags) => {
      const { planExport } = await import('../copy/places.ts')
      await transfer(io, flags, (account) => planExport(io.env, file, account))
    })

  const command = program
    .command('import')
    .description('store all events of a file for one account, or take watches over from elsewhere')
    .argument('<file>', 'as stint export or stint copy wrote it')
    .option(...ACCOUNT)
    .option(...JSON_FLAG)
    .addHelpText('after', TRANSFER_HELP)
    .action(async (file: string, flags: TransferFlags) => {
      const { planImport } = await import('../copy/places.ts')
      await transfer(io, flags, (account) => planImport(io.env, file, account))
    })
  defineHealthchecks(command.command('healthchecks'), io)
}

async function transfer(io: Io, { account, json }: TransferFlags, toPlan: (id: string) => CopyPlan): Promise<void> {
  if (account === undefined) throw new CliError("required option '--account <account>' not specified", EXIT_USAGE)
  const id = await findAccount(io, account)
  await run(io, json, () => toPlan(id))
}

async function run(io: Io, json: boolean | undefined, toPlan: () => CopyPlan): Promise<void> {
  const { runCopy } = await import('../copy/run-copy.ts')
  await withServerParts(io, async (parts) => {
    const summary = await runCopy(toPlan(), parts)
    if (json) io.stdout.write(`${safeJson(summary)}\n`)
    assertComplete(summary)
  })
}

/** A running server holds the file of accounts. */
function attemptLocked<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith('SQLITE_BUSY')) throw error
    throw new CliError(`${path} is in use: stop the server first`)
  }
}

/** An id is taken as it is where DATA_DIR has no accounts, because they are in PostgreSQL or on another machine. */
async function findAccount(io: Io, account: string): Promise<string> {
  const { findAccountId } = await import('../account/open-accounts.ts')
  const { existsSync } = await import('node:fs')
  const { dataDir } = readCliConfig(io.env, { withoutKey: true })
  const path = join(dataDir, 'accounts.sqlite')
  const found = attemptLocked(path, () => findAccountId(path, account))
  if (found !== undefined) return found
  if (existsSync(path)) throw new CliError(`no account ${oneLine(account)} in ${path}`)
  if (account.startsWith('acc_')) return account
  throw new CliError(`no accounts in ${dataDir}: set DATA_DIR to the server's data directory, or pass the account's id`)
}

/** Runs work that SIGINT and SIGTERM interrupt. Its errors become CliErrors with every fault of a Problem. */
export async function withServerParts<T>(io: Io, work: (parts: CopyParts) => Promise<T>): Promise<T> {
  const [{ createLog }, { systemClock }, { ConfigError }, { Problem }] = await Promise.all([
    import('../log.ts'),
    import('../clock.ts'),
    import('../config.ts'),
    import('../problem.ts'),
  ])
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    const log = createLog({ level: 'silent', pretty: false })
    return await work({ clock: systemClock, log, stderr: io.stderr, signal: interrupted.signal })
  } catch (cause) {
    if (interrupted.signal.aborted)
      throw new CliError('interrupted; run the same command again to continue', EXIT_REFUSED, { cause })
    if (cause instanceof CliError) throw cause
    if (cause instanceof Problem && cause.code === 'store_unavailable' && cause.cause instanceof Error)
      throw new CliError(`PostgreSQL cannot be used: ${cause.cause.message}; check DATABASE_URL`, EXIT_REFUSED, {
        cause,
      })
    const faults = cause instanceof Problem ? (cause.errors ?? []).map(({ detail }) => `; it ${detail}`) : []
    const message = (cause as Error).message.replace(/\.$/, '') + faults.join('')
    throw new CliError(message, cause instanceof ConfigError ? EXIT_USAGE : EXIT_REFUSED, { cause })
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

/** Throws CliError unless all of the source is in the target. */
function assertComplete(summary: import('../copy/run-copy.ts').CopySummary): void {
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
