// `bun run pack [PART…]`: writes what people install to dist/, by the tools of each ecosystem, and SHA256SUMS. Equal
// sources give equal bytes. Parts: client, server, python, image, deploy, linux-x64, … (binaries); default all.
// Bun takes other platforms' runtimes from the npm registry. `bun run release` checks first.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readHead } from '../../version.ts'
import { packClient, packServer } from './npm-packages.ts'
import { ROOT, read, readPackageJson, runTool, stage, toJson, withTempDir } from './sources.ts'

const DIST = join(process.cwd(), 'dist')

/** Bun's targets by the name that the file gets. */
const TARGETS: Readonly<Record<string, string>> = {
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-arm64',
  'linux-x64-musl': 'bun-linux-x64-musl',
  'linux-arm64-musl': 'bun-linux-arm64-musl',
  'darwin-x64': 'bun-darwin-x64',
  'darwin-arm64': 'bun-darwin-arm64',
  'windows-x64': 'bun-windows-x64',
}

const root = readPackageJson()
const { version } = root

function packBinary(platform: string, target: string): void {
  const isWindows = platform.startsWith('windows')
  const name = `stint-${version}-${platform}${isWindows ? '.exe' : ''}`
  runTool(
    [
      process.execPath,
      ...['build', '--compile', `--target=${target}`, '--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
      // a bundler writes them down as paths of this machine, where nobody who runs the binary has anything
      ...['--define', '__dirname="/"', '--define', '__filename="/"'],
      ...['--define', `STINT_COMMIT=${JSON.stringify(readHead() ?? '')}`],
      ...['src/cli/main.ts', '--outfile', join(DIST, name)],
    ],
    ROOT,
  )
}

/** Of the last commit, as `git archive` has it: the image's context with docker-compose.yml. */
const CONTEXT = ['src', 'bun.lock', 'bunfig.toml', 'LICENSE', '.dockerignore', 'docker-compose.yml']
/** Manifests, dashboards and rules. */
const DEPLOYMENT = [
  ...['kubernetes', 'kubernetes-embedded', 'grafana', 'prometheus.yml', 'prometheus-rules.yml'],
  ...['prometheus-stint-rules.yml', 'stint.service', 'env.example'],
]

/** Of the paths in `cwd`. Throws outside a clone. */
function archive(dist: string, top: string, cwd: string, added: string, paths: readonly string[]): void {
  const out = ['--format=tar.gz', `--prefix=${top}/`, '-o', join(dist, `${top}.tar.gz`)]
  runTool(['git', 'archive', ...out, added, 'HEAD', ...paths], cwd)
}

function packImageContext(dist: string, version: string): void {
  const top = `stint-image-${version}`
  const manifest = toJson({ ...readPackageJson(), gitHead: readHead() })
  archive(dist, top, ROOT, `--add-virtual-file=${top}/package.json:${manifest}`, CONTEXT)
}

const packDeployment = (dist: string, version: string): void =>
  archive(dist, `stint-deploy-${version}`, join(ROOT, 'src/deploy'), `--add-file=${join(ROOT, 'LICENSE')}`, DEPLOYMENT)

/** The Python client as a wheel. Needs Python 3 with pip, which fetches the setuptools that pyproject.toml names. */
const packWheel = (dist: string): void =>
  withTempDir((dir) => {
    stage(dir, {
      'pyproject.toml': read('src/client/python/pyproject.toml'),
      'README.md': read('src/client/README.md'),
      LICENSE: read('LICENSE'),
      // a package, since only in one do type checkers look for `py.typed`
      'stint/__init__.py': read('src/client/python/stint.py'),
      'stint/py.typed': '',
    })
    runTool(['python3', '-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', dist, dir], dir)
  })

const PARTS: Readonly<Record<string, () => Promise<void> | void>> = {
  client: () => packClient(DIST, root),
  server: () => packServer(DIST, root),
  python: () => packWheel(DIST),
  image: () => packImageContext(DIST, version),
  deploy: () => packDeployment(DIST, version),
  ...Object.fromEntries(
    Object.entries(TARGETS).map(([platform, target]) => [platform, () => packBinary(platform, target)]),
  ),
}

/** Not `dist/stint`, which `bun run build:cli` makes. */
const packed = () =>
  readdirSync(DIST)
    .filter((name) => /^stint[-_]/.test(name))
    .sort()

const asked = process.argv.slice(2)
const unknown = asked.filter((part) => !Object.hasOwn(PARTS, part))
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: no such part; there are ${Object.keys(PARTS).join(', ')}`)
  process.exitCode = 2
} else {
  process.umask(0o022) // modes are in archives
  mkdirSync(DIST, { recursive: true })
  if (asked.length === 0) for (const name of packed()) rmSync(join(DIST, name))
  for (const part of asked.length > 0 ? asked : Object.keys(PARTS)) await PARTS[part]!()
  const sums = packed().map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(DIST, name)))
        .digest('hex')}  ${name}\n`,
  )
  writeFileSync(join(DIST, 'SHA256SUMS'), sums.join(''))
  for (const line of sums) process.stdout.write(line)
}
