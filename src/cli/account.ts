// `stint account …`: create an account, sign in and out. Standard output gets the new account's key alone, for scripts.
import { isLoopback } from '../parse-settings.ts'
import type { NewAccount } from '../wire/accounts.ts'
import type { Session, SessionState } from '../wire/sessions.ts'
import { createApi, createSessionFile, Refusal } from './api.ts'
import { addList, findNamed, type Json, printJson } from './commands.ts'
import { readCliConfig } from './config.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine } from './safe-text.ts'

export interface PasswordOptions {
  readonly passwordStdin?: boolean
}

export const PASSWORD_STDIN = ['--password-stdin', 'read the password from the first line of standard input'] as const

interface Options extends PasswordOptions, Json {
  readonly email: string
  readonly setupCode?: string
}

export function register(program: Program, io: Io): void {
  const account = program.command('account').description('create an account, sign in and out, work in another one')

  account
    .command('create')
    .description('create an account and print its first API key')
    .requiredOption('--email <address>', 'your e-mail address')
    .option(...PASSWORD_STDIN)
    .option('--setup-code <code>', 'the set-up code from the server log, if the first account needs one')
    .option('--json', 'print the whole answer as JSON')
    .action(async (options: Options) => {
      const { api, config, keep } = open(io)
      const password = await askPassword(io, options, 'New password', true)
      const { body, sessionToken } = await api.ask<NewAccount>('POST', '/api/accounts', {
        email: options.email,
        password,
        ...(options.setupCode !== undefined && { setup_code: options.setupCode }),
      })
      const { account, key } = body
      keep(account.email, sessionToken)
      if (options.json) return printJson(io, body)
      io.stderr.write(`Account ${oneLine(account.email)} created; you are signed in.\n`)
      io.stderr.write('API key, shown only this once:\n')
      io.stdout.write(`${oneLine(key.secret)}\n`)
      io.stderr.write(`Send it with each request to ${config.url}/v1, in the header ${config.keyHeader}.\n`)
    })

  account
    .command('login')
    .description('sign in, for the key commands')
    .requiredOption('--email <address>', 'your e-mail address')
    .option(...PASSWORD_STDIN)
    .action(async (options: Options) => {
      const { api, config, keep } = open(io)
      const password = await askPassword(io, options, 'Password', false)
      const { body, sessionToken } = await api.ask<Session>('POST', '/api/session', { email: options.email, password })
      const { email } = body.person
      keep(email, sessionToken)
      io.stderr.write(`Signed in to ${config.url} as ${oneLine(email)}.\n`)
    })

  const api = () => createApi(io)
  async function show(): Promise<Session> {
    const state = await api().askSignedIn<SessionState>('GET', '/api/session')
    const { account: shown, person, role, accounts } = state
    if (!shown || !person || !role || !accounts) throw new CliError('the session has ended: run stint account login')
    return { account: shown, person, role, accounts }
  }
  addList(account, io, {
    about: 'list the accounts that you are a member of',
    ask: show,
    heads: ['ID', 'ROLE', 'NAME', 'STATE'],
    rows: ({ account: { id: shown }, accounts }) =>
      accounts.map(({ id, role, name }) => [id, role, name, id === shown ? 'in use' : '']),
  })

  account
    .command('use')
    .description('work in another of your accounts from now on')
    .argument('<account>', 'name or id, as account list shows them')
    .action(async (which: string) => {
      const { id, name } = findNamed('account of yours', which, (await show()).accounts)
      await api().askSignedIn('POST', '/api/session/account', { id })
      io.stderr.write(`Your session is in the account ${oneLine(name)} now.\n`)
    })

  account
    .command('logout')
    .description('sign out')
    .action(async () => {
      const { api, config, sessions } = open(io)
      if (sessions.get(config.url) === undefined) {
        io.stderr.write(`Not signed in to ${config.url}.\n`)
        return
      }
      await api.askSignedIn('DELETE', '/api/session').catch((error: Error) => {
        // An expired session needs no sign-out.
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
  if (protocol === 'http:' && !isLoopback(hostname)) {
    io.stderr.write(`stint: warning: ${config.url} is not https; others on the network can read your password\n`)
  }
  const keep = (email: string, token: string | undefined) => {
    if (token !== undefined) sessions.set(config.url, { token, email })
  }
  return { config, sessions, api: createApi(io, config), keep }
}

/**
 * Reads a password from the terminal without echo, or from standard input; never from an argument, which every user of
 * the machine can see. `again` asks twice, for a new password.
 */
export async function askPassword(io: Io, options: PasswordOptions, question: string, again: boolean): Promise<string> {
  if (options.passwordStdin) {
    const [password = ''] = (await io.readStdin()).split(/\r?\n/, 1)
    if (password === '') throw new CliError(`no ${question.toLowerCase()} on standard input`, EXIT_USAGE)
    return password
  }
  if (!io.isTerminal) {
    const what = question.toLowerCase()
    throw new CliError(`cannot ask for the ${what}: not a terminal; pass --password-stdin`, EXIT_USAGE)
  }
  const password = await io.readSecret(`${question}: `)
  if (again && (await io.readSecret(`${question} again: `)) !== password) {
    throw new CliError('the two passwords differ')
  }
  return password
}
