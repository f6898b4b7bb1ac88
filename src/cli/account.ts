// `stint account …`: make an account, sign in and out. The key of a new account goes to standard output alone, so that a script can take it.
import { createApi, Refusal } from './api.ts'
import { askPassword, PASSWORD_STDIN, type PasswordOptions } from './ask-password.ts'
import { readCliConfig } from './config.ts'
import type { Io } from './io.ts'
import { oneLine, safeJson } from './one-line.ts'
import type { Program } from './program.ts'
import { createSessionFile } from './session-file.ts'

interface Options extends PasswordOptions {
  readonly email: string
  readonly setupCode?: string
  readonly json?: boolean
}

interface Made {
  readonly account: { readonly id: string; readonly email: string }
  readonly key: { readonly secret: string }
}

export function register(program: Program, io: Io): void {
  const account = program.command('account').description('make an account, sign in, sign out')

  account
    .command('create')
    .description('make an account and print its first API key')
    .requiredOption('--email <address>', 'your e-mail address')
    .option(...PASSWORD_STDIN)
    .option('--setup-code <code>', 'for the first account, where the log of the server shows one')
    .option('--json', 'print the whole answer as JSON')
    .action(async (options: Options) => {
      const { api, config, keep } = open(io)
      const password = await askPassword(io, options, 'New password', true)
      const { body, sessionToken } = await api.ask('POST', '/api/accounts', {
        email: options.email,
        password,
        ...(options.setupCode !== undefined && { setup_code: options.setupCode }),
      })
      const { account, key } = body as Made
      keep(account.email, sessionToken)
      if (options.json) {
        io.stdout.write(`${safeJson(body, 2)}\n`)
        return
      }
      io.stderr.write(`The account ${oneLine(account.email)} is made, and you are signed in.\n`)
      io.stderr.write('Its API key, shown this once:\n')
      io.stdout.write(`${oneLine(key.secret)}\n`)
      io.stderr.write(`Send it with each request to ${config.url}/v1 in the header ${config.keyHeader}.\n`)
    })

  account
    .command('login')
    .description('sign in, for the key commands')
    .requiredOption('--email <address>', 'your e-mail address')
    .option(...PASSWORD_STDIN)
    .action(async (options: Options) => {
      const { api, config, keep } = open(io)
      const password = await askPassword(io, options, 'Password', false)
      const { body, sessionToken } = await api.ask('POST', '/api/session', { email: options.email, password })
      const { email } = (body as Made).account
      keep(email, sessionToken)
      io.stderr.write(`Signed in to ${config.url} as ${oneLine(email)}.\n`)
    })

  account
    .command('logout')
    .description('sign out')
    .action(async () => {
      const { api, config, sessions } = open(io)
      if (sessions.get(config.url) === undefined) {
        io.stderr.write(`You are not signed in to ${config.url}.\n`)
        return
      }
      await api.askSignedIn('DELETE', '/api/session').catch((error: Error) => {
        // A session that has ended already is what was asked for.
        if (!(error.cause instanceof Refusal)) throw error
      })
      sessions.remove(config.url)
      io.stderr.write(`Signed out of ${config.url}.\n`)
    })
}

function open(io: Io) {
  const config = readCliConfig(io.env)
  const sessions = createSessionFile(config.sessionPath)
  const { protocol, hostname } = new URL(config.url)
  if (protocol === 'http:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) {
    io.stderr.write(`stint: warning: ${config.url} is not https, so others on the way can read your password\n`)
  }
  const keep = (email: string, token: string | undefined) => {
    if (token !== undefined) sessions.set(config.url, { token, email })
  }
  return { config, sessions, api: createApi(config, io), keep }
}
