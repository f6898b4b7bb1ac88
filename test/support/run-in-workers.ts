// Makes a plain `bun test` of many files run them in several workers, because bunfig.toml has no setting for it, and
// installs the locked dependencies in a fresh clone. Both need a second `bun test` with other arguments.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { printMissing, unmetRequirements } from './needs.ts'
import { useOwnTempDir } from './temp-dir.ts'

const ROOT = join(import.meta.dir, '../..')
const CMDLINE = '/proc/self/cmdline'
/**
 * Workers keep what their files share, such as a running influxd. Three fill two processors, because a test waits for much;
 * slow ones wait for more.
 */
const workersFor = (args: readonly string[]): readonly string[] => [
  ...[args.some((arg) => arg.endsWith('.slow.ts')) ? '--parallel=4' : '--parallel=3'],
  ...['--no-isolate', '--no-orphans', '--dots'],
]

/** Whether this process is one of the workers: the process that started them owns what they leave. */
export const isWorker = (): boolean => process.env.STINT_TEST_NOTES !== undefined

/** Returns only where this process itself is to run the tests; otherwise it exits as the process that ran them. */
export function runInWorkers(): void {
  const args = commandLine()
  const isFresh = !existsSync(join(ROOT, 'node_modules'))
  if (isFresh && run(['install', '--frozen-lockfile']) !== 0)
    throw new Error('cannot install the dependencies; see above')
  if (isWorker()) return
  if (args.includes('--test-worker')) {
    if (isFresh) throw new Error('the dependencies are installed now; run the tests again')
  } else if (isOneFile(args)) {
    if (isFresh) process.exit(run(args)) // Bun reads once, at its start, which packages there are
  } else process.exit(runAll(args))
}

function runAll(args: readonly string[]): number {
  const unmet = unmetRequirements()
  if (unmet.length > 0) {
    console.error(['STINT_TEST_REQUIRE names missing tools:', ...unmet].join('\n  '))
    return 1
  }
  const removeTempDir = useOwnTempDir()
  const notes = join(process.env.TMPDIR!, 'missing')
  const exitCode = run([args[0]!, ...workersFor(args), ...args.slice(1)], { STINT_TEST_NOTES: notes })
  if (existsSync(notes)) printMissing(readFileSync(notes, 'utf8').split('\n').filter(Boolean))
  removeTempDir()
  return exitCode
}

/** One file runs in this process: a second one would only cost time. */
const isOneFile = (args: readonly string[]): boolean =>
  args.some((arg) => arg.startsWith('--watch')) || args.filter((arg) => /\.(test|slow)\.ts$/.test(arg)).length === 1

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): number {
  const { exitCode } = Bun.spawnSync([process.execPath, ...args], {
    ...{ cwd: ROOT, env: { ...process.env, ...env }, stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' },
  })
  return exitCode ?? 1 // after a signal
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
