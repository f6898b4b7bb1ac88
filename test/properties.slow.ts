// The properties of the fast tests, with other cases than theirs.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')
const SEED = Math.floor(Math.random() * 2 ** 31)

async function filesWithProperties(): Promise<string[]> {
  const found: string[] = []
  for await (const file of new Glob('test/**/*.test.ts').scan(ROOT))
    if ((await Bun.file(join(ROOT, file)).text()).includes("from 'fast-check'")) found.push(file)
  return found
}

test(`properties hold for STINT_TEST_SEED=${SEED}`, async () => {
  const files = await filesWithProperties()
  expect(files.length).toBeGreaterThan(10)
  const { STINT_TEST_NOTES: _, ...env } = process.env
  const child = Bun.spawn([process.execPath, 'test', ...files], {
    ...{ cwd: ROOT, env: { ...env, STINT_TEST_SEED: String(SEED) }, stdout: 'pipe', stderr: 'pipe' },
  })
  const printed = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(printed.join('\n'))
})
