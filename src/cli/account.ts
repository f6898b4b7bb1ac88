// `stint account create`: standard output gets the new account's first key alone, for scripts. Where no key is set,
// this machine gets one as from `stint login`.
import type { NewAccount } from '../wire/accounts.ts'
import { type Api, createApi } from './api.ts'
import { askAddress, askPassword, PASSWORD_STDIN, type PersonOptions, warnUnencrypted } from './ask-person.ts'
import { type Json, printJson } from './commands.ts'
import { type CliConfig, readCliConfig } from './config.ts'
import { CliError, type Io } from './io.ts'
import { makeKey, save } from './login.ts'
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
    .option('--setup-code <code>', 'the setup code from the server log, if the first account needs one')
    .option('--json', 'print the whole answer as JSON')
    .action(async (options: Options) => {
      const config = readCliConfig(io.env)
      warnUnencrypted(io, config.url)
      const email = await askAddress(io, options)
      const password = await askPassword(io, options, 'New password', true)
      const api = createApi(io, config)
      const { body } = await api.ask<NewAccount | { readonly sent: true }>('POST', '/api/accounts', {
        email,
        password,
        ...(options.setupCode !== undefined && { setup_code: options.setupCode }),
      })
      if (options.json) return printJson(io, body)
      if ('sent' in body) {
        io.stderr.write(`A link was sent to ${oneLine(email)}, unless too many were today: `)
        return void io.stderr.write('open it to set a password and to create the account.\n')
      }
      const { account, key } = body
      io.stderr.write(`Account ${oneLine(account.email)} created; `)
      io.stderr.write(await keepKey(io, config, api, email, password))
      io.stderr.write('The first API key for your jobs, shown only this once:\n')
      io.stdout.write(`${oneLine(key.secret)}\n`)
      io.stderr.write(`Send it with each request to ${config.url}/v1, in the header ${config.keyHeader}.\n`)
    })
}

/** Returns what became of the key for this machine. Never throws: the account is there. */
async function keepKey(io: Io, config: CliConfig, api: Api, email: string, password: string): Promise<string> {
  if (config.apiKey !== undefined) return 'the key that is set stays.\n'
  try {
    save(io, config, (await makeKey(api, email, password)).secret)
    return `a key for this machine is saved in ${config.settingsPath}.\n`
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return `stint login makes a key for this machine: ${error.message}\n`
  }
}
