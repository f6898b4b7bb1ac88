import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from './temp-dir.ts'

const FINE = "test('is fine', () => {})"
const BROKEN = "test('is broken', () => { throw new Error('broken') })"
/** Fails the first time it runs. */
const FLAKY = `
const mark = import.meta.path + '.ran'
test('reads "a < b" & c', async () => {
  if (await Bun.file(mark).exists()) return
  await Bun.write(mark, '')
  throw new Error('the first time')
})`
const ERROR = "throw new Error('between tests')"

/** Runs files of these contents as \`bun run test\` does. */
async function run(
  contents: readonly string[],
  options: readonly string[] = ['--retry-files'],
): Promise<{ exitCode: number; last: string[]; runs: number }> {
  const dir = tempDir('run-tests')
  const paths = contents.map((content, i) => {
    const path = join(dir, `${i}.test.ts`)
    writeFileSync(path, `import { test } from 'bun:test'\n${content}\n`)
    return path
  })
  const { STINT_TEST_REQUIRE: _, ...env } = process.env
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'run-tests.ts'), ...options, ...paths], {
    ...{ env, stdout: 'pipe', stderr: 'pipe' },
  })
  const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return {
    exitCode: await child.exited,
    last: out
      .trimEnd()
      .split('\n')
      .slice(-2)
      .map((line) => line.replace(`${dir}/`, '')),
    runs: errors.split(/^Ran \d+ test/m).length - 1,
  }
}

test('a test that failed counts as failed, and nothing runs again', async () => {
  const { exitCode, last, runs } = await run([FINE, FLAKY], [])
  expect([exitCode, last.at(-1), runs]).toEqual([1, '1 passed, 1 failed', 1])
})

describe('with --retry-files, after a run in which', () => {
  test('all tests passed, nothing runs again', async () => {
    const { exitCode, last, runs } = await run([FINE, FINE])
    expect([exitCode, last.at(-1), runs]).toEqual([0, '2 passed, 0 failed', 1])
  })

  test('a test failed that passes alone, it counts as passed and is listed', async () => {
    const { exitCode, last, runs } = await run([FINE, `${FINE}\n${FLAKY}`])
    const listed = 'failed at first, passed alone (look into it): 1.test.ts > reads "a < b" & c'
    expect([exitCode, ...last, runs]).toEqual([0, listed, '3 passed, 0 failed', 2])
  })

  test('a test failed that fails again, the run fails', async () => {
    const { exitCode, last, runs } = await run([FLAKY, BROKEN])
    const listed = 'failed at first, passed alone (look into it): 0.test.ts > reads "a < b" & c'
    expect([exitCode, ...last, runs]).toEqual([1, listed, '1 passed, 1 failed', 2])
  })

  test('a hook failed and fails again, the run fails', async () => {
    const { exitCode, last, runs } = await run([
      `import { beforeAll } from 'bun:test'\nbeforeAll(() => { throw 1 })\n${FINE}`,
    ])
    expect([exitCode, last.at(-1), runs]).toEqual([1, '0 passed, 1 failed', 2])
  })

  test('an error occurred outside of tests, the run fails at once', async () => {
    const { exitCode, last, runs } = await run([FLAKY, ERROR])
    expect([exitCode, last.at(-1), runs]).toEqual([1, '0 passed, 2 failed', 1])
  })

  test('tests of six files failed, the run fails at once', async () => {
    const { exitCode, last, runs } = await run(Array<string>(6).fill(FLAKY))
    expect([exitCode, last.at(-1), runs]).toEqual([1, '0 passed, 6 failed', 1])
  })
})

test('the time limit of the preload holds for the hooks of each file, whatever the command line says', async () => {
  const slowHook = `import { beforeAll } from 'bun:test'\nbeforeAll(() => Bun.sleep(60))\n${FINE}`
  const { exitCode, last } = await run([slowHook, slowHook], ['--timeout=20'])
  expect([exitCode, last.at(-1)]).toEqual([0, '2 passed, 0 failed'])
})
