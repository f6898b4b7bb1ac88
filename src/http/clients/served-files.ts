// The clients that Stint serves, of its own version: a script for shells, a module for Python, and one for Node, Bun
// and Deno, which is bundled at the first request. No file depends on the server, so that hashes can be compared.
import { readVersion } from '../../version.ts'

// Node takes a module for CommonJS in a project of `npm init` unless its name ends in .mjs.
export const SERVED_NAMES = ['stint.sh', 'stint.py', 'stint.mjs', 'stint.d.mts'] as const
export type ServedName = (typeof SERVED_NAMES)[number]
/** Names of 2.0. */
export const FORMER_NAMES = { 'stint.js': 'stint.mjs', 'stint.d.ts': 'stint.d.mts' } as const satisfies Record<
  string,
  ServedName
>

export interface ServedFile {
  readonly text: string
  /** In hex. */
  readonly sha256: string
}

const here = (path: string) => Bun.fileURLToPath(new URL(path, import.meta.url))
const VERSION = readVersion().version

const MAKE: { readonly [N in ServedName]: () => Promise<string> } = {
  'stint.sh': async () => (await Bun.file(here('../../client/sh/stint.sh')).text()).replaceAll('@VERSION@', VERSION),
  'stint.py': () => Bun.file(here('../../client/python/stint.py')).text(),
  'stint.mjs': bundleClient,
  'stint.d.mts': () => Bun.file(here('../../client/declarations/stint.d.ts')).text(),
}

/** Rejects when the bundle fails; the next call tries again. */
export function createServedFiles(): (name: ServedName) => Promise<ServedFile> {
  const made = new Map<ServedName, Promise<ServedFile>>()
  const make = async (name: ServedName): Promise<ServedFile> => {
    const text = await MAKE[name]()
    return { text, sha256: new Bun.CryptoHasher('sha256').update(text).digest('hex') }
  }
  return (name) => {
    const known = made.get(name)
    if (known !== undefined) return known
    const file = make(name)
    made.set(name, file)
    file.catch(() => made.delete(name))
    return file
  }
}

/** One ES module without dependencies. Rejects with the bundler's messages. */
async function bundleClient(): Promise<string> {
  const entrypoints = [here('../../client/stint.ts')]
  const { outputs } = await Bun.build({ entrypoints, target: 'node', format: 'esm', minify: true })
  const header = `// Stint ${VERSION}, for Node 20 or later, Bun and Deno 2; the types are in stint.d.mts`
  return `${header}\n${await outputs[0]!.text()}`
}
