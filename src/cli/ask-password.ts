// Where a password comes from: the terminal, unseen, or standard input. Never from an argument: those are seen by everyone on the machine.
import { CliError, EXIT_USAGE, type Io } from './io.ts'

export interface PasswordOptions {
  readonly passwordStdin?: boolean
}

export const PASSWORD_STDIN = ['--password-stdin', 'read the password from standard input, its first line'] as const

/** `again`: have it typed twice, for a new one. */
export async function askPassword(io: Io, options: PasswordOptions, question: string, again: boolean): Promise<string> {
  if (options.passwordStdin) {
    const [password = ''] = (await io.readStdin()).split(/\r?\n/, 1)
    if (password === '') throw new CliError('there is no password on standard input', EXIT_USAGE)
    return password
  }
  if (!io.isTerminal)
    throw new CliError('there is no terminal to ask for the password: use --password-stdin', EXIT_USAGE)
  const password = await io.readSecret(`${question}: `)
  if (again && (await io.readSecret(`${question} again: `)) !== password) {
    throw new CliError('the two passwords differ')
  }
  return password
}
