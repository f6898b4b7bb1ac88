// A sample of the naughty strings; naughty-strings.slow.ts has them all, in both stores.
import { test } from 'bun:test'
import { engineMissing } from '../support/engine.ts'
import { comeBack, MORE, STRINGS } from './naughty-trial.ts'

const SAMPLE = [...new Set([...STRINGS.filter((_, i) => i % 10 === 0), ...MORE])]

test.skipIf(engineMissing !== undefined)('naughty strings read back unchanged from ClickHouse', () => comeBack(SAMPLE))
