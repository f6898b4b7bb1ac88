// Passes the command's stderr on byte by byte and keeps the end of it; with `--output` its stdout, too.
//   1. The command gets a real pipe where the system has them (openPipe below).
//   2. All that it wrote before its exit is passed on before `finish` resolves, in order, however slow our own
//      is.
//   3. Processes that it leaves running keep one that works: `cat` copies the pipe after we exit.
//   4. When our own breaks, so does the command's, as it would without us.
import { dlopen, type FFIFunction, type Library, ptr } from 'bun:ffi'
import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import type { TextTail } from '../../wire/text-tail.ts'

/** A pipe that is open and silent for this long after the command's exit is held by a process that it left running. */
const SILENCE_MS = 10
const BUSY_RETRY_MS = 5

/** `fd`: our own stderr or stdout. */
export function createTee(fd: 1 | 2, tails: readonly TextTail[]) {
  const pipe = openPipe()
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  let copying: Promise<void> = Promise.resolve()
  let isOpen = false
  let isWaiting = false
  let chunks = 0
  let quickFd: number | undefined

  async function copy(from: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      isWaiting = true
      const { done, value } = await from.read()
      isWaiting = false
      if (done) break
      chunks++
      for (const tail of tails) tail.push(value)
      if (await writeAll(fd, value, quickFd)) continue
      await from.cancel()
      break
    }
    isOpen = false
    if (quickFd !== undefined) closeSync(quickFd)
    if (pipe === undefined) return
    closeSync(pipe.readFd)
    closeSync(pipe.nonBlockingFd) // the stream does not close it
  }

  return {
    /** For the command. */
    end: pipe ? pipe.writeFd : ('pipe' as const),
    /** Call it when the command has started. `stream`: what Bun made of `'pipe'`. */
    begin(stream: ReadableStream<Uint8Array> | undefined): void {
      if (pipe) closeSync(pipe.writeFd)
      reader = (pipe === undefined ? stream : Bun.file(pipe.nonBlockingFd).stream())?.getReader()
      if (!reader) return
      isOpen = true
      quickFd = openQuickly(fd)
      copying = copy(reader)
    },
    /** Call it when the command has ended. */
    async finish(): Promise<void> {
      for (let seen = -1; isOpen && !(isWaiting && seen === chunks); ) {
        seen = chunks
        await Promise.race([copying, Bun.sleep(SILENCE_MS)])
        await new Promise(setImmediate) // the timer may be late: see first what came meanwhile
      }
      if (!isOpen) return
      if (pipe) serveOn(pipe, fd)
      await reader?.cancel()
    },
  }
}

/** Leaves the copying to `cat`. */
function serveOn({ readFd }: Pipe, fd: number): void {
  try {
    Bun.spawn(['cat'], { stdin: readFd, stdout: fd, stderr: 'ignore', detached: true }).unref()
  } catch {
    // There is no `cat` here.
  }
}

/**
 * Of our own pipe, a file description that never waits: most chunks then need no trip through the thread pool, which
 * took a third of the time of a gigabyte. Undefined for all but pipes: a file would have an offset of its own.
 */
function openQuickly(fd: number): number | undefined {
  try {
    if (!fstatSync(fd).isFIFO()) return undefined
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | O_CLOEXEC)
  } catch {
    return undefined // no /proc, or a pipe of another user
  }
}

/** False if the reader is gone. */
async function writeAll(fd: number, bytes: Uint8Array, quickFd: number | undefined): Promise<boolean> {
  for (let written = 0; written < bytes.length; ) {
    try {
      const rest = bytes.subarray(written)
      written += (quickFd === undefined ? undefined : writeNow(quickFd, rest)) ?? (await writeSome(fd, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false
      await Bun.sleep(BUSY_RETRY_MS)
    }
  }
  return true
}

/** Undefined if the pipe is full. */
function writeNow(fd: number, bytes: Uint8Array): number | undefined {
  try {
    return writeSync(fd, bytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}

const writeSome = (fd: number, bytes: Uint8Array): Promise<number> =>
  new Promise((resolve, reject) => write(fd, bytes, (error, count) => (error ? reject(error) : resolve(count))))

interface Pipe {
  readonly readFd: number
  readonly writeFd: number
  /**
   * Reads the same pipe without waiting: O_NONBLOCK belongs to the open file description, so it needs one of its own.
   */
  readonly nonBlockingFd: number
}

const O_CLOEXEC = 0o2000000
const F_SETPIPE_SZ = 1031
/** Four times the usual size: the command and this process wait for each other less often. */
const PIPE_BYTES = 262_144
/** Undefined where no C library is known. */
export function openLibc<Fns extends Record<string, FFIFunction>>(functions: Fns): Library<Fns>['symbols'] | undefined {
  for (const name of ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]) {
    try {
      return dlopen(name, functions).symbols
    } catch {
      // another C library
    }
  }
  return undefined
}

/**
 * Opens a kernel pipe, close-on-exec. Bun and Node give a child a socket instead, which no process can open by name:
 * `echo … >/dev/stderr`, common in scripts, would fail with ENXIO under `stint exec` alone. Undefined outside Linux.
 */
function openPipe(): Pipe | undefined {
  if (process.platform !== 'linux') return undefined
  const libc = openLibc({
    pipe2: { args: ['ptr', 'i32'], returns: 'i32' },
    fcntl: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  })
  const fds = new Int32Array(2)
  if (libc?.pipe2(ptr(fds), O_CLOEXEC) !== 0) return undefined
  const [readFd, writeFd] = fds as unknown as [number, number]
  libc.fcntl(readFd, F_SETPIPE_SZ, PIPE_BYTES) // the usual size will do, too
  try {
    const nonBlockingFd = openSync(`/proc/self/fd/${readFd}`, constants.O_RDONLY | constants.O_NONBLOCK)
    return { readFd, writeFd, nonBlockingFd }
  } catch {
    return undefined // no /proc
  }
}
