// `stint exec`: the command first; everything about Stint happens beside it, and nothing about Stint keeps the command from running or ending.
import { fstatSync } from 'node:fs'
import { basename } from 'node:path'
import { systemClock } from '../../clock.ts'
import type { Io } from '../io.ts'
import type { ExecCall } from './parse-exec-call.ts'
import { type Ending, runJob } from './run-job.ts'

const STDERR = 2
const LINUX_NULL_DEVICE = 0x103

/** Ends this process as the command ended. */
export async function runExec(call: ExecCall, io: Io): Promise<never> {
  const stderrIsTerminal = await isTerminal(STDERR)
  const startedUs = systemClock.wallUs()
  const sinceUs = systemClock.monotonicUs()
  const job = runJob({ command: call.command, env: io.env, clock: systemClock, stderrIsTerminal })
  const telling = import('./tell-stint.ts').then(({ tellStint }) => tellStint(call, startedUs, systemClock, io))
  telling.catch(() => {}) // told below
  const ending = await job.ended
  const say = async (line: string) => io.stderr.write(`stint: ${(await import('../one-line.ts')).oneLine(line)}\n`)
  if (ending.failure !== undefined) await say(`${basename(call.command[0])}: ${ending.failure}`)
  try {
    await (await telling).end(ending, startedUs + ending.endedUs - sinceUs)
  } catch (error) {
    await say(`the command was not timed: ${error}`)
  }
  return leave(ending, job.letGo, io)
}

/** Knowing terminals takes long to load, and most things are told from one at a glance. */
async function isTerminal(fd: number): Promise<boolean> {
  try {
    const file = fstatSync(fd)
    if (!file.isCharacterDevice() || file.rdev === LINUX_NULL_DEVICE) return false
  } catch {
    return false // it is closed
  }
  return (await import('node:tty')).isatty(fd)
}

/** Signals whose usual effect is an end without a core dump, so that we can end by them too. */
const FATAL: ReadonlySet<string> = new Set([
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGKILL',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGVTALRM',
  'SIGPROF',
  'SIGIO',
])
const DEATH_MS = 20

/** A shell stops its script when a command was ended by Ctrl-C: it must see that it was, not just a number. */
async function leave({ signal, exitCode }: Ending, letGo: () => void, io: Io): Promise<never> {
  letGo()
  if (signal !== undefined && FATAL.has(signal)) {
    process.kill(process.pid, signal)
    await Bun.sleep(DEATH_MS) // process 1 of a container is not ended by it
  }
  return io.exit(exitCode)
}
