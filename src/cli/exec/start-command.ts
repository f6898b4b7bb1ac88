// Starts a command as a shell does: found along PATH, a script without `#!` run by sh, 127 if it is not found and 126
// if it cannot run.
import { isUtf8 } from 'node:buffer'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface StartOptions {
  readonly stdout: Stdio
  readonly stderr: Stdio
  readonly env: Env
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
  const { stdout, stderr, env, ignored } = options
  const [name, ...args] = command
  const given = environmentOf(env)
  const stdio: [Stdio, Stdio, Stdio] = ['inherit', stdout, stderr]
  const start = (words: readonly string[]): Bun.Subprocess =>
    Bun.spawn([...words], { stdio, ...(given && { env: given }) })
  const find = () => Bun.which(name, { PATH: env.PATH ?? '' })
  try {
    if (ignored.length === 0) return start(command)
    if (find() === null) throw new StartFailure(...diagnose(name, env))
    return start(['/bin/sh', '-c', `${ignoreSignals(ignored)}; exec "$@"`, 'sh', ...command])
  } catch (error) {
    if (error instanceof StartFailure) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOEXEC') return start(['/bin/sh', find() ?? name, ...args])
    if (code === 'ENOENT') throw new StartFailure(...diagnose(name, env))
    throw new StartFailure(126, code === 'EACCES' ? 'permission denied' : `cannot start (${code})`)
  }
}

/** Bun resets each signal to its usual effect in a child; a shell can ignore it, and then becomes the command. */
const ignoreSignals = (signals: readonly NodeJS.Signals[]): string =>
  `trap '' ${signals.map((signal) => signal.replace('SIG', '')).join(' ')}`

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
