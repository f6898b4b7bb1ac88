// Starts a command the way a shell would: found along PATH, a script without `#!` run by sh, 127 when there is none and 126 when it cannot run.
import { isUtf8 } from 'node:buffer'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { restoreArguments } from './raw-arguments.ts'

export interface StartOptions {
  readonly stderr: 'inherit' | 'pipe' | number
  readonly env: Env
  /** Passed on under their numbers. */
  readonly inheritedFds: readonly number[]
  /** Signals the command must ignore from its first moment on. */
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
export function startCommand(command: Command, { stderr, inheritedFds, env, ignored }: StartOptions): Bun.Subprocess {
  const [name, ...args] = command
  const given = environmentOf(env)
  const stdio: [Stdio, Stdio, Stdio, ...Stdio[]] = ['inherit', 'inherit', stderr]
  for (const fd of inheritedFds) stdio[fd] = fd // what is between stays closed
  const start = (words: readonly string[]): Bun.Subprocess =>
    Bun.spawn([...words], { stdio, ...(given && { env: given }) })
  const find = () => Bun.which(name, { PATH: env.PATH ?? '' })
  // What Bun cannot do itself, a shell does for it and then becomes the command.
  const preparations = [ignoreSignals(ignored), restoreArguments(command)].filter((step) => step !== undefined)
  try {
    if (preparations.length === 0) return start(command)
    if (find() === null && !name.includes('\ufffd')) throw new StartFailure(...diagnose(name, env))
    return start(['/bin/sh', '-c', `${preparations.join('; ')}; exec "$@"`, 'sh', ...command])
  } catch (error) {
    if (error instanceof StartFailure) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOEXEC') return start(['/bin/sh', find() ?? name, ...args])
    if (code === 'ENOENT') throw new StartFailure(...diagnose(name, env))
    throw new StartFailure(126, code === 'EACCES' ? 'permission denied' : `cannot be started (${code})`)
  }
}

/** Bun gives a child the usual effect of every signal. */
const ignoreSignals = (signals: readonly NodeJS.Signals[]): string | undefined =>
  signals.length === 0 ? undefined : `trap '' ${signals.map((signal) => signal.replace('SIG', '')).join(' ')}`

/** Why there is nothing to run: not found; or there, and of no use. */
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

/** Names and values are bytes: those that are not UTF-8 would not survive as strings. Undefined then: Bun passes its own environment on. */
function environmentOf(env: Env): Record<string, string> | undefined {
  try {
    if (!isUtf8(readFileSync('/proc/self/environ'))) return undefined
  } catch {
    // no /proc here
  }
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
