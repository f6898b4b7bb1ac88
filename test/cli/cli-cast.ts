// A person at a command line: runs commands in this process against a real server, with a home of their own.
import { join } from 'node:path'
import type { Io } from '../../src/cli/io.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { tempDir } from '../support/temp-dir.ts'

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

interface World {
  /** What is on standard input. */
  readonly stdin?: string
  /** What is typed at each question; without it there is no terminal. */
  readonly typed?: readonly string[]
  readonly env?: Record<string, string>
  /** The width of the terminal on standard output; unset = not a terminal. */
  readonly columns?: number
}

export function createPerson(url: string) {
  const home = tempDir('cli')
  const settingsPath = join(home, '.config/stint.json')

  async function run(
    line: string | readonly string[],
    { stdin = '', typed, env = {}, columns }: World = {},
  ): Promise<Ran> {
    const [stdout, stderr]: [string[], string[]] = [[], []]
    const answers = [...(typed ?? [])]
    const io: Io = {
      stdout: { write: (text) => void stdout.push(text), ...(columns !== undefined && { isTTY: true, columns }) },
      stderr: { write: (text) => void stderr.push(text) },
      env: { HOME: home, STINT_URL: url, ...env },
      fetch,
      isTerminal: typed !== undefined,
      readStdin: async () => stdin,
      exit(code) {
        throw new Error(`it wanted to exit with ${code}`)
      },
      async readLine(question) {
        stderr.push(question)
        return answers.shift()!
      },
      async readSecret(question) {
        stderr.push(question)
        return answers.shift()!
      },
    }
    const exitCode = await runCli(typeof line === 'string' ? line.split(' ') : line, io)
    return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') }
  }
  return { run, home, settingsPath }
}

/** The cells of a table by line; they have two spaces between them. */
export const cells = (table: string) =>
  table
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/))
