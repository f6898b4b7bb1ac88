// `bun run pack [PART…]`: writes what people install to dist/, each with its bill of materials, and SHA256SUMS. Equal
// sources give equal bytes. Parts: client, server, python, image, deploy, sbom, linux-x64, … (binaries); default all.
// Bun takes other platforms' runtimes from the npm registry. `bun run release` checks first.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readHead } from '../../version.ts'
import { packDeployment, packImageContext } from './deployment.ts'
import { packClient, packServer } from './npm-packages.ts'
import { packSdist, packWheel } from './python-packages.ts'
import { createSbom, type LockedPackage, readLock } from './read-lock.ts'
import { ROOT, readPackageJson } from './sources.ts'

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

/** The bill lists what is in the file or gets installed with it. */
function write(name: string, bytes: Uint8Array, contained: readonly LockedPackage[]): void {
  writeFileSync(join(DIST, name), bytes)
  writeSbom(name, contained)
}

const writeSbom = (name: string, contained: readonly LockedPackage[]) =>
  writeFileSync(join(DIST, `${name}.cdx.json`), `${JSON.stringify(createSbom(contained, version), null, 2)}\n`)

/** The packages that the named ones depend on, by the lock file. */
function withDependencies(names: readonly string[]): LockedPackage[] {
  const lock = readLock()
  const found = new Set<LockedPackage>()
  const visit = (name: string, from: string): void => {
    const one = lock.find(({ place }) => place === `${from}/${name}`) ?? lock.find(({ place }) => place === name)
    if (one === undefined || found.has(one)) return
    found.add(one)
    for (const dependency of one.dependencies) visit(dependency, one.place)
  }
  for (const name of names) visit(name, '')
  return lock.filter((one) => found.has(one))
}

function packBinary(platform: string, target: string): void {
  const isWindows = platform.startsWith('windows')
  const name = `stint-${version}-${platform}${isWindows ? '.exe' : ''}`
  const { exitCode, stderr, stdout } = Bun.spawnSync(
    [
      process.execPath,
      ...['build', '--compile', `--target=${target}`, '--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
      // a bundler writes them down as paths of this machine, where nobody who runs the binary has anything
      ...['--define', '__dirname="/"', '--define', '__filename="/"'],
      ...['--define', `STINT_COMMIT=${JSON.stringify(readHead() ?? '')}`],
      ...['src/cli/main.ts', '--outfile', join(DIST, name)],
    ],
    { cwd: ROOT },
  )
  if (exitCode !== 0) throw new Error(`${name} cannot be compiled:\n${stdout}${stderr}`)
  writeSbom(name, withDependencies(['commander']))
}

const ofServer = () => withDependencies([...Object.keys(root.dependencies), ...Object.keys(root.optionalDependencies)])

const PARTS: Readonly<Record<string, () => Promise<void> | void>> = {
  client: async () => write(`stint-client-${version}.tgz`, await packClient(root), []),
  server: () => write(`stint-server-${version}.tgz`, packServer(root), ofServer()),
  python() {
    write(`stint_client-${version}-py3-none-any.whl`, packWheel(root), [])
    write(`stint_client-${version}.tar.gz`, packSdist(root), [])
  },
  image: () => write(`stint-image-${version}.tar.gz`, packImageContext(version), ofServer()),
  deploy: () => write(`stint-deploy-${version}.tar.gz`, packDeployment(version), []),
  sbom: () => writeSbom(`stint-${version}`, readLock()),
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
