// The process is killed in every statement of the partitioning by week; afterwards the store has every event once. An
// end between two statements: partition-by-week.slow.ts.
import { expect, test } from 'bun:test'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FAMILIES } from '../../../src/event/event.ts'
import { engineMissing } from '../../support/engine.ts'
import { tempDir } from '../../support/temp-dir.ts'

const SCRIPT = join(import.meta.dir, 'by-week-process.ts')

async function run(dir: string, ...args: string[]): Promise<{ killed: boolean; text: string }> {
  const child = Bun.spawn([process.execPath, SCRIPT, dir, ...args], { stderr: 'inherit' })
  const text = await new Response(child.stdout).text()
  const code = await child.exited
  if (code !== 0 && child.signalCode !== 'SIGKILL') throw new Error(`${args.join(' ')} ended with ${code}`)
  return { killed: child.signalCode === 'SIGKILL', text }
}

test.skipIf(engineMissing !== undefined)('a kill in any statement loses and doubles nothing', async () => {
  const root = tempDir('by-week')
  const made = join(root, 'made')
  await run(made, 'make')
  const tables = Object.fromEntries(FAMILIES.map((family) => [`${family}_raw`, 'toMonday(at)']))
  let expected: object | undefined
  let kills = 0
  for (let statement = 0; ; statement++) {
    const dir = join(root, 'killed')
    cpSync(made, dir, { recursive: true, verbatimSymlinks: true })
    const { killed } = await run(dir, 'kill', String(statement))
    const found = JSON.parse((await run(dir, 'read')).text)
    expected ??= found
    expect([statement, found]).toEqual([statement, { ...expected, tables }])
    rmSync(dir, { recursive: true })
    if (!killed) break
    kills++
  }
  expect(expected).toMatchObject({ rows: expect.any(Number) })
  expect(kills).toBeGreaterThan(5)
})
