// Commands for operators that work on the accounts where they are stored. `stint reset-password` is for somebody who
// can no longer sign in: with SQLite it takes the lock of DATA_DIR, so it never runs beside the server; with
// DATABASE_URL the nodes may run.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askPassword, PASSWORD_STDIN, type PasswordOptions } from './ask-person.ts'
import { readCliConfig } from './config.ts'
import { withServerParts } from './copy.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine } from './safe-text.ts'

export function register(program: Program, io: Io): void {
  registerReset(program, io)
  registerCopy(program, io)
}

function registerReset(program: Program, io: Io): void {
  program
    .command('reset-password')
    .description('set a new password, on the machine of the server while it is stopped, or in PostgreSQL')
    .requiredOption('--email <address>', 'e-mail address of the account')
    .option(...PASSWORD_STDIN)
    .addHelpText(
      'after',
      '\nDATA_DIR is the data directory of the server (./data). With DATABASE_URL the accounts are in PostgreSQL.',
    )
    .action(async (options: PasswordOptions & { email: string }) => {
      const { dataDir } = readCliConfig(io.env)
      const isShared = Boolean(io.env.DATABASE_URL || io.env.DATABASE_URL_FILE)
      if (!isShared && !existsSync(pathIn(dataDir)))
        throw new CliError(`no accounts in ${dataDir}: set DATA_DIR to the server's data directory`)
      const password = await askPassword(io, options, 'New password', true)
      await withServerParts(io, (parts) =>
        isShared
          ? resetShared(io.env, options.email, password, parts)
          : resetInFile(dataDir, options.email, password, parts),
      )
      io.stderr.write(`Password of ${oneLine(options.email)} changed; all its sessions are signed out.\n`)
    })
}

type Parts = Parameters<Parameters<typeof withServerParts>[1]>[0]
const pathIn = (dataDir: string) => join(dataDir, 'accounts.sqlite')

/** The two below import parts of the server: no other command needs them. */
async function resetInFile(dataDir: string, email: string, password: string, { clock, log }: Parts): Promise<void> {
  const { openAccounts } = await import('../account/open-accounts.ts')
  const { lockDataDir } = await import('../state/data-dir-lock.ts')
  const lock = lockDataDir(dataDir)
  try {
    const accounts = openAccounts({ path: pathIn(dataDir), clock, log, signup: 'closed' })
    await accounts.people.resetPassword({ email }, password).finally(accounts.close)
  } finally {
    lock.release()
  }
}

async function resetShared(env: Io['env'], email: string, password: string, { clock, log }: Parts): Promise<void> {
  const { openSharedAccounts } = await import('../account/shared/open-shared-accounts.ts')
  const { readConfig } = await import('../config.ts')
  const url = readConfig(env).databaseUrl!
  /** The copy of a running node is locked; this one is gone at once. */
  const dir = mkdtempSync(join(tmpdir(), 'stint-reset-'))
  try {
    const replicaPath = join(dir, 'known-keys.sqlite')
    const accounts = await openSharedAccounts({ url, replicaPath, clock, log, signup: 'closed' })
    await accounts.people.resetPassword({ email }, password).finally(accounts.close)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

// `stint accounts copy`: from accounts.sqlite and watches.sqlite of DATA_DIR into PostgreSQL, while the server is
// stopped.
const COPY_HELP = `
Settings are those of the server: DATA_DIR (./data) and DATABASE_URL or DATABASE_URL_FILE. All servers must be stopped.
The files stay as they are, and the copy can be repeated until the nodes have started with DATABASE_URL. A DATA_DIR that
holds watches.sqlite alone is copied, too: its accounts must be in PostgreSQL already.`

function registerCopy(program: Program, io: Io): void {
  program
    .command('accounts')
    .description('move the accounts to another database')
    .command('copy')
    .description('copy accounts, keys, sessions, watches and channels from SQLite in DATA_DIR into PostgreSQL')
    .addHelpText('after', COPY_HELP)
    .action(async () => {
      const { dataDir } = readCliConfig(io.env)
      const [accountsPath, watchesPath] = [pathIn(dataDir), join(dataDir, 'watches.sqlite')]
      const [hasAccounts, hasWatches] = [existsSync(accountsPath), existsSync(watchesPath)]
      if (!hasAccounts && !hasWatches)
        throw new CliError(`no accounts in ${dataDir}: set DATA_DIR to the server's data directory`)
      await withServerParts(io, async ({ log }) => {
        const [
          { readConfig },
          { lockDataDir },
          { openAccountsFile },
          { openPostgres },
          { copyAccounts },
          { openWatchesFile },
          { copyWatches },
        ] = await Promise.all([
          import('../config.ts'),
          import('../state/data-dir-lock.ts'),
          import('../account/open-accounts.ts'),
          import('../state/postgres.ts'),
          import('../account/shared/copy-accounts.ts'),
          import('../watch/storage/sqlite-store.ts'),
          import('../watch/storage/copy-watches.ts'),
        ])
        const { databaseUrl } = readConfig(io.env)
        if (databaseUrl === undefined)
          throw new CliError('no database to copy into: set DATABASE_URL to postgres://…', EXIT_USAGE)
        const lock = lockDataDir(dataDir)
        const postgres = openPostgres(databaseUrl)
        try {
          if (hasAccounts) {
            const file = openAccountsFile(accountsPath, log)
            const { account, api_key, session } = await copyAccounts(file, postgres).finally(file.close)
            io.stderr.write(`Copied ${account} accounts, ${api_key} keys and ${session} sessions.\n`)
          }
          if (hasWatches) {
            const file = openWatchesFile(watchesPath, log)
            const { watch, channel, alert } = await copyWatches(file, postgres).finally(file.close)
            io.stderr.write(`Copied ${watch} watches, ${channel} channels and ${alert} alerts.\n`)
          }
        } finally {
          await postgres.close()
          lock.release()
        }
      })
    })
}
