#!/usr/bin/env bun
// The command line's process. `stint exec` must start its command at once: other code is loaded beside it or never.
import { parseExecCall } from './exec/parse-exec-call.ts'
import { createProcessIo } from './process-io.ts'

const args = process.argv.slice(2)
const io = createProcessIo((code) => process.exit(code))
const call = parseExecCall(args)

if (call === undefined) import('./run-cli.ts').then(async ({ runCli }) => setExitCode(await runCli(args, io)))
else import('./exec/run-exec.ts').then(({ runExec }) => runExec(call, io))

function setExitCode(code: number): void {
  process.exitCode = code
}
