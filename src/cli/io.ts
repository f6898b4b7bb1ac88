// What a command has of the world. Handed in, so that tests run commands in their own process.

export interface Output {
  write(text: string): void
  /** A terminal: the rest is known only there. */
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>
  /** Can somebody be asked? */
  readonly isTerminal: boolean
  /** All of standard input. */
  readStdin(): Promise<string>
  /** Asks on the terminal; the answer without its line break. */
  readLine(question: string): Promise<string>
  /** Asks on the terminal without showing what is typed. */
  readSecret(question: string): Promise<string>
  /** Ends the process at once, whatever is still under way. */
  exit(code: number): never
}

export const EXIT_REFUSED = 1
export const EXIT_USAGE = 2

/** Ends a command with a message for people; an empty one is not shown, for a command that ends as another program did. */
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
