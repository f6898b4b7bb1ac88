// The engine takes the signals of a crash for itself and then waits five minutes for a thread that chDB does not have: a process that crashed
// would hang, neither serving nor started again. So what was set before the engine came is set again behind it.
import { dlopen } from 'bun:ffi'

/** SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV and SIGSYS of Linux. */
const SIGNALS = [4, 5, 6, 7, 8, 11, 31]
/** Larger than a `struct sigaction` of any Linux. */
const ACTION_BYTES = 512

/** Runs `work` and puts the handlers of these signals back to what they were. Where there is no glibc it only runs it. */
export function keepSignals<T>(work: () => T): T {
  const libc = openLibc()
  if (libc === undefined) return work()
  const { sigaction } = libc.symbols
  const before = SIGNALS.map((signal) => {
    const action = new Uint8Array(ACTION_BYTES)
    return sigaction(signal, null, action) === 0 ? { signal, action } : undefined
  })
  try {
    return work()
  } finally {
    for (const kept of before) if (kept !== undefined) sigaction(kept.signal, kept.action, null)
    libc.close()
  }
}

function openLibc() {
  if (process.platform !== 'linux') return undefined
  try {
    return dlopen('libc.so.6', { sigaction: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' } })
  } catch {
    return undefined // another libc: then there is no build of chDB either
  }
}
