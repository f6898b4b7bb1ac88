// The last events of a process: sent when its work is done, and at SIGTERM and SIGINT, whose meaning stays the caller's. A handler of the
// caller decides when the process ends; without one the process ends by that signal as soon as the events are sent or the time for it is over.
import process from 'node:process'
import type { Outbox } from './outbox.ts'

export interface Leaving {
  readonly outbox: Pick<Outbox, 'flush' | 'isEmpty'>
  readonly withinMs: number
  /** At the very end, synchronously. */
  close(): void
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** Marks listeners of this library, of any copy of it in the process. */
const OURS = Symbol.for('stint.signal')

type Listener = ((signal: NodeJS.Signals) => void) & { [OURS]?: true }

const all = new Set<Leaving>()

/** One set of listeners for all clients of a process. */
export function sendAtExit(leaving: Leaving): void {
  all.add(leaving)
  if (all.size === 1) listen()
}

const flushAll = () => Promise.all([...all].map(({ outbox, withinMs }) => outbox.flush(withinMs)))

function listen(): void {
  let isGivenUp = false
  process.on('beforeExit', () => {
    if (isGivenUp || [...all].every(({ outbox }) => outbox.isEmpty())) return
    isGivenUp = true // unless it succeeds: a server that is away must not keep the process alive
    void flushAll().then((settled) => {
      isGivenUp = settled.includes(false)
    })
  })
  process.on('exit', () => {
    for (const { close } of all) close()
  })

  const onSignal: Listener = (signal) => {
    const isOursAlone = process.listeners(signal).every((listener) => (listener as Listener)[OURS])
    void flushAll().then(() => {
      if (!isOursAlone) return
      for (const { close } of all) close()
      process.removeListener(signal, onSignal)
      process.kill(process.pid, signal)
    })
  }
  onSignal[OURS] = true
  for (const signal of SIGNALS) {
    try {
      process.on(signal, onSignal)
    } catch {
      // a runtime without this signal
    }
  }
}
