// Loaded before every test file, also by a plain `bun test`: installs the locked dependencies in a fresh clone, sets the
// time limit of tests and hooks, closes what a file left open, and removes the directories that tests leave.
import { afterAll, setDefaultTimeout } from 'bun:test'
import { plugin } from 'bun'
import { installDependencies } from './install-dependencies.ts'
import { closeLeftovers } from './leftovers.ts'
import { useOwnTempDir } from './temp-dir.ts'

/** Work that is slow on a busy machine is not wrong; most waits in tests have a deadline of their own. */
const LIMITS_MS = { test: 180_000, slow: 600_000 }

installDependencies()
setDefaultTimeout(LIMITS_MS.slow) // for the hook below

// Bun goes back to 5 s before each file, and bunfig.toml has no setting for it.
plugin({
  name: 'before each file',
  setup({ onResolve }) {
    onResolve({ filter: /\.(test|slow)\.ts$/ }, ({ path }) => {
      closeLeftovers()
      setDefaultTimeout(LIMITS_MS[path.endsWith('.slow.ts') ? 'slow' : 'test'])
      return undefined
    })
  },
})

// run-tests.ts has one directory for all workers, which run this hook after each file while servers of later files still
// use theirs.
if (process.env.STINT_TEST_TEMP === undefined) afterAll(useOwnTempDir())
