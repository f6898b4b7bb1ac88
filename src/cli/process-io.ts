// The real input, output and environment. Each is opened on first use: under `stint exec` standard input belongs to the
// command, and even asking whether it is a terminal takes as long as some commands.
import { writeSync } from 'node:fs'
import { processEnv } from './config.ts'
import { EXIT_REFUSED, type Io } from './io.ts'

export function createProcessIo(exit: (code: number) => never): Io {
  /** The reader of the output is gone (`stint … | head`), or there is no space for it. */
  function endUnwritten(error: unknown): never {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EPIPE') exit(0)
    const why = message.replace(/^[A-Z\d]+: |, write$/g, '') // from `ENOSPC: no space left on device, write`
    writeToStderr(`stint: cannot write standard output: ${why}\n`)
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

/** Avoids the stream `process.stderr`: loading it takes as long as all that `stint exec` does after a command. */
function writeToStderr(text: string): void {
  try {
    writeSync(2, text)
  } catch (error) {
    // Full and non-blocking; any other error means that it is closed.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') process.stderr.write(text)
  }
}
