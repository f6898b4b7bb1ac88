// Loaded before every test file: what a test may take on a busy machine, unless it says otherwise, and no directory is left behind.
import { afterAll, setDefaultTimeout } from 'bun:test'
import { useOwnTempDir } from './temp-dir.ts'

setDefaultTimeout(60_000)
afterAll(useOwnTempDir())
