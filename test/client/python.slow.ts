// All tests of the Python client in each interpreter that is here.
import { test } from 'bun:test'
import { missing } from '../support/needs.ts'
import { expectPass } from './python/run-unittest.ts'

/** One per version of those that Debian or pyenv name `python3.N`; a name may exist without an interpreter. */
const interpreters = new Map<string, string>()
for (const name of ['python3', ...[9, 10, 11, 12, 13, 14].map((minor) => `python3.${minor}`)]) {
  if (Bun.which(name) === null) continue
  const { success, stdout } = Bun.spawnSync([name, '--version'])
  if (success && !interpreters.has(String(stdout))) interpreters.set(String(stdout), name)
}

test.skipIf(missing('python') !== undefined).each([...interpreters.values()])('passes its own tests in %s', (name) =>
  expectPass(name),
)
