#!/usr/bin/env bun
// The command line's process: real input, output and environment around runCli.

import { processEnv } from './config.ts'
import { runCli } from './run-cli.ts'
import { createTerminal } from './terminal.ts'

/** Whoever read the output has gone (`stint … | head`): nothing is left to do. */
function endWhenUnread(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  process.exit(0)
}
process.stdout.on('error', endWhenUnread)

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: {
    isTTY: process.stdout.isTTY,
    get columns() {
      return process.stdout.columns
    },
    get rows() {
      return process.stdout.rows
    },
    write(text) {
      try {
        process.stdout.write(text)
      } catch (error) {
        endWhenUnread(error)
      }
    },
  },
  stderr: process.stderr,
  env: processEnv(),
  fetch,
  exit: (code) => process.exit(code),
  ...createTerminal(process.stdin, process.stderr),
})
