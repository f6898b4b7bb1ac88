// `bun run release`: checks that this commit can be a release, then builds and lists what a release has.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT, read, readPackageJson } from './sources.ts'

const USAGE = `Usage: bun run release [--skip-tests] [PART…]

Checks that this commit can be a release: nothing uncommitted, the Bun of package.json, an entry in src/CHANGELOG.md,
the same version everywhere, no tag of this version on another commit, and all tests. Then writes to dist/ what a
release has and lists it. The same commit gives the same bytes: SOURCE_DATE_EPOCH is the commit's time. Exits with 1
and every reason if a check fails, and builds nothing then.

  --skip-tests   do not run the tests; for a try, not for a release
  PART           client, server, python, image, deploy, linux-x64, …; all without any`

/** Every place that names the version, in the first group of the pattern: all its matches with `g`, else the first. */
export const VERSION_PLACES: readonly (readonly [path: string, pattern: RegExp])[] = [
  ['src/client/README.md', /stint[-_](?:client|server)-(\d+\.\d+\.\d+)/g],
  ['src/client/python/stint.py', /__version__ = "([^"]+)"/g],
  ['src/deploy/kubernetes/stint.yaml', /image: stint:(\S+)/g],
  ['src/deploy/kubernetes-embedded/stint.yaml', /image: stint-embedded:(\S+)/g],
  ['src/CHANGELOG.md', /^## (\S+)/m],
]

const CONTENTS: readonly (readonly [pattern: RegExp, about: string])[] = [
  [/^stint-client-/, 'npm package @stint/client'],
  [/^stint-server-/, 'npm package @stint/server'],
  [/\.whl$/, 'Python client, wheel'],
  [/^stint-image-/, 'context of the image, with docker-compose.yml'],
  [/^stint-deploy-/, 'Kubernetes manifests, systemd unit, Grafana dashboards and alerts, Prometheus rules'],
  [/^stint-/, 'command line as one binary'],
]

const git = (...args: string[]): string => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? ''

/** Why the release is refused, or undefined. */
type Check = () => string | undefined

const checksOf = (version: string, commit: string, bun: string): Readonly<Record<string, Check>> => ({
  'nothing uncommitted': () => faultOfTree(commit),
  [`Bun ${bun}`]: () => (Bun.version === bun ? undefined : `this is ${Bun.version}, whose binaries differ: use ${bun}`),
  [`no other v${version}`]: () => faultOfTag(version, commit),
  'an entry in src/CHANGELOG.md': () => faultOfChanges(version),
  [`${version} everywhere`]: () => faultOfVersions(version),
})

const TESTS: Readonly<Record<string, Check>> = {
  'format, lint and types': () => faultOfScript('check'),
  'all tests': () => faultOfScript('test:all'),
}

function faultOfTree(commit: string): string | undefined {
  if (commit === '') return 'not a clone: run this in one'
  const [changed, ...more] = git('status', '--porcelain').split('\n')
  if (changed === '') return undefined
  return `${changed}${more.length > 0 ? ` and ${more.length} more` : ''}: commit or remove it`
}

function faultOfTag(version: string, commit: string): string | undefined {
  const tagged = git('rev-parse', '--verify', '--quiet', `v${version}^{commit}`)
  if (tagged === '' || tagged === commit) return undefined
  return `the tag is on ${tagged.slice(0, 12)}: raise the version in package.json`
}

function faultOfChanges(version: string): string | undefined {
  const [first, ...entry] = read('src/CHANGELOG.md').split(/^## /m)[1]?.trim().split('\n') ?? []
  if (first !== version)
    return `the first entry is of ${first ?? 'no version'}: write what users notice under "## ${version}"`
  return entry.length === 0 ? `the entry of ${version} is empty: write what users notice` : undefined
}

function faultOfVersions(version: string): string | undefined {
  const wrong = VERSION_PLACES.flatMap(([path, pattern]) => {
    const text = read(path)
    const named = pattern.global
      ? [...text.matchAll(pattern)]
      : [pattern.exec(text) ?? []].filter(({ length }) => length)
    if (named.length === 0) return [`${path} names no version`]
    return named.flatMap(([, found]) => (found === version ? [] : [`${path} says ${found}`])).slice(0, 1)
  })
  return wrong.length === 0 ? undefined : `${wrong.join(', ')}: write ${version}`
}

/** Runs a script of package.json with its output here. */
function faultOfScript(script: string): string | undefined {
  const { status } = spawnSync(process.execPath, ['run', '--silent', script], { cwd: ROOT, stdio: 'inherit' })
  return status === 0 ? undefined : `\`bun run ${script}\` failed, see above`
}

function build(parts: readonly string[], commit: string): boolean {
  const env = { ...process.env, SOURCE_DATE_EPOCH: git('show', '-s', '--format=%ct', commit) }
  const { status } = spawnSync(process.execPath, [join(import.meta.dir, 'pack.ts'), ...parts], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return status === 0
}

const formatBytes = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

function list(): void {
  const dist = join(process.cwd(), 'dist')
  const names = readdirSync(dist)
  const sums = new Map(
    readFileSync(join(dist, 'SHA256SUMS'), 'utf8')
      .split('\n')
      .map((line) => line.split('  ').reverse() as [string, string]),
  )
  const released = [...sums.keys()].filter((name) => name !== '' && names.includes(name))
  console.log(`\ndist/SHA256SUMS and ${released.length} files:`)
  for (const name of released) {
    const about = CONTENTS.find(([pattern]) => pattern.test(name))![1]
    const size = formatBytes(statSync(join(dist, name)).size)
    console.log(`  ${sums.get(name)!.slice(0, 12)}  ${size.padStart(8)}  ${name}  ${about}`)
  }
}

function run(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    args: process.argv.slice(2),
    options: { help: { type: 'boolean', short: 'h' }, 'skip-tests': { type: 'boolean', default: false } },
  })
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const { version, engines } = readPackageJson()
  const commit = git('rev-parse', 'HEAD')
  const skipTests = values['skip-tests']
  console.log(`Stint ${version}, commit ${commit.slice(0, 12) || 'unknown'}`)
  let failed = 0
  for (const [name, check] of Object.entries(checksOf(version, commit, engines.bun.replace('>=', ''))))
    report(name, check())
  for (const [name, check] of Object.entries(TESTS))
    if (skipTests) console.log(`  skipped  ${name}`)
    else if (failed === 0) report(name, check())

  function report(name: string, fault: string | undefined): void {
    if (fault !== undefined) failed++
    console.log(fault === undefined ? `  ok       ${name}` : `  FAILED   ${name}: ${fault}`)
  }

  if (failed > 0) {
    console.error(`\nNot a release: ${failed === 1 ? 'a check' : `${failed} checks`} failed.`)
    return 1
  }
  if (!build(positionals, commit)) return 1
  list()
  console.log(
    skipTests
      ? '\nThe tests were skipped: this is no release.'
      : `\nNext: git tag v${version} && git push origin v${version}`,
  )
  return 0
}

if (import.meta.main) {
  try {
    process.exitCode = run()
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exitCode = 2
  }
}
