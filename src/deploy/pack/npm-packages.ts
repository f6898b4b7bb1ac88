// The packages for npm: `@stint/client`, and `@stint/server` with the server and the command line.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { readHead } from '../../version.ts'
import { type PackageJson, ROOT, read, runTool, stage, toJson, withTempDir } from './sources.ts'

/** `bun pm pack` of the files, into `dist`. */
const packNpm = (dist: string, files: Readonly<Record<string, string>>) =>
  withTempDir((dir) => {
    stage(dir, files)
    runTool([process.execPath, 'pm', 'pack', '--quiet', '--destination', dist], dir)
  })

export async function packClient(dist: string, { version, license }: PackageJson): Promise<void> {
  const manifest = {
    name: '@stint/client',
    version,
    description: 'Times runs of your code and sends marks, metrics and exceptions to Stint',
    license,
    type: 'module',
    exports: {
      '.': {
        import: { types: './stint.d.ts', default: './stint.js' },
        require: { types: './stint.d.cts', default: './stint.cjs' },
      },
    },
    types: './stint.d.ts',
    engines: { node: '>=20', bun: '>=1.2', deno: '>=2' },
    sideEffects: false,
  }
  const types = read('src/client/declarations/stint.d.ts')
  packNpm(dist, {
    'package.json': toJson(manifest),
    'stint.cjs': await bundleClient('cjs'),
    'stint.js': reexportClient(),
    'stint.d.ts': types,
    'stint.d.cts': types,
    'README.md': read('src/client/README.md'),
    LICENSE: read('LICENSE'),
  })
}

const PLATFORMS = ['linux-x64', 'linux-aarch64', 'linux-x64-musl', 'linux-aarch64-musl', 'darwin-x64', 'darwin-aarch64']

/** Copied: the package would bring one that reports each installation. */
const SWAGGER_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE']

/** The packages that hold Bun's binary. The package `bun` around them would run a script at its installation. */
const platformsOf = (version: string) =>
  Object.fromEntries([...PLATFORMS, 'windows-x64', 'windows-aarch64'].map((it) => [`@oven/bun-${it}`, version]))

/** Sources, as Bun runs them; only what builds and packs stays behind. */
export function packServer(dist: string, root: PackageJson): void {
  const { version, license, description, dependencies, optionalDependencies } = root
  const bun = root.engines.bun.replace('>=', '')
  const { 'swagger-ui-dist': _, ...packedDependencies } = dependencies
  const manifest = {
    name: '@stint/server',
    version,
    description,
    license,
    type: 'module',
    bin: { server: 'bin/server.js', stint: 'bin/stint.js' },
    engines: { node: '>=20', bun: root.engines.bun },
    gitHead: readHead(),
    place: 'package',
    dependencies: packedDependencies,
    optionalDependencies: { ...optionalDependencies, ...platformsOf(bun) },
  }
  const sources = [...new Glob('**/*').scanSync(join(ROOT, 'src'))].filter(
    (path) => !/^(deploy|demo)\//.test(path) && !path.endsWith('.png'),
  )
  const shim = read('src/deploy/pack/run-with-bun.js')
  const start = (entry: string) => shim.replaceAll('ENTRY', `../src/${entry}`)
  packNpm(dist, {
    'package.json': toJson(manifest),
    'bin/server.js': start('main.ts'),
    'bin/stint.js': start('cli/main.ts'),
    ...Object.fromEntries(sources.map((path) => [`src/${path}`, read(`src/${path}`)])),
    ...Object.fromEntries(
      SWAGGER_FILES.map((name) => [`src/http/docs/swagger-ui/${name}`, read(`node_modules/swagger-ui-dist/${name}`)]),
    ),
    'README.md': read('README.md'),
    LICENSE: read('LICENSE'),
  })
}

// The client as one module that imports only node's own, and its types.
const ENTRY = join(ROOT, 'src/client/stint.ts')

/** Throws with the bundler's messages. */
export async function bundleClient(format: 'esm' | 'cjs' = 'esm'): Promise<string> {
  const built = await Bun.build({ entrypoints: [ENTRY], target: 'node', format, minify: true })
  return built.outputs[0]!.text()
}

/** An ECMAScript module of the other file, so that a process that imports and requires the client has one. */
function reexportClient(): string {
  const names = new Bun.Transpiler({ loader: 'ts' }).scan(readFileSync(ENTRY, 'utf8')).exports.sort()
  return `import client from './stint.cjs'\nexport const { ${names.join(', ')} } = client\n`
}
