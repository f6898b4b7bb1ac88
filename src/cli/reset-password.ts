// `stint reset-password`: for operators who can no longer sign in. The only command that works on DATA_DIR itself, with the server stopped;
// it takes the server's lock, so the two never run at once.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { askPassword, PASSWORD_STDIN, type PasswordOptions } from './account.ts'
import { readCliConfig } from './config.ts'
import { CliError, EXIT_REFUSED, type Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine } from './safe-text.ts'

export function register(program: Program, io: Io): void {
  program
    .command('reset-password')
    .description('set a new password, on the machine of the server while it is stopped')
    .requiredOption('--email <address>', 'e-mail address of the account')
    .option(...PASSWORD_STDIN)
    .addHelpText('after', '\nDATA_DIR is the data directory of the server (./data).')
    .action(async (options: PasswordOptions & { email: string }) => {
      const { dataDir } = readCliConfig(io.env)
      const path = join(dataDir, 'accounts.sqlite')
      if (!existsSync(path))
        throw new CliError(`no accounts in ${dataDir}: set DATA_DIR to the server's data directory`)
      const password = await askPassword(io, options, 'New password', true)
      await resetPassword(dataDir, path, options.email, password)
      io.stderr.write(`Password of ${oneLine(options.email)} changed; all its sessions are signed out.\n`)
    })
}

/** Imports parts of the server here: no other command needs them. */
async function resetPassword(dataDir: string, path: string, email: string, password: string): Promise<void> {
  const [{ openAccounts }, { lockDataDir }, { createLog }, { systemClock }, { Problem }] = await Promise.all([
    import('../account/open-accounts.ts'),
    import('../state/data-dir-lock.ts'),
    import('../log.ts'),
    import('../clock.ts'),
    import('../problem.ts'),
  ])
  let lock: { release(): void } | undefined
  try {
    lock = lockDataDir(dataDir)
    const log = createLog({ level: 'silent', pretty: false })
    const accounts = openAccounts({ path, clock: systemClock, log, signup: 'closed' })
    try {
      await accounts.resetPassword(email, password)
    } finally {
      await accounts.close()
    }
  } catch (cause) {
    const details = cause instanceof Problem ? (cause.errors ?? []).map(({ detail }) => `; it ${detail}`) : []
    throw new CliError((cause as Error).message.replace(/\.$/, '') + details.join(''), EXIT_REFUSED, { cause })
  } finally {
    lock?.release()
  }
}
