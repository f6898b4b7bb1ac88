// The client as one ECMAScript module without imports but node's own, and its types.
import { join } from 'node:path'

const CLIENT = join(import.meta.dir, '../../client')

/** Throws with the bundler's messages. */
export async function bundleClient(): Promise<string> {
  const built = await Bun.build({
    entrypoints: [join(CLIENT, 'stint.ts')],
    target: 'node',
    format: 'esm',
    minify: true,
  })
  return built.outputs[0]!.text()
}
