// Loaded before every test file: what a test may take on a busy machine, unless it says otherwise, and no directory is left behind.
import { afterAll, setDefaultTimeout } from 'bun:test'
import { useOwnTempDir } from './temp-dir.ts'

setDefaultTimeout(180_000)
// run-tests.ts has one directory for all workers, which run this hook after each file while servers of later files still use theirs.
if (process.env.STINT_TEST_TEMP === undefined) afterAll(useOwnTempDir())
