// Asks for the e-mail address and the password of a person: on the terminal, or from flags and standard input.
import { isLoopback } from '../parse-settings.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'

export interface PasswordOptions {
  readonly passwordStdin?: boolean
}

export interface PersonOptions extends PasswordOptions {
  readonly email?: string
}

export const PASSWORD_STDIN = ['--password-stdin', 'read the password from the first line of standard input'] as const

/** Throws CliError (usage) without `--email` and a terminal. */
export async function askAddress(io: Io, { email }: PersonOptions): Promise<string> {
  if (email !== undefined) return email
  if (io.isTerminal) return (await io.readLine('E-mail address: ')).trim()
  throw new CliError('cannot ask for the e-mail address: not a terminal; pass --email', EXIT_USAGE)
}

/**
 * Reads a password from the terminal without echo, or from standard input; never from an argument, which every user of
 * the machine can see. `again` asks twice, for a new password.
 */
export async function askPassword(io: Io, options: PasswordOptions, question: string, again: boolean): Promise<string> {
  if (options.passwordStdin) return readFirstLine(io, question)
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

/** Throws CliError (usage) for an empty line; `what` names it. */
export async function readFirstLine(io: Io, what: string): Promise<string> {
  const [line = ''] = (await io.readStdin()).split(/\r?\n/, 1)
  if (line !== '') return line
  throw new CliError(`no ${what.toLowerCase()} on standard input`, EXIT_USAGE)
}

export function warnUnencrypted(io: Io, url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'http:' && !isLoopback(hostname))
    io.stderr.write(`stint: warning: ${url} is not https; others on the network can read what you type\n`)
}
