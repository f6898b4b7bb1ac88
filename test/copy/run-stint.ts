// `stint` and scripts of these tests as processes of their own, with nothing of our environment but what they need.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')

export type Env = Readonly<Record<string, string>>

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export function spawnBun(args: readonly string[], env: Env = {}) {
  const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env
  return Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    env: { PATH, HOME, TMPDIR, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

export async function runBun(args: readonly string[], env: Env = {}): Promise<Ran> {
  const child = spawnBun(args, env)
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, stdout, stderr }
}

export const runStint = (args: readonly string[], env: Env = {}) => runBun(['src/cli/main.ts', ...args], env)

/** Throws with what it printed unless it ended well. */
export async function runScript(name: string, args: readonly string[], env: Env = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await runBun([join(import.meta.dir, name), ...args], env)
  if (exitCode !== 0) throw new Error(`${name} ended with ${exitCode}: ${stderr}`)
  return stdout
}
