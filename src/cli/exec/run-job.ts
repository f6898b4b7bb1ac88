// Runs one command from its start to its end, and lets everything through that comes or goes: input, output, signals, the way it ends.
import type { Clock } from '../../clock.ts'
import { listInheritedFds } from './inherited-fds.ts'
import { createSignalRelay } from './relay-signals.ts'
import { StartFailure, startCommand } from './start-command.ts'
import { createTee } from './tee-stderr.ts'
import { createTextTail } from './text-tail.ts'

export interface Ending {
  /** As a shell tells it: 128 + the number of the signal that ended the command; 126 or 127 when it could not be started. */
  readonly exitCode: number
  /** Its name, such as SIGTERM. */
  readonly signal?: string
  /** Why it could not be started. */
  readonly failure?: string
  readonly stderrTail: string
  /** Monotonic. */
  readonly endedUs: number
}

export interface JobOptions {
  readonly command: readonly [name: string, ...args: string[]]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Is standard error a terminal? Then the command has it as it is. */
  readonly stderrIsTerminal: boolean
}

/** Of an exception's 15,000 code points, most. */
const TAIL_CODE_POINTS = 12_000

export interface Job {
  readonly ended: Promise<Ending>
  /** From now on signals have their usual effect on us; until then none ends us, also after the command's end. */
  letGo(): void
}

/** The command runs when this returns. */
export function runJob({ command, env, clock, stderrIsTerminal }: JobOptions): Job {
  const inheritedFds = listInheritedFds()
  const relay = createSignalRelay(clock)
  const tail = createTextTail(TAIL_CODE_POINTS)
  const tee = stderrIsTerminal ? undefined : createTee(tail)
  const start = () => {
    try {
      return startCommand(command, { stderr: tee?.stderr ?? 'inherit', inheritedFds, env, ignored: relay.ignored })
    } catch (error) {
      if (error instanceof StartFailure) return error
      throw error
    }
  }
  const child = start()
  if (child instanceof StartFailure) {
    const { exitCode, message: failure } = child
    const ended = Promise.resolve({ exitCode, failure, stderrTail: '', endedUs: clock.monotonicUs() })
    return { ended, letGo: relay.stop }
  }
  tee?.begin(child.stderr instanceof ReadableStream ? child.stderr : undefined)
  relay.begin(child)

  async function end(started: Bun.Subprocess): Promise<Ending> {
    const exitCode = await started.exited
    const endedUs = clock.monotonicUs()
    await tee?.finish()
    const signal = nameOf(started.signalCode)
    return { exitCode, ...(signal !== undefined && { signal }), stderrTail: tail.text(), endedUs }
  }
  return { ended: end(child), letGo: relay.stop }
}

/** Signals without a name (real-time ones) come as their number. */
const nameOf = (signal: NodeJS.Signals | number | null): string | undefined =>
  signal === null ? undefined : typeof signal === 'number' ? `signal ${signal}` : signal
