// Runs one command from start to end and passes through all that comes and goes: input, output, open files, signals,
// the way it ends.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { constants } from 'node:os'
import type { Clock } from '../../clock.ts'
import { createTextTail } from '../../wire/text-tail.ts'
import { StartFailure, startCommand } from './start-command.ts'
import { createTee } from './tee-stderr.ts'

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
  /** Seconds after which it was stopped. */
  readonly timedOut?: number
  readonly stderrTail: string
  /** Monotonic clock. */
  readonly endedUs: number
}

export interface JobOptions {
  readonly command: readonly [name: string, ...args: string[]]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** The command then gets the terminal itself, and nothing of its standard error is kept. */
  readonly stderrIsTerminal: boolean
  readonly timeoutS: number | undefined
}

export interface Job {
  readonly ended: Promise<Ending>
  /** Gives signals their usual effect on us again; until then none ends us, even after the command's end. */
  letGo(): void
}

/** Most of an exception's 15,000 code points. */
const TAIL_CODE_POINTS = 12_000
/** Between SIGTERM and SIGKILL. */
const KILL_AFTER_MS = 10_000

/** The command is running when this returns. */
export function runJob({ command, env, clock, stderrIsTerminal, timeoutS }: JobOptions): Job {
  const inheritedFds = listInheritedFds()
  const relay = createSignalRelay()
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
  const limit = timeoutS === undefined ? undefined : limitTime(child.pid, timeoutS * 1000)

  async function end(started: Bun.Subprocess): Promise<Ending> {
    const exitCode = await started.exited
    const endedUs = clock.monotonicUs()
    const hasTimedOut = limit?.stop() ?? false
    await tee?.finish()
    const signal = nameOf(started.signalCode)
    return {
      exitCode,
      ...(signal !== undefined && { signal }),
      ...(timeoutS !== undefined && hasTimedOut && { timedOut: timeoutS }),
      stderrTail: tail.text(),
      endedUs,
    }
  }
  return { ended: end(child), letGo: relay.stop }
}

/** Signals without a name (real-time ones) come as their number. */
const nameOf = (signal: NodeJS.Signals | number | null): string | undefined =>
  signal === null ? undefined : typeof signal === 'number' ? `signal ${signal}` : signal

/**
 * Sends SIGTERM to the command and its descendants when the time is up, SIGKILL later. `stop` returns whether it was
 * up.
 */
function limitTime(pid: number, ms: number): { stop(): boolean } {
  let family: number[] = []
  const send = (signal: NodeJS.Signals) => {
    family = [...new Set([...family, ...findFamily(pid)])]
    for (const member of family) {
      try {
        process.kill(member, signal)
      } catch {
        // It has ended.
      }
    }
  }
  let isUp = false
  let timer = setTimeout(() => {
    isUp = true
    send('SIGTERM')
    timer = setTimeout(() => send('SIGKILL'), KILL_AFTER_MS)
  }, ms)
  return {
    stop() {
      clearTimeout(timer)
      return isUp
    },
  }
}

/** A process and its descendants; the process alone where there is no /proc. */
function findFamily(pid: number): number[] {
  const children: number[] = []
  try {
    for (const task of readdirSync(`/proc/${pid}/task`))
      children.push(
        ...readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
      )
  } catch {
    // It has ended, or there is no /proc.
  }
  return [pid, ...children.flatMap(findFamily)]
}

/** Bun's own descriptors, which it has opened by now. */
const OWN = /^(?:anon_inode:|\/memfd:|\/proc\/)/

/**
 * Descriptors beyond the three standard ones that we were started with: `<(…)` of a shell, the jobs of make, the
 * sockets of systemd. Any other program that runs a command passes them on; Bun closes them unless they are named. In
 * order; call it before opening anything. Empty where there is no /proc.
 */
function listInheritedFds(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd > 2 && isInherited(fd))
      .sort((a, b) => a - b)
  } catch {
    return []
  }
}

function isInherited(fd: number): boolean {
  try {
    return !OWN.test(readlinkSync(`/proc/self/fd/${fd}`))
  } catch {
    return false // it read the directory itself
  }
}

// Passes signals that are sent to us on to the command. Handlers are in place before it starts, so that no signal ends
// us and leaves it alone. The terminal sends Ctrl-C (SIGINT) and Ctrl-\ (SIGQUIT) to each process of its foreground
// group: the command has the signal already, and a second one makes many programs quit without cleaning up. A handler
// is not told who sent the signal, so these two are not passed on while the command is in our group and that group is
// in the foreground. Any other signal is.
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

export interface SignalRelay {
  /** Signals that were ignored when we were started (`nohup`, `&` in a script): the command must ignore them too. */
  readonly ignored: readonly NodeJS.Signals[]
  begin(child: Bun.Subprocess): void
  /** Restores the usual effect of signals on us. */
  stop(): void
}

function createSignalRelay(): SignalRelay {
  const ignored = RELAYED.filter((signal) => isIgnored(signal))
  const caught = RELAYED.filter((signal) => !ignored.includes(signal))
  let relay = (_: NodeJS.Signals): void => {}
  const handler = (signal: NodeJS.Signals) => relay(signal)

  for (const signal of caught) process.on(signal, handler)
  return {
    ignored,
    begin(child) {
      relay = (signal) => {
        const isRunning = child.exitCode === null && child.signalCode === null
        if (isRunning && !isFromTerminal(signal, child.pid)) child.kill(signal)
      }
    },
    stop() {
      for (const signal of caught) process.removeListener(signal, handler)
    },
  }
}

function isIgnored(signal: NodeJS.Signals): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readProc('self/status'))?.[1]
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n
}

/**
 * A command that made a group of its own (`setsid`, a shell with job control) does not get what the terminal sends to
 * ours.
 */
function isFromTerminal(signal: NodeJS.Signals, pid: number): boolean {
  if (signal !== 'SIGINT' && signal !== 'SIGQUIT') return false
  const [ours, theirs] = [groupsOf('self'), groupsOf(pid)]
  return ours !== undefined && ours.own === ours.foreground && ours.own === theirs?.own
}

/**
 * Reads `pid (name) state ppid pgrp session tty tpgid …`; the name may hold any character. Undefined where there is no
 * /proc.
 */
function groupsOf(pid: number | 'self'): { own: string; foreground: string } | undefined {
  const [, own, foreground] = /^.*\) \S+ \S+ (\d+) \S+ \S+ (-?\d+)/s.exec(readProc(`${pid}/stat`)) ?? []
  return own === undefined || foreground === undefined ? undefined : { own, foreground }
}

/** Empty where there is no /proc. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1')
  } catch {
    return ''
  }
}
