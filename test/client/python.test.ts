// The Python client: its own tests in each interpreter that is here, and what it sends as the real intake sees it.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { timeUs } from '../../src/event/stamp.ts'
import { startApp } from '../support/app.ts'
import { findPython, missing } from '../support/needs.ts'

const CLIENT = join(import.meta.dir, '../../src/client/python')
const TESTS = join(import.meta.dir, 'python')
const WITHIN_S = 120

const environment = (extra: Readonly<Record<string, string>> = {}) => {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1', ...extra }
}

/** One per version of those that Debian or pyenv name `python3.N`; a name may exist without an interpreter. */
const interpreters = new Map<string, string>()
for (const name of ['python3', ...[9, 10, 11, 12, 13, 14].map((minor) => `python3.${minor}`)]) {
  if (Bun.which(name) === null) continue
  const { success, stdout } = Bun.spawnSync([name, '--version'])
  if (success && !interpreters.has(String(stdout))) interpreters.set(String(stdout), name)
}

test.skipIf(missing('python') !== undefined).each([...interpreters.values()])(
  'passes its own tests in %s',
  async (interpreter) => {
    const child = Bun.spawn(
      ['timeout', '-k', '1', String(WITHIN_S), interpreter, '-m', 'unittest', '-b', 'test_stint'],
      {
        cwd: TESTS,
        env: environment(),
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'pipe',
      },
    )
    const output = await new Response(child.stderr).text()
    expect(output).toContain('\nOK\n')
    expect(await child.exited).toBe(0)
  },
  (WITHIN_S + 10) * 1000,
)

test.skipIf(missing('python') !== undefined)('sends what the real intake accepts', async () => {
  const app = await startApp()
  const code = `
import stint

with stint.run("import", meta="eu", uid="one") as run:
    run.metrics({"rows": 3, "seconds": 1.5})
try:
    with stint.run("import", uid="two"):
        raise OSError("disk full")
except OSError:
    pass
assert stint.flush(20)
`
  const child = Bun.spawn([findPython()!, '-c', code], {
    env: environment({ STINT_URL: app.url, STINT_API_KEY: app.keys.writer }),
    stderr: 'pipe',
  })
  expect(await new Response(child.stderr).text()).toBe('')
  expect(await child.exited).toBe(0)
  const events = (await app.events()).toSorted((a, b) => timeUs(a.stamp) - timeUs(b.stamp))
  expect(events).toMatchObject([
    { kind: 'start', process: 'import', meta: 'eu', uid: 'one' },
    { kind: 'metrics', uid: 'one' },
    { kind: 'end', uid: 'one' },
    { kind: 'start', meta: '', uid: 'two' },
    { kind: 'exception', uid: 'two', exception: expect.stringContaining('OSError: disk full') },
    { kind: 'end', uid: 'two', failed: true },
  ])
  await app.stop()
})
