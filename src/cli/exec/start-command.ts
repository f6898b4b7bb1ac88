// Starts a command as a shell does: found along PATH, a script without `#!` run by sh, 127 if it is not found and 126
// if it cannot run.
import { isUtf8 } from 'node:buffer'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface StartOptions {
  readonly stderr: 'inherit' | 'pipe' | number
  readonly env: Env
  /** Descriptors passed on under their numbers. */
  readonly inheritedFds: readonly number[]
  /** Signals that the command must ignore from its first instruction on. */
  readonly ignored: readonly NodeJS.Signals[]
}

type Env = Readonly<Record<string, string | undefined>>
type Stdio = 'inherit' | 'pipe' | number
type Command = readonly [name: string, ...args: string[]]

export class StartFailure extends Error {
  override readonly name = 'StartFailure'
  constructor(
    readonly exitCode: 126 | 127,
    why: string,
  ) {
    super(why)
  }
}

/** Throws StartFailure. */
export function startCommand(command: Command, options: StartOptions): Bun.Subprocess {
  const { stderr, inheritedFds, env, ignored } = options
  const [name, ...args] = command
  const given = environmentOf(env)
  const stdio: [Stdio, Stdio, Stdio, ...Stdio[]] = ['inherit', 'inherit', stderr]
  for (const fd of inheritedFds) stdio[fd] = fd // the numbers between stay closed
  const start = (words: readonly string[]): Bun.Subprocess =>
    Bun.spawn([...words], { stdio, ...(given && { env: given }) })
  const find = () => Bun.which(name, { PATH: env.PATH ?? '' })
  // A shell does what Bun cannot, and then becomes the command.
  const preparations = [ignoreSignals(ignored), restoreArguments(command)].filter((step) => step !== undefined)
  try {
    if (preparations.length === 0) return start(command)
    if (find() === null && !name.includes('\ufffd')) throw new StartFailure(...diagnose(name, env))
    return start(['/bin/sh', '-c', `${preparations.join('; ')}; exec "$@"`, 'sh', ...command])
  } catch (error) {
    if (error instanceof StartFailure) throw error
    const { code } = error as NodeJS.ErrnoException
    // A number beyond the limit of open files cannot be passed on: it was opened before the limit was lowered.
    if (code === 'EINVAL' && inheritedFds.length > 0)
      return startCommand(command, { ...options, inheritedFds: inheritedFds.slice(0, -1) })
    if (code === 'ENOEXEC') return start(['/bin/sh', find() ?? name, ...args])
    if (code === 'ENOENT') throw new StartFailure(...diagnose(name, env))
    throw new StartFailure(126, code === 'EACCES' ? 'permission denied' : `cannot start (${code})`)
  }
}

/** Bun resets each signal to its usual effect in a child. */
const ignoreSignals = (signals: readonly NodeJS.Signals[]): string | undefined =>
  signals.length === 0 ? undefined : `trap '' ${signals.map((signal) => signal.replace('SIG', '')).join(' ')}`

/** Why the command cannot run: not found, or found and not runnable. */
function diagnose(name: string, env: Env): [exitCode: 126 | 127, why: string] {
  const places = name.includes('/') ? [name] : (env.PATH ?? '').split(delimiter).map((dir) => join(dir || '.', name))
  const place = name === '' ? undefined : places.find((path) => existsSync(path))
  if (place === undefined) return [127, 'command not found']
  return [126, isExecutable(place) ? 'its interpreter is missing' : 'permission denied']
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Undefined if a name or value is not UTF-8, which a string cannot hold: Bun then passes its own environment on. */
function environmentOf(env: Env): Record<string, string> | undefined {
  try {
    if (!isUtf8(readFileSync('/proc/self/environ'))) return undefined
  } catch {
    // no /proc here
  }
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/**
 * Arguments are bytes, and old file names are often not UTF-8: Bun would pass U+FFFD on for what it cannot decode.
 * Returns a script of sh that sets `"$@"` to these words, the last of our own command line, byte for byte; undefined if
 * all of them are UTF-8.
 */
function restoreArguments(words: readonly string[]): string | undefined {
  if (!words.some((word) => word.includes('\ufffd'))) return undefined
  const given = readOwnArguments().slice(-words.length)
  if (given.length < words.length || given.every((word) => isUtf8(word))) return undefined
  // `$(…)` drops trailing line breaks; the `_` keeps them.
  const sets = given.map((word) => `w=$(printf '${octal(word)}_'); set -- "$@" "\${w%_}"`)
  return ['set --', ...sets].join('; ')
}

const octal = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')

/** Without the NUL at each end; none where there is no /proc. */
function readOwnArguments(): Uint8Array[] {
  let line: Buffer
  try {
    line = readFileSync('/proc/self/cmdline')
  } catch {
    return []
  }
  const words: Uint8Array[] = []
  for (let from = 0; from < line.length; ) {
    const end = line.indexOf(0, from)
    words.push(line.subarray(from, end))
    from = end + 1
  }
  return words
}
