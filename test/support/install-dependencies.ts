// For `bun test` in a fresh clone: installs the locked dependencies, and runs the command again, because Bun reads which
// packages there are once, at its start.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
const CMDLINE = '/proc/self/cmdline'

/** Does not return where it had to install. */
export function installDependencies(): void {
  if (existsSync(join(ROOT, 'node_modules'))) return
  if (run(['install', '--frozen-lockfile']) !== 0) throw new Error('cannot install the dependencies; see above')
  const args = commandLine()
  if (args.includes('--test-worker')) throw new Error('the dependencies are installed now; run the tests again')
  process.exit(run(args))
}

function run(args: readonly string[]): number {
  const { exitCode } = Bun.spawnSync([process.execPath, ...args], {
    ...{ cwd: ROOT, stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' },
  })
  return exitCode
}

/** The arguments of this process; Bun hides those of `bun test` from the tests. */
function commandLine(): string[] {
  const all = existsSync(CMDLINE)
    ? readFileSync(CMDLINE, 'utf8').split('\0').slice(0, -1)
    : Bun.spawnSync(['ps', '-ww', '-o', 'args=', '-p', String(process.pid)])
        .stdout.toString()
        .trim()
        .split(' ')
  return all.slice(1)
}
