// The client as one ECMAScript module that imports only node's own, and its types.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../../..')
const ENTRY = join(ROOT, 'src/client/stint.ts')
/** The declarations that callers see: what `stint.ts` exports, and the options it takes. */
const DECLARATIONS = ['stint.d.ts', 'settings.d.ts']

/** Throws with the bundler's messages. */
export async function bundleClient(): Promise<string> {
  const built = await Bun.build({ entrypoints: [ENTRY], target: 'node', format: 'esm', minify: true })
  return built.outputs[0]!.text()
}

/** By file name. Throws with the compiler's messages. */
export function declareClient(): Record<string, string> {
  const outDir = mkdtempSync(join(tmpdir(), 'stint-types-'))
  try {
    const { exitCode, stdout } = Bun.spawnSync(
      [
        join(ROOT, 'node_modules/.bin/tsc'),
        ...[
          '--ignoreConfig',
          '--declaration',
          '--emitDeclarationOnly',
          '--outDir',
          outDir,
          '--strict',
          '--skipLibCheck',
        ],
        ...[
          '--target',
          'esnext',
          '--module',
          'nodenext',
          '--types',
          'bun-types',
          '--allowImportingTsExtensions',
          ENTRY,
        ],
      ],
      { cwd: ROOT },
    )
    if (exitCode !== 0) throw new Error(`the types of the client cannot be made:\n${stdout}`)
    const made = readdirSync(outDir).filter((name) => DECLARATIONS.includes(name))
    const text = (name: string) =>
      readFileSync(join(outDir, name), 'utf8').replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'")
    return Object.fromEntries(made.sort().map((name) => [name, text(name)]))
  } finally {
    rmSync(outDir, { recursive: true })
  }
}
