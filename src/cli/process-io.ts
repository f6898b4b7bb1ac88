// The real input, output and environment. Nothing is touched before it is used: under `stint exec` standard input is the command's, and
// merely to ask whether there is a terminal takes as long as some commands do.
import { writeSync } from 'node:fs'
import { processEnv } from './config.ts'
import { EXIT_REFUSED, type Io } from './io.ts'

export function createProcessIo(exit: (code: number) => never): Io {
  /** Nothing is left to do: whoever read the output has gone (`stint … | head`), or it has no room. */
  function endUnwritten(error: unknown): never {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EPIPE') exit(0)
    const why = message.replace(/^[A-Z\d]+: |, write$/g, '') // of `ENOSPC: no space left on device, write`
    writeToStderr(`stint: standard output could not be written: ${why}\n`)
    exit(EXIT_REFUSED)
  }
  let isWatched = false
  const terminal = async () => (await import('./terminal.ts')).createTerminal(process.stdin, process.stderr)

  return {
    stdout: {
      get isTTY() {
        return process.stdout.isTTY
      },
      get columns() {
        return process.stdout.columns
      },
      get rows() {
        return process.stdout.rows
      },
      write(text) {
        if (!isWatched) process.stdout.on('error', endUnwritten)
        isWatched = true
        try {
          process.stdout.write(text)
        } catch (error) {
          endUnwritten(error)
        }
      },
    },
    stderr: {
      get isTTY() {
        return process.stderr.isTTY
      },
      write: writeToStderr,
    },
    env: processEnv(),
    fetch: (url, init) => fetch(url, init),
    get isTerminal() {
      return process.stdin.isTTY === true && process.stderr.isTTY === true
    },
    readStdin: async () => (await terminal()).readStdin(),
    readLine: async (question) => (await terminal()).readLine(question),
    readSecret: async (question) => (await terminal()).readSecret(question),
    exit,
  }
}

/** Without the stream that `process.stderr` is: loading it takes as long as all that `stint exec` does after a command. */
function writeToStderr(text: string): void {
  try {
    writeSync(2, text)
  } catch (error) {
    // Full and not willing to wait; or closed, and then there is nobody to tell.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') process.stderr.write(text)
  }
}
