// Passes signals that are sent to us on to the command. Handlers are in place before it starts, so that no signal ends us and leaves it alone.
// The terminal sends Ctrl-C (SIGINT) and Ctrl-\ (SIGQUIT) to each process of its foreground group: the command has the signal already, and
// a second one makes many programs quit without cleaning up. A handler is not told who sent the signal, so these two are not passed on
// while the command is in our group and that group is in the foreground. Any other signal is.
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'

/** The signals that end a process, except those that cannot be caught, that a fault of our own raises, or that Bun needs itself. */
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

export function createSignalRelay(): SignalRelay {
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

/** A command that made a group of its own (`setsid`, a shell with job control) does not get what the terminal sends to ours. */
function isFromTerminal(signal: NodeJS.Signals, pid: number): boolean {
  if (signal !== 'SIGINT' && signal !== 'SIGQUIT') return false
  const [ours, theirs] = [groupsOf('self'), groupsOf(pid)]
  return ours !== undefined && ours.own === ours.foreground && ours.own === theirs?.own
}

/** Reads `pid (name) state ppid pgrp session tty tpgid …`; the name may hold any character. Undefined where there is no /proc. */
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
