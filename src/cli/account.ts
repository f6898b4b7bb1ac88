// `stint account create`: standard output gets the new account's first key alone, for scripts.
import type { NewAccount } from '../wire/accounts.ts'
import { createApi } from './api.ts'
import { askAddress, askPassword, PASSWORD_STDIN, type PersonOptions, warnUnencrypted } from './ask-person.ts'
import { type Json, printJson } from './commands.ts'
import { readCliConfig } from './config.ts'
import type { Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine } from './safe-text.ts'

interface Options extends PersonOptions, Json {
  readonly setupCode?: string
}

export function register(program: Program, io: Io): void {
  program
    .command('account')
    .description('create an account')
    .command('create')
    .description('create an account and print its first API key')
    .option('--email <address>', 'your e-mail address')
    .option(...PASSWORD_STDIN)
    .option('--setup-code <code>', 'the set-up code from the server log, if the first account needs one')
    .option('--json', 'print the whole answer as JSON')
    .action(async (options: Options) => {
      const config = readCliConfig(io.env)
      warnUnencrypted(io, config.url)
      const email = await askAddress(io, options)
      const password = await askPassword(io, options, 'New password', true)
      const { body } = await createApi(io, config).ask<NewAccount>('POST', '/api/accounts', {
        email,
        password,
        ...(options.setupCode !== undefined && { setup_code: options.setupCode }),
      })
      if (options.json) return printJson(io, body)
      const { account, key } = body
      io.stderr.write(`Account ${oneLine(account.email)} created; stint login makes a key for this machine.\n`)
      io.stderr.write('Its first API key, shown only this once:\n')
      io.stdout.write(`${oneLine(key.secret)}\n`)
      io.stderr.write(`Send it with each request to ${config.url}/v1, in the header ${config.keyHeader}.\n`)
    })
}
