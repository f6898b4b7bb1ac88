// `stint export` and `stint import`: the events of one account as a file, out of the configured stores and into them. Like `stint copy` they work on the stores themselves.
import { join } from 'node:path'
import { readCliConfig } from './config.ts'
import { assertComplete, withServerParts } from './copy.ts'
import { CliError, type Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine, safeJson } from './safe-text.ts'

interface Flags {
  readonly account: string
  readonly json?: boolean
}

const ACCOUNT = ['--account <account>', 'e-mail address or id of the account'] as const
const JSON_FLAG = ['--json', 'print a summary as JSON'] as const
const HELP = `
Settings are those of the server: INFLUX_URL, CLICKHOUSE_URL and DATA_DIR name the stores, and DATA_DIR the accounts. With the embedded engine stop the server first.
A file has one JSON object per line; it is gzipped if its name ends in .gz.`

export function register(program: Program, io: Io): void {
  program
    .command('export')
    .description('write all events of one account into a file')
    .argument('<file>', 'must not exist yet')
    .requiredOption(...ACCOUNT)
    .option(...JSON_FLAG)
    .addHelpText('after', HELP)
    .action(async (file: string, flags: Flags) => {
      const { planExport } = await import('../copy/places.ts')
      await transfer(io, flags, (account) => ({ plan: planExport(io.env, file), choices: { account } }))
    })

  program
    .command('import')
    .description('store all events of a file for one account')
    .argument('<file>', 'as stint export or stint copy wrote it')
    .requiredOption(...ACCOUNT)
    .option(...JSON_FLAG)
    .addHelpText('after', HELP)
    .action(async (file: string, flags: Flags) => {
      const { planImport } = await import('../copy/places.ts')
      await transfer(io, flags, (asAccount) => ({ plan: planImport(io.env, file), choices: { asAccount } }))
    })
}

type RunCopy = typeof import('../copy/run-copy.ts').runCopy
interface Transfer {
  readonly plan: Parameters<RunCopy>[0]
  readonly choices: Parameters<RunCopy>[1]
}

async function transfer(io: Io, { account, json }: Flags, toTransfer: (id: string) => Transfer): Promise<void> {
  const { runCopy } = await import('../copy/run-copy.ts')
  const id = await findAccount(io, account)
  await withServerParts(io, async (parts) => {
    const { plan, choices } = toTransfer(id)
    const summary = await runCopy(plan, choices, parts)
    if (json) io.stdout.write(`${safeJson(summary)}\n`)
    assertComplete(summary)
  })
}

/** An id is taken as it is where DATA_DIR has no accounts, because they are in PostgreSQL or on another machine. */
async function findAccount(io: Io, account: string): Promise<string> {
  const { findAccountId } = await import('../account/find-account-id.ts')
  const { existsSync } = await import('node:fs')
  const { dataDir } = readCliConfig(io.env, { withoutKey: true })
  const path = join(dataDir, 'accounts.sqlite')
  const found = findAccountId(path, account)
  if (found !== undefined) return found
  if (existsSync(path)) throw new CliError(`no account ${oneLine(account)} in ${path}`)
  if (account.startsWith('acc_')) return account
  throw new CliError(`no accounts in ${dataDir}: set DATA_DIR to the server's data directory, or pass the account's id`)
}
