// What some tests need besides this repository and may not find here: a real influxd, a browser, strace, the embedded engine.
// Such tests skip themselves by `missing(…)`; a run ends with each missing tool and the command that installs it.
import { appendFileSync, existsSync, rmdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { SCHEMATHESIS } from '../hardening/fuzz/find-schemathesis.ts'
import { findPostgres } from './postgres.ts'
import { tempDir } from './temp-dir.ts'

const INFLUXD = join(homedir(), '.cache/stint/influxd-v2.7.12')
/** The first that is here. The headless shell takes a third of the processor time of a whole browser. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

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

/** The interpreter that has the Python client of Healthchecks, and APScheduler. */
export const findPeers = (): string | undefined =>
  existing(join(CACHE, 'peers/ready')) && existing(join(CACHE, 'peers/bin/python'))

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

interface Tool {
  readonly isHere: () => boolean
  /** The command that installs it, or the condition for it. */
  readonly remedy: string
}

const inPath = (...names: readonly string[]): boolean => names.every((name) => Bun.which(name) !== null)

const TOOLS = {
  influxd: { isHere: () => findInfluxd() !== undefined, remedy: 'test/support/build-influxd' },
  chromium: { isHere: () => findChromium() !== undefined, remedy: 'apt-get install chromium-headless-shell' },
  strace: { isHere: () => inPath('strace'), remedy: 'apt-get install strace' },
  ptrace: { isHere: attaches, remedy: 'apt-get install strace; it must be allowed to attach to a running process' },
  tmpfs: { isHere: mountsTmpfs, remedy: 'run the tests as root' },
  schemathesis: { isHere: () => existsSync(SCHEMATHESIS), remedy: 'bun run test:fuzz' },
  node: { isHere: () => findNode() !== undefined, remedy: 'apt-get install nodejs' },
  deno: { isHere: () => findDeno() !== undefined, remedy: 'test/support/install-runtimes' },
  python: { isHere: () => findPython() !== undefined, remedy: 'apt-get install python3' },
  'python-packages': { isHere: () => findPythonPackages() !== undefined, remedy: 'test/support/install-runtimes' },
  peers: { isHere: () => findPeers() !== undefined, remedy: 'test/support/install-runtimes' },
  mypy: { isHere: () => findMypy() !== undefined, remedy: 'test/support/install-runtimes' },
  postgresql: { isHere: () => findPostgres() !== undefined, remedy: 'apt-get install postgresql' },
  prometheus: { isHere: () => inPath('prometheus', 'promtool'), remedy: 'apt-get install prometheus' },
  haproxy: { isHere: () => inPath('haproxy'), remedy: 'apt-get install haproxy' },
  caddy: { isHere: () => inPath('caddy'), remedy: 'apt-get install caddy' },
  nginx: { isHere: () => inPath('nginx'), remedy: 'apt-get install nginx-light' },
  buildah: {
    isHere: () => process.getuid!() === 0 && inPath('buildah', 'debootstrap', 'runc'),
    remedy: 'apt-get install buildah debootstrap runc; the tests must run as root',
  },
  shells: {
    isHere: () => inPath('busybox', 'dash', 'setpriv', 'wget'),
    remedy: 'apt-get install busybox dash util-linux wget',
  },
  go: { isHere: () => inPath('go'), remedy: 'apt-get install golang-go' },
  chdb: { isHere: () => resolves('chdb/connection'), remedy: 'bun install, without --omit=optional' },
} as const satisfies Record<string, Tool>

export type Need = keyof typeof TOOLS

const describe = (need: Need): string => `${need}: ${TOOLS[need].remedy}`

const required = (process.env.STINT_TEST_REQUIRE ?? '').split(',').filter((name) => name !== '')

/** Requirements of STINT_TEST_REQUIRE that are not met, a line each. */
export function unmetRequirements(): string[] {
  return required.flatMap((name) => {
    if (!Object.hasOwn(TOOLS, name)) return [`${name}: no such tool; valid are ${Object.keys(TOOLS).join(', ')}`]
    return TOOLS[name as Need].isHere() ? [] : [describe(name as Need)]
  })
}

const noted = new Set<Need>()

/**
 * Why tests with this need cannot run here, for `test.skipIf(missing('strace') !== undefined)`; undefined when they can.
 * Throws instead when STINT_TEST_REQUIRE holds the need.
 */
export function missing(need: Need): string | undefined {
  if (TOOLS[need].isHere()) return undefined
  const reason = describe(need)
  if (required.includes(need)) throw new Error(`STINT_TEST_REQUIRE names a missing tool, ${reason}`)
  if (!noted.has(need)) note(need, reason)
  return reason
}

/** A worker leaves its notes to the end of the run. */
function note(need: Need, reason: string): void {
  noted.add(need)
  const notes = process.env.STINT_TEST_NOTES
  if (notes !== undefined) appendFileSync(notes, `${reason}\n`)
  else printMissing([reason])
}

/** Prints each missing tool once. */
export function printMissing(reasons: readonly string[]): void {
  console.error(['Tests were skipped because a tool is missing:', ...new Set(reasons)].join('\n  '))
}
