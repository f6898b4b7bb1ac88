// Loaded before the test files of every `bun test`: installs the locked dependencies in a fresh clone, runs many files in
// workers, sets the time limit of tests and hooks, closes what a file left open, and removes the directories that tests
// leave. Properties of fast tests draw the same cases in every run, or those of STINT_TEST_SEED.
import { afterAll, setDefaultTimeout } from 'bun:test'
import { plugin } from 'bun'
import { closeLeftovers } from './leftovers.ts'
import { isWorker, runInWorkers } from './run-in-workers.ts'
import { useOwnTempDir } from './temp-dir.ts'

/** Work that is slow on a busy machine is not wrong; most waits in tests have a deadline of their own. */
const LIMITS_MS = { test: 180_000, slow: 600_000 }

runInWorkers()
setDefaultTimeout(LIMITS_MS.slow) // for the hook below
const { default: fc } = await import('fast-check') // not at the top: a fresh clone does not have it yet

// Bun goes back to 5 s before each file, and bunfig.toml has no setting for it.
plugin({
  name: 'before each file',
  setup({ onResolve }) {
    onResolve({ filter: /\.(test|slow)\.ts$/ }, ({ path }) => {
      closeLeftovers()
      const isSlow = path.endsWith('.slow.ts')
      setDefaultTimeout(LIMITS_MS[isSlow ? 'slow' : 'test'])
      const seed = process.env.STINT_TEST_SEED ?? (isSlow ? undefined : 1)
      fc.configureGlobal(seed === undefined ? {} : { seed: Number(seed) })
      return undefined
    })
  },
})

// A worker runs this hook after each of its files, while servers of later files still use its directory.
if (!isWorker()) afterAll(useOwnTempDir())
