// `stint exec`: the command comes first. Reporting happens beside it, and only its last request is waited for.
import { fstatSync, type Stats } from 'node:fs'
import { basename } from 'node:path'
import { systemClock } from '../../clock.ts'
import type { Io } from '../io.ts'
import type { ExecCall } from './parse-exec-call.ts'
import { type Ending, type OutputRoute, RELAYED, runJob } from './run-job.ts'

const STDERR = 2
const LINUX_NULL_DEVICE = 0x103

/** Ends this process the way the command ended. */
export async function runExec(call: ExecCall, io: Io): Promise<never> {
  const stderrIsTerminal = await isTerminal(STDERR)
  const startedUs = systemClock.wallUs()
  const sinceUs = systemClock.monotonicUs()
  const { command, output: wanted = fromEnvironment(io.env.STINT_OUTPUT) } = call
  const output = chooseOutput(wanted, stderrIsTerminal)
  const job = runJob({ command, env: io.env, clock: systemClock, stderrIsTerminal, output })
  const reporting = import('./report-job.ts').then(({ reportJob }) => reportJob(call, startedUs, systemClock, io))
  reporting.catch(() => {}) // handled below
  const ending = await job.ended
  const say = async (line: string) => io.stderr.write(`stint: ${(await import('../safe-text.ts')).oneLine(line)}\n`)
  if (ending.failure !== undefined) await say(`${basename(command[0])}: ${ending.failure}${lookedIn(ending, call, io)}`)
  try {
    await (await reporting).end(ending, startedUs + ending.endedUs - sinceUs, job.hurry)
  } catch (error) {
    await say(`the command was not timed: ${error}`)
  }
  return leave(ending, job.letGo, io)
}

const fromEnvironment = (value: string | undefined): boolean | undefined =>
  value === '1' ? true : value === '0' ? false : undefined

/**
 * The way of the command's standard output. Without being asked it is kept where standard error goes the same way
 * (`2>&1`, cron) and where it is a socket (journald); a file gets all of it directly, so that a dump does not pass
 * through.
 */
function chooseOutput(wanted: boolean | undefined, stderrIsTerminal: boolean): OutputRoute {
  const [out, err] = [statOf(1), statOf(2)]
  if (wanted === false || out === undefined || out.isFile()) return { kept: 'none' }
  const isJoined = !stderrIsTerminal && out.dev === err?.dev && out.ino === err.ino
  if (isJoined) return { kept: 'with_errors', ...(wanted && { always: true }) }
  return wanted || out.isSocket() ? { kept: 'alone', ...(wanted && { always: true }) } : { kept: 'none' }
}

function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd)
  } catch {
    return undefined // it is closed
  }
}

/** For the person at the terminal; the exception stays the same on every machine. */
const lookedIn = ({ exitCode }: Ending, { command: [name] }: ExecCall, { env }: Io): string =>
  exitCode === 127 && !name.includes('/') ? `; looked in PATH=${env.PATH ?? ''}` : ''

/** `node:tty` takes long to load, and most files are no terminal at first sight. */
async function isTerminal(fd: number): Promise<boolean> {
  try {
    const file = fstatSync(fd)
    if (!file.isCharacterDevice() || file.rdev === LINUX_NULL_DEVICE) return false
  } catch {
    return false // it is closed
  }
  return (await import('node:tty')).isatty(fd)
}

/** Signals that end a process without a core dump, so that we can end by them too. */
const FATAL: ReadonlySet<string> = new Set([
  'SIGKILL',
  ...RELAYED.filter((name) => name !== 'SIGQUIT' && name !== 'SIGXCPU'),
])
const DEATH_MS = 20

/** A shell stops its script when Ctrl-C has ended a command: it must see the signal, not only an exit code. */
async function leave({ signal, exitCode }: Ending, letGo: () => void, io: Io): Promise<never> {
  letGo()
  if (signal !== undefined && FATAL.has(signal)) {
    process.kill(process.pid, signal)
    await Bun.sleep(DEATH_MS) // process 1 of a container survives it
  }
  return io.exit(exitCode)
}
