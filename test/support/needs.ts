// What some tests need besides this repository and may not find here: a real influxd, a browser, strace, the embedded engine.
// Such tests skip themselves by `missing(…)` and never silently: the reason is written down for the last lines of a run.
import { appendFileSync, existsSync, rmdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { SCHEMATHESIS } from '../hardening/fuzz/find-schemathesis.ts'
import { findPostgres } from './postgres.ts'
import { tempDir } from './temp-dir.ts'

const INFLUXD = join(homedir(), '.cache/stint/influxd-v2.7.12')
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome']

/** Where the binary is, or undefined. */
export const findInfluxd = (): string | undefined => existing(process.env.STINT_TEST_INFLUXD ?? INFLUXD)

/** Where a browser that playwright-core can drive is, or undefined. */
export const findChromium = (): string | undefined =>
  process.env.STINT_TEST_CHROMIUM === undefined
    ? BROWSERS.map((name) => Bun.which(name)).find((path) => path !== null)
    : existing(process.env.STINT_TEST_CHROMIUM)

const CACHE = join(homedir(), '.cache/stint')

/** Path of the runtime or interpreter, or undefined. */
export const findNode = (): string | undefined => Bun.which('node') ?? undefined
export const findDeno = (): string | undefined =>
  Bun.which('deno') ?? existing(join(CACHE, 'deno/node_modules/.bin/deno'))
export const findPython = (): string | undefined => Bun.which('python3') ?? undefined
/** The interpreter that has Celery and OpenTelemetry's SDK. */
export const findPythonPackages = (): string | undefined =>
  existing(join(CACHE, 'python/ready')) && existing(join(CACHE, 'python/bin/python'))

export const findMypy = (): string | undefined => existing(join(CACHE, 'python/bin/mypy'))

const existing = (path: string): string | undefined => (existsSync(path) ? path : undefined)

const resolves = (module: string): boolean => {
  try {
    import.meta.resolve(module)
    return true
  } catch {
    return false // the one way to learn that an optional package was left out
  }
}

/** Some machines let only a parent trace. */
function attaches(): boolean {
  if (Bun.which('strace') === null) return false
  const { pid } = Bun.spawn(['sleep', '0.2'])
  const { stderr } = Bun.spawnSync(['strace', '-o', '/dev/null', '-p', String(pid)])
  return stderr.toString().includes('attached')
}

function mountsTmpfs(): boolean {
  const dir = tempDir('mount')
  const mounted =
    Bun.which('mount') !== null && Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', dir]).success
  if (mounted) Bun.spawnSync(['umount', dir])
  rmdirSync(dir)
  return mounted
}

/** Each says why a need is not met here, or undefined. */
const PROBES = {
  influxd: () =>
    findInfluxd() ? undefined : 'no influxd v2.7.12 in ~/.cache/stint, and STINT_TEST_INFLUXD is not set',
  chromium: () => (findChromium() ? undefined : 'no chromium in PATH, and STINT_TEST_CHROMIUM is not set'),
  strace: () => (Bun.which('strace') ? undefined : 'no strace in PATH'),
  ptrace: () => (attaches() ? undefined : 'strace may not attach to a process that runs already'),
  tmpfs: () => (mountsTmpfs() ? undefined : 'only root may mount a small file system'),
  schemathesis: () =>
    existsSync(SCHEMATHESIS) ? undefined : 'no schemathesis in ~/.cache/stint; `bun run test:fuzz` gets it',
  node: () => (findNode() ? undefined : 'no node in PATH'),
  deno: () => (findDeno() ? undefined : 'no deno in PATH or ~/.cache/stint; test/support/install-runtimes gets it'),
  python: () => (findPython() ? undefined : 'no python3 in PATH'),
  'python-packages': () =>
    findPythonPackages() ? undefined : 'no Celery in ~/.cache/stint; test/support/install-runtimes gets it',
  mypy: () => (findMypy() ? undefined : 'no mypy in ~/.cache/stint; test/support/install-runtimes gets it'),
  postgresql: () => (findPostgres() ? undefined : 'no PostgreSQL in /usr/lib/postgresql'),
  prometheus: () =>
    Bun.which('prometheus') && Bun.which('promtool') ? undefined : 'no prometheus and promtool in PATH',
  buildah: () =>
    process.getuid!() === 0 && ['buildah', 'debootstrap', 'runc'].every((name) => Bun.which(name) !== null)
      ? undefined
      : 'not root, or no buildah, debootstrap and runc in PATH',
  go: () => (Bun.which('go') ? undefined : 'no go in PATH'),
  chdb: () => (resolves('chdb/connection') ? undefined : 'the optional package chdb is not installed'),
} as const

export type Need = keyof typeof PROBES

const required = (process.env.STINT_TEST_REQUIRE ?? '').split(',').filter((name) => name !== '')

/** Requirements of STINT_TEST_REQUIRE that are not met, a line each. */
export function unmetRequirements(): string[] {
  return required.flatMap((name) => {
    if (!Object.hasOwn(PROBES, name)) return [`${name}: no such need; there are ${Object.keys(PROBES).join(', ')}`]
    const reason = PROBES[name as Need]()
    return reason === undefined ? [] : [`${name}: ${reason}`]
  })
}

const noted = new Set<Need>()

/**
 * Why tests with this need cannot run here, for `test.skipIf(missing('strace') !== undefined)`; undefined when they can.
 * Throws instead when STINT_TEST_REQUIRE holds the need.
 */
export function missing(need: Need): string | undefined {
  const reason = PROBES[need]()
  if (reason === undefined) return undefined
  if (required.includes(need)) throw new Error(`STINT_TEST_REQUIRE holds ${need}, but there is ${reason}`)
  if (!noted.has(need)) note(need, reason)
  return reason
}

/** To run-tests.ts through its file; in a plain `bun test` into its output. */
function note(need: Need, reason: string): void {
  noted.add(need)
  const line = `skipped, for want of ${need}: ${reason}`
  const notes = process.env.STINT_TEST_NOTES
  if (notes !== undefined) appendFileSync(notes, `${line}\n`)
  else console.error(line)
}
