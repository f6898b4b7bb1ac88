// `stint accounts copy`: from accounts.sqlite of DATA_DIR into PostgreSQL, on the machine of the server while it is stopped.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readCliConfig } from './config.ts'
import { withServerParts } from './copy.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'

const HELP = `
Settings are those of the server: DATA_DIR (./data) and DATABASE_URL or DATABASE_URL_FILE. The server must be stopped. The file stays as it is, and the
copy can be repeated. Then start every node with DATABASE_URL.`

export function register(program: Program, io: Io): void {
  program
    .command('accounts')
    .description('move the accounts to another database')
    .command('copy')
    .description('copy accounts, keys and sessions from SQLite in DATA_DIR into PostgreSQL')
    .addHelpText('after', HELP)
    .action(async () => {
      const { dataDir } = readCliConfig(io.env)
      const path = join(dataDir, 'accounts.sqlite')
      if (!existsSync(path))
        throw new CliError(`no accounts in ${dataDir}: set DATA_DIR to the server's data directory`)
      await withServerParts(io, async ({ log }) => {
        const [{ readConfig }, { lockDataDir }, { openAccountsFile }, { openPostgres }, { copyAccounts }] =
          await Promise.all([
            import('../config.ts'),
            import('../state/data-dir-lock.ts'),
            import('../account/sqlite.ts'),
            import('../state/postgres.ts'),
            import('../account/shared/copy-accounts.ts'),
          ])
        const { databaseUrl } = readConfig(io.env)
        if (databaseUrl === undefined)
          throw new CliError('no database to copy into: set DATABASE_URL to postgres://…', EXIT_USAGE)
        const lock = lockDataDir(dataDir)
        const file = openAccountsFile(path, log)
        const postgres = openPostgres(databaseUrl)
        try {
          const { account, api_key, session, series } = await copyAccounts(file, postgres)
          io.stderr.write(`Copied ${account} accounts, ${api_key} keys, ${session} sessions and ${series} series.\n`)
        } finally {
          await postgres.close()
          file.close()
          lock.release()
        }
      })
    })
}
