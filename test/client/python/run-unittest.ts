// Runs tests of test_stint.py in an interpreter, with the client beside it and a real Stint in this process.
import { expect } from 'bun:test'
import { join } from 'node:path'
import { startRealStint } from '../../support/real-stint.ts'
import { tempDir } from '../../support/temp-dir.ts'

const CLIENT = join(import.meta.dir, '../../../src/client/python')
const WITHIN_S = 120

export const pythonEnv = (extra: Readonly<Record<string, string>> = {}) => {
  const { PATH = '' } = process.env
  return { PATH, HOME: tempDir('home'), PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1', ...extra }
}

/** `names` are classes or methods; without them all run. */
export async function expectPass(interpreter: string, names: readonly string[] = []): Promise<void> {
  const tests = names.length === 0 ? ['test_stint'] : names.map((name) => `test_stint.${name}`)
  await using stint = await startRealStint()
  const env = pythonEnv({ STINT_TEST_URL: stint.url, STINT_TEST_KEY: stint.app.keys.owner })
  const child = Bun.spawn(['timeout', '-k', '1', String(WITHIN_S), interpreter, '-m', 'unittest', '-b', ...tests], {
    ...{ cwd: import.meta.dir, env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  })
  const output = await new Response(child.stderr).text()
  expect(output).toContain('\nOK\n')
  expect(await child.exited).toBe(0)
}
