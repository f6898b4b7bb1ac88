// `stint accounts copy`: from accounts.sqlite and watches.sqlite of DATA_DIR into PostgreSQL, on the machine of the server while it is stopped.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readCliConfig } from './config.ts'
import { withServerParts } from './copy.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'

const HELP = `
Settings are those of the server: DATA_DIR (./data) and DATABASE_URL or DATABASE_URL_FILE. All servers must be stopped. The files stay as they are, and
the copy can be repeated until the nodes have started with DATABASE_URL. A DATA_DIR that holds watches.sqlite alone is copied, too: its accounts must be in
PostgreSQL already.`

export function register(program: Program, io: Io): void {
  program
    .command('accounts')
    .description('move the accounts to another database')
    .command('copy')
    .description('copy accounts, keys, sessions, watches and channels from SQLite in DATA_DIR into PostgreSQL')
    .addHelpText('after', HELP)
    .action(async () => {
      const { dataDir } = readCliConfig(io.env)
      const [accountsPath, watchesPath] = [join(dataDir, 'accounts.sqlite'), join(dataDir, 'watches.sqlite')]
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
            const { account, api_key, session, series } = await copyAccounts(file, postgres).finally(file.close)
            io.stderr.write(`Copied ${account} accounts, ${api_key} keys, ${session} sessions and ${series} series.\n`)
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
