// A pipe of the kernel's. What Bun and Node call a pipe of a child is a socket, which nobody can open by name: `echo … >/dev/stderr`,
// as many scripts have it, would fail with ENXIO under `stint exec` and nowhere else.

import { dlopen, ptr } from 'bun:ffi'
import { constants, openSync } from 'node:fs'

export interface Pipe {
  readonly readFd: number
  readonly writeFd: number
  /** Reads the same pipe, and does not wait: a description of its own, as not waiting belongs to that and not to the pipe. */
  readonly nonBlockingFd: number
}

const O_CLOEXEC = 0o2000000
const LIBRARIES = ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]

/** Nothing of it is inherited by itself. Undefined where there is no such call: elsewhere than on Linux. */
export function openPipe(): Pipe | undefined {
  if (process.platform !== 'linux') return undefined
  for (const library of LIBRARIES) {
    try {
      const { symbols } = dlopen(library, { pipe2: { args: ['ptr', 'i32'], returns: 'i32' } })
      const fds = new Int32Array(2)
      if (symbols.pipe2(ptr(fds), O_CLOEXEC) !== 0) return undefined
      const [readFd, writeFd] = fds as unknown as [number, number]
      const nonBlockingFd = openSync(`/proc/self/fd/${readFd}`, constants.O_RDONLY | constants.O_NONBLOCK)
      return { readFd, writeFd, nonBlockingFd }
    } catch {
      // another C library, or no /proc
    }
  }
  return undefined
}
