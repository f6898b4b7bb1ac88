// A pipe of the kernel's. What Bun and Node call a pipe of a child is a socket, which nobody can open by name: `echo … >/dev/stderr`,
// as many scripts have it, would fail with ENXIO under `stint exec` and nowhere else.
import { dlopen, ptr } from 'bun:ffi'

export interface Pipe {
  readonly readFd: number
  readonly writeFd: number
}

const O_CLOEXEC = 0o2000000
const LIBRARIES = ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]

/** Both ends block and are not inherited by themselves. Undefined where there is no such call: elsewhere than on Linux. */
export function openPipe(): Pipe | undefined {
  if (process.platform !== 'linux') return undefined
  for (const library of LIBRARIES) {
    try {
      const { symbols } = dlopen(library, { pipe2: { args: ['ptr', 'i32'], returns: 'i32' } })
      const fds = new Int32Array(2)
      if (symbols.pipe2(ptr(fds), O_CLOEXEC) !== 0) return undefined
      return { readFd: fds[0]!, writeFd: fds[1]! }
    } catch {
      // another C library
    }
  }
  return undefined
}
