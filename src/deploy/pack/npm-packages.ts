// The packages for npm: `@stint/client`, and `@stint/server` with the server and the command line.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { type ArchiveFile, toTarGz } from './archive.ts'
import { bundleClient, declareClient } from './bundle-client.ts'

const ROOT = join(import.meta.dir, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

export interface PackageJson {
  readonly version: string
  readonly description: string
  readonly license: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly engines: { readonly bun: string }
}

export const readPackageJson = (): PackageJson => JSON.parse(read('package.json'))

const inPackage = (files: Readonly<Record<string, string | ArchiveFile>>) =>
  toTarGz(Object.fromEntries(Object.entries(files).map(([path, file]) => [`package/${path}`, file])))

const toJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

export async function packClient({ version, license }: PackageJson): Promise<Uint8Array> {
  const manifest = {
    name: '@stint/client',
    version,
    description: 'Times runs of your code and sends marks, metrics and exceptions to Stint',
    license,
    type: 'module',
    exports: { '.': { types: './stint.d.ts', default: './stint.js' } },
    types: './stint.d.ts',
    engines: { node: '>=20', bun: '>=1.2', deno: '>=2' },
    sideEffects: false,
  }
  return inPackage({
    'package.json': toJson(manifest),
    'stint.js': await bundleClient(),
    ...declareClient(),
    'README.md': read('src/client/README.md'),
    LICENSE: read('LICENSE'),
  })
}

/** Sources, as Bun runs them; only what builds and packs stays behind. */
export function packServer(root: PackageJson): Uint8Array {
  const { version, license, description, dependencies, optionalDependencies } = root
  const bun = root.engines.bun.replace('>=', '')
  const manifest = {
    name: '@stint/server',
    version,
    description,
    license,
    type: 'module',
    bin: { server: 'bin/server.js', stint: 'bin/stint.js' },
    engines: { node: '>=20' },
    dependencies: { ...dependencies, bun },
    optionalDependencies,
  }
  const sources = [...new Glob('**/*').scanSync(join(ROOT, 'src'))].filter(
    (path) => !/^(client|deploy|demo)\//.test(path) && !path.endsWith('.png'),
  )
  const shim = read('src/deploy/pack/run-with-bun.js')
  const start = (entry: string) => ({ content: shim.replaceAll('ENTRY', `../src/${entry}`), isExecutable: true })
  return inPackage({
    'package.json': toJson(manifest),
    'bin/server.js': start('main.ts'),
    'bin/stint.js': start('cli/main.ts'),
    ...Object.fromEntries(sources.map((path) => [`src/${path}`, read(`src/${path}`)])),
    'README.md': read('README.md'),
    LICENSE: read('LICENSE'),
  })
}
