#!/usr/bin/env bun
// The command line's process. `stint exec` must start its command at once: other code is loaded beside it or never.
import { ExecUsage, parseExecCall } from './exec/parse-exec-call.ts'
import { EXIT_USAGE } from './io.ts'
import { createProcessIo } from './process-io.ts'

const args = process.argv.slice(2)
const io = createProcessIo((code) => process.exit(code))
const call = args[0] === 'exec' ? readCall(args.slice(1)) : 'other'

if (typeof call === 'object') import('./exec/run-exec.ts').then(({ runExec }) => runExec(call, io))
else if (call !== undefined) import('./run-cli.ts').then(async ({ runCli }) => setExitCode(await runCli(args, io)))

/** Undefined after a message about a usage error. */
function readCall(given: readonly string[]): ReturnType<typeof parseExecCall> | undefined {
  try {
    return parseExecCall(given)
  } catch (error) {
    if (!(error instanceof ExecUsage)) throw error
    io.stderr.write(`stint: ${error.message}\n(run stint exec --help for its options)\n`)
    setExitCode(EXIT_USAGE)
    return undefined
  }
}

function setExitCode(code: number): void {
  process.exitCode = code
}
