// Many random histories, as in replay.test.ts; also with a short MAX_RUN, so that runs are abandoned. Other ones: SEED=n.
import { test } from 'bun:test'
import { expectKillsChangeNothing, expectNaiveAlerts, MAX_RUN_US } from './replay.ts'

const FIRST = Number(process.env.SEED ?? 1000)
const seedsOf = (n: number) => Array.from({ length: n }, (_, i) => FIRST + i)

test('a kill between any two steps changes nothing', () => {
  expectKillsChangeNothing(seedsOf(1000), [MAX_RUN_US, 3600e6])
}, 600_000)

test('late, long and failed are those of the naive reference', () => expectNaiveAlerts(seedsOf(2000)), 900_000)
