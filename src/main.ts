// The server's entry: makes sure of the threads it needs, which can only be set before a process starts, then runs it.
import { dlopen, type Pointer, ptr } from 'bun:ffi'

// All file I/O, and the embedded engine's statements, run on one pool with as many threads as the machine has cores: on
// two cores, two slow statements would delay every commit. The pool reads its size from the environment when the
// process starts, so a process without the setting replaces itself, by execve, with one that has it: process id, files,
// signals and exit code stay.
const SETTING = 'UV_THREADPOOL_SIZE'
/** Four connections of the engine, two spools, the compression of answers, and one to spare. */
const LEAST_THREADS = 8

/**
 * Returns in a process with enough threads; otherwise restarts `entry` with the same arguments. Throws an Error that
 * says what to set when that fails.
 */
function ensureThreads(entry: string): void {
  const { env } = process
  if (Number(env[SETTING]) >= LEAST_THREADS) return
  const args = [process.argv0, ...process.execArgv, entry, ...process.argv.slice(2)]
  let reason = 'execve returned'
  try {
    execve(process.execPath, args, { ...env, [SETTING]: String(LEAST_THREADS) })
  } catch (error) {
    reason = (error as Error).message
  }
  throw new Error(`cannot restart with ${SETTING}=${LEAST_THREADS}: ${reason}; set it in the environment`)
}

/** Returns only when it failed. */
function execve(path: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): void {
  const { symbols } = openC()
  const held: unknown[] = [] // not collected before the call
  const text = (value: string): Pointer => {
    const bytes = Buffer.from(`${value}\0`)
    held.push(bytes)
    return ptr(bytes)
  }
  const list = (values: readonly string[]): Pointer => {
    const pointers = new BigUint64Array(values.length + 1) // ends with a null pointer
    for (const [i, value] of values.entries()) pointers[i] = BigInt(text(value))
    held.push(pointers)
    return ptr(pointers)
  }
  const pairs = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
  symbols.execve(text(path), list(args), list(pairs))
}

/** glibc, musl, macOS. */
const C_LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1', 'libSystem.B.dylib']

function openC() {
  let failure: unknown
  for (const name of C_LIBRARIES) {
    try {
      return dlopen(name, { execve: { args: ['ptr', 'ptr', 'ptr'], returns: 'i32' } } as const)
    } catch (error) {
      failure ??= error
    }
  }
  throw failure
}

ensureThreads(import.meta.path)
await import('./run-server.ts')
