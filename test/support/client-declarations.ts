// The types of the client that Stint hands out, as the compiler makes them of src/client/stint.ts, in one file.
// `bun test/support/client-declarations.ts` writes them; a test holds the file against this.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './readme.ts'
import { tempDir } from './temp-dir.ts'

export const DECLARATIONS = 'src/client/declarations/stint.d.ts'
const HEAD = '// The types of stint.mjs. Written by test/support/client-declarations.ts from stint.ts: do not edit.\n'
/** What stint.d.ts takes from settings.d.ts. */
const OPTIONS = ['Dropped', 'Options']

export function writeDeclarations(): string {
  const dir = tempDir('types')
  /** Run by Bun, because there may be no Node. */
  const tool = (name: string) => [process.execPath, join(ROOT, 'node_modules/.bin', name)]
  const tsc = Bun.spawnSync(
    [
      ...tool('tsc'),
      ...'--ignoreConfig --declaration --emitDeclarationOnly --strict --skipLibCheck --target esnext'.split(' '),
      ...'--module nodenext --types bun-types --allowImportingTsExtensions --rootDir src --outDir'.split(' '),
      ...[dir, join(ROOT, 'src/client/stint.ts')],
    ],
    { cwd: ROOT },
  )
  if (tsc.exitCode !== 0) throw new Error(`the types of the client cannot be made:\n${tsc.stdout}`)
  const [settings, client] = ['settings.d.ts', 'stint.d.ts'].map((name) =>
    readFileSync(join(dir, 'client', name), 'utf8'),
  )
  const blocks = settings!.split(/^(?=\/\*\*|export )/m)
  const options = OPTIONS.map((name) => {
    const at = blocks.findIndex((block) => block.startsWith(`export interface ${name} `))
    return `${blocks[at - 1]!.startsWith('/**') ? blocks[at - 1] : ''}${blocks[at]!.replace('export ', '')}`
  })
  const text = `${HEAD}${options.join('')}${client!.replace(/^import .*\n/gm, '')}`
  const biome = Bun.spawnSync([...tool('biome'), 'format', `--stdin-file-path=${DECLARATIONS}`], {
    cwd: ROOT,
    stdin: Buffer.from(text),
  })
  if (biome.exitCode !== 0) throw new Error(`the types of the client cannot be formatted:\n${biome.stderr}`)
  return biome.stdout.toString()
}

if (import.meta.main) writeFileSync(join(ROOT, DECLARATIONS), writeDeclarations())
