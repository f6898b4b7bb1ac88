// Runs one command from start to end and passes through all that comes and goes: input, output, signals, the way it
// ends.
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { constants as os } from 'node:os'
import type { Clock } from '../../clock.ts'
import { createTextTail, type TextTail } from '../../wire/text-tail.ts'
import { reapOrphans } from './reap-orphans.ts'
import { StartFailure, startCommand } from './start-command.ts'
import { createTee } from './tee.ts'

export interface Ending {
  /**
   * As a shell reports it: 128 + the number of the signal that ended the command; 126 or 127 if it could not be
   * started.
   */
  readonly exitCode: number
  /** Name of the signal that ended it, such as SIGTERM. */
  readonly signal?: string
  /** Why it could not be started. */
  readonly failure?: string
  readonly stderrTail: string
  /** Asked for: the end of all that it wrote. */
  readonly outputTail?: string
  /** The end of its standard output, where that has a pipe of its own. */
  readonly stdoutTail?: string
  /** Monotonic clock. */
  readonly endedUs: number
}

interface JobOptions {
  readonly command: readonly [name: string, ...args: string[]]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** The command then gets the terminal itself, and nothing of its standard error is kept. */
  readonly stderrIsTerminal: boolean
  readonly output?: OutputRoute
}

/**
 * `with_errors`: one pipe for standard output and error, whose lines stay in order. `alone`: a pipe of its own, even
 * where ours is a terminal. `always`: also sent of a run that succeeds.
 */
export interface OutputRoute {
  readonly kept: 'none' | 'with_errors' | 'alone'
  readonly always?: true
}

export interface Job {
  readonly ended: Promise<Ending>
  /** Is aborted by a signal after the command's end: its sender does not want to wait. */
  readonly hurry: AbortSignal
  /** Gives signals their usual effect on us again; until then none ends us, even after the command's end. */
  letGo(): void
}

/** Most of an exception's 15,000 code points. */
const TAIL_CODE_POINTS = 12_000
const OUTPUT_CODE_POINTS = 4096

/** The command is running when this returns. */
export function runJob({ command, env, clock, stderrIsTerminal, output = { kept: 'none' } }: JobOptions): Job {
  const relay = createSignalRelay()
  const tail = createTextTail(TAIL_CODE_POINTS)
  const outputTail = output.always ? createTextTail(OUTPUT_CODE_POINTS) : undefined
  const stdoutTail = output.kept === 'alone' ? createTextTail(OUTPUT_CODE_POINTS) : undefined
  const out = stdoutTail && createTee(1, [stdoutTail, ...(outputTail ? [outputTail] : [])])
  const tee = stderrIsTerminal ? undefined : createTee(2, [tail, ...(outputTail ? [outputTail] : [])])
  const joined = output.kept === 'with_errors' && typeof tee?.end === 'number' ? tee.end : undefined
  const stdout = out?.end ?? joined ?? 'inherit'
  const start = () => {
    try {
      return startCommand(command, { stdout, stderr: tee?.end ?? 'inherit', env, ignored: relay.ignored })
    } catch (error) {
      if (error instanceof StartFailure) return error
      throw error
    }
  }
  const child = start()
  if (child instanceof StartFailure) {
    const { exitCode, message: failure } = child
    const ended = Promise.resolve({ exitCode, failure, stderrTail: '', endedUs: clock.monotonicUs() })
    return { ended, hurry: relay.hurry, letGo: relay.stop }
  }
  tee?.begin(child.stderr instanceof ReadableStream ? child.stderr : undefined)
  out?.begin(child.stdout instanceof ReadableStream ? child.stdout : undefined)
  relay.begin(child)
  reapOrphans(child.pid)

  async function end(started: Bun.Subprocess): Promise<Ending> {
    const exitCode = await started.exited
    const endedUs = clock.monotonicUs()
    await Promise.all([tee?.finish(), out?.finish()])
    const signal = nameOf(started.signalCode)
    return {
      exitCode,
      ...(signal !== undefined && { signal }),
      stderrTail: joined === undefined ? tail.text() : textOnly(tail),
      ...(outputTail !== undefined && { outputTail: textOnly(outputTail) }),
      ...(stdoutTail !== undefined && { stdoutTail: textOnly(stdoutTail) }),
      endedUs,
    }
  }
  return { ended: end(child), hurry: relay.hurry, letGo: relay.stop }
}

/** Standard output may be data. */
const textOnly = (tail: TextTail): string => (tail.hasNul() ? '' : tail.text())

/** Signals without a name (real-time ones) come as their number. */
const nameOf = (signal: NodeJS.Signals | number | null): string | undefined =>
  signal === null ? undefined : typeof signal === 'number' ? `signal ${signal}` : signal

// Passes signals that are sent to us on to the command. Handlers are in place before it starts, so that no signal ends
// us and leaves it alone. Where there is a terminal, Ctrl-C (SIGINT) and Ctrl-\\ (SIGQUIT) reach the command from
// there, and a second one would make many programs quit without cleaning up: these two are passed on only without a
// terminal.
/**
 * The signals that end a process, except those that cannot be caught, that a fault of our own raises, or that Bun needs
 * itself.
 */
export const RELAYED = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGVTALRM',
  'SIGPROF',
  'SIGIO',
  'SIGXCPU',
] as const satisfies NodeJS.Signals[]

function createSignalRelay() {
  const ignored = RELAYED.filter((signal) => isIgnored(signal))
  const caught = RELAYED.filter((signal) => !ignored.includes(signal))
  const typed: readonly NodeJS.Signals[] = hasTerminal() ? ['SIGINT', 'SIGQUIT'] : []
  const hurry = new AbortController()
  let relay = (_: NodeJS.Signals): void => hurry.abort()
  const handler = (signal: NodeJS.Signals) => relay(signal)

  for (const signal of caught) process.on(signal, handler)
  return {
    /** Signals that were ignored when we were started (`nohup`, `&` in a script): the command must ignore them too. */
    ignored,
    /** Is aborted by a signal after the command's end. */
    hurry: hurry.signal,
    begin(child: Bun.Subprocess): void {
      relay = (signal) => {
        const isRunning = child.exitCode === null && child.signalCode === null
        if (!isRunning) hurry.abort()
        else if (!typed.includes(signal)) child.kill(signal)
      }
    },
    /** Restores the usual effect of signals on us. */
    stop(): void {
      for (const signal of caught) process.removeListener(signal, handler)
    },
  }
}

function isIgnored(signal: NodeJS.Signals): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readProc('self/status'))?.[1]
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(os.signals[signal] - 1)) & 1n) === 1n
}

/** Whether a terminal can be typed at, whatever our input and output are. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY))
    return true
  } catch {
    return false
  }
}

/** Empty where there is no /proc. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1')
  } catch {
    return ''
  }
}
