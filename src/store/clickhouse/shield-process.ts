// What the embedded engine does to the process that it runs in, undone:
//
//   signals         It takes over those of a crash, then waits five minutes for a thread that chDB does not have: a
//                   crashed process would hang, neither serving nor restarted. The previous handlers are set again.
//   standard input  It appends what waits there to the rows of an INSERT: events would be refused, or rows stored that
//                   nobody sent. It gets an empty one.
import { dlopen } from 'bun:ffi'
import { closeSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'

/** SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV and SIGSYS of Linux. */
const SIGNALS = [4, 5, 6, 7, 8, 11, 31]
/** Larger than a `struct sigaction` of any Linux. */
const ACTION_BYTES = 512
const STANDARD_INPUT = 0

/** Runs `work`, which connects to the engine. Without glibc it only runs it. */
export function shieldProcess<T>(work: () => T): T {
  const libc = openLibc()
  if (libc === undefined) return work()
  const { dup2, sigaction } = libc.symbols
  if (!isatty(STANDARD_INPUT)) {
    const nothing = openSync('/dev/null', 'r')
    dup2(nothing, STANDARD_INPUT)
    closeSync(nothing)
  }
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
    return dlopen('libc.so.6', {
      dup2: { args: ['i32', 'i32'], returns: 'i32' },
      sigaction: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    })
  } catch {
    return undefined // another libc: then there is no build of chDB either
  }
}
