// Signals that are sent to us are meant for the command. They are caught before it is started, so that none ends us and leaves it alone.
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import type { Clock } from '../../clock.ts'
import { createGroupWitness } from './group-witness.ts'

/** All that end a process, but those that cannot be caught, that a fault of our own would raise, or that Bun keeps for itself. */
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
  /** Signals that were ignored when we were started (`nohup`, `&` in a script): they must be ignored by the command too. */
  readonly ignored: readonly NodeJS.Signals[]
  begin(child: Bun.Subprocess): void
  /** Signals have their usual effect on us again. */
  stop(): void
}

export function createSignalRelay(clock: Clock): SignalRelay {
  const ignored = RELAYED.filter((signal) => isIgnored(signal))
  const caught = RELAYED.filter((signal) => !ignored.includes(signal))
  const handlers = new Map<NodeJS.Signals, () => void>()
  // Before the command: a signal to the group that the command gets must find the witness there too.
  const witness = createGroupWitness(clock)
  let relay: (signal: NodeJS.Signals) => Promise<void> = async () => {}

  for (const signal of caught) {
    const handler = () => void relay(signal)
    handlers.set(signal, handler)
    process.on(signal, handler)
  }
  return {
    ignored,
    begin(child) {
      relay = async (signal) => {
        const isOurs = (await witness.saw(signal)) && sharesOurGroup(child.pid)
        if (!isOurs && child.exitCode === null && child.signalCode === null) child.kill(signal)
      }
    },
    stop() {
      witness.close()
      for (const [signal, handler] of handlers) process.removeListener(signal, handler)
    },
  }
}

function isIgnored(signal: NodeJS.Signals): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readProc('self/status'))?.[1]
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n
}

/** A command that made a group of its own (`setsid`, a shell with jobs) does not get what is sent to ours. */
function sharesOurGroup(pid: number): boolean {
  const [ours, theirs] = [groupOf('self'), groupOf(String(pid))]
  return ours === theirs || ours === undefined || theirs === undefined
}

/** Of `pid (name) state ppid pgrp …`; the name may hold anything. */
const groupOf = (pid: string): string | undefined => /^.*\) \S+ \S+ (\d+)/s.exec(readProc(`${pid}/stat`))?.[1]

/** Empty where there is no /proc. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1')
  } catch {
    return ''
  }
}
