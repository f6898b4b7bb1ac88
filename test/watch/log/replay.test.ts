// Random histories: kills change nothing, and the alerts are those of a naive reference. replay.slow.ts has many more.
import { test } from 'bun:test'
import { expectKillsChangeNothing, expectNaiveAlerts } from './replay.ts'

const seedsUpTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

test('a kill between any two steps changes nothing', () => expectKillsChangeNothing(seedsUpTo(25)))

test('late, long and failed are those of the naive reference', () => expectNaiveAlerts(seedsUpTo(4)))
