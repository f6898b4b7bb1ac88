// Input, output and environment of a command, passed in so that tests run commands in their own process.

export interface Output {
  write(text: string): void
  /** True for a terminal; the width is known only there. */
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>
  /** Whether a person can answer questions. */
  readonly isTerminal: boolean
  /** All of standard input. */
  readStdin(): Promise<string>
  /** Asks on the terminal. Resolves to the answer without its line break. */
  readLine(question: string): Promise<string>
  /** Asks on the terminal without echo. */
  readSecret(question: string): Promise<string>
  /** Ends the process at once, even if requests are still under way. */
  exit(code: number): never
}

export const EXIT_REFUSED = 1
export const EXIT_USAGE = 2

/** Ends a command with a message for people; an empty message is not shown. */
export class CliError extends Error {
  override readonly name = 'CliError'

  constructor(
    message: string,
    readonly exitCode: number = EXIT_REFUSED,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
