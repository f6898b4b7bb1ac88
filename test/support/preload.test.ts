import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missing } from './needs.ts'
import { tempDir } from './temp-dir.ts'

const FINE = "test('is fine', () => {})"
const BROKEN = "test('is broken', () => { throw new Error('broken') })"
const ERROR = "throw new Error('between tests')"
const NEEDY = `import { missing } from '${join(import.meta.dir, 'needs.ts')}'
test.skipIf(missing('chromium') !== undefined)('opens a page', () => {})`

/** Runs `bun test` with files of these contents. */
async function run(contents: readonly string[], options: readonly string[] = [], env: Record<string, string> = {}) {
  const dir = tempDir('preload')
  const paths = contents.map((content, i) => {
    const path = join(dir, `${i}.test.ts`)
    writeFileSync(path, `import { test } from 'bun:test'\n${content}\n`)
    return path
  })
  const { STINT_TEST_REQUIRE: _, STINT_TEST_NOTES: __, ...rest } = process.env
  const child = Bun.spawn([process.execPath, 'test', ...options, ...paths], {
    ...{ cwd: join(import.meta.dir, '../..'), env: { ...rest, ...env }, stdout: 'pipe', stderr: 'pipe' },
  })
  const printed = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, printed: printed.join('') }
}

test('many files run in workers, one file in its own process; the exit code is that of the run', async () => {
  const ran = await Promise.all([[FINE], [FINE, FINE], [FINE, BROKEN], [FINE, ERROR]].map((contents) => run(contents)))
  expect(ran.map(({ exitCode, printed }) => [exitCode, printed.includes('PARALLEL')])).toEqual([
    [0, false],
    [0, true],
    [1, true],
    [1, true],
  ])
})

test('a missing tool is named once, after the tests, with the command that installs it', async () => {
  const { exitCode, printed } = await run([NEEDY, NEEDY], [], { STINT_TEST_CHROMIUM: '/nonexistent' })
  const [before, after] = printed.split(/^Ran .*/m)
  expect([exitCode, before!.includes('chromium:'), after!.trim().split('\n')]).toEqual([
    ...[
      0,
      false,
      ['Tests were skipped because a tool is missing:', '  chromium: apt-get install chromium-headless-shell'],
    ],
  ])
})

test('a missing tool that STINT_TEST_REQUIRE names fails the run', async () => {
  const env = { STINT_TEST_CHROMIUM: '/nonexistent', STINT_TEST_REQUIRE: 'chromium' }
  const { exitCode, printed } = await run([NEEDY, FINE], [], env)
  expect([exitCode, printed.includes('chromium: apt-get install chromium-headless-shell')]).toEqual([1, true])
})

test('the time limit of the preload holds for the hooks of each file, whatever the command line says', async () => {
  const slowHook = `import { beforeAll } from 'bun:test'\nbeforeAll(() => Bun.sleep(60))\n${FINE}`
  expect((await run([slowHook, slowHook], ['--timeout=20'])).exitCode).toBe(0)
})

test.skipIf(missing('tmpfs') !== undefined)(
  'a later run removes the mounts of a killed one, and names what it cannot remove',
  async () => {
    const outer = tempDir('outer')
    const pid = Bun.spawnSync(['true']).pid // of a process that has ended
    const [removable, busy] = [join(outer, `stint-tests-${pid}-a`), join(outer, `stint-tests-${pid}-b`)]
    for (const place of [join(removable, 'disk'), busy]) {
      mkdirSync(place, { recursive: true })
      expect(Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', place]).exitCode).toBe(0)
    }
    try {
      const { exitCode, printed } = await run([FINE, FINE], [], { TMPDIR: outer })
      const named = printed.split('\n').filter((line) => line.includes(busy))
      expect([exitCode, existsSync(removable), named.length]).toEqual([0, false, 1])
    } finally {
      Bun.spawnSync(['umount', busy])
    }
  },
)
