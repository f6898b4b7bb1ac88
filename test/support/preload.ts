// Loaded before every test file: what a test may take on a busy machine, unless it says otherwise.
import { setDefaultTimeout } from 'bun:test'

setDefaultTimeout(60_000)
