// Many random histories, as in replay.test.ts; also with a short MAX_RUN, so that runs are abandoned. Other ones: SEED=n.
import { expect, test } from 'bun:test'
import { createRandom, makeHistory } from './histories.ts'
import { judgeNaively } from './naive.ts'
import { judgeAll, judgeKilled, longRuns, MAX_RUN_US, textOf } from './replay.ts'

const FIRST = Number(process.env.SEED ?? 1000)
const seedsOf = (n: number) => Array.from({ length: n }, (_, i) => FIRST + i)

test('a kill between any two steps changes nothing', () => {
  for (const seed of seedsOf(3000)) {
    const random = createRandom(seed)
    const history = makeHistory(random)
    const maxRunUs = random.pick([MAX_RUN_US, 3600e6])
    const killed = judgeKilled(history, random, maxRunUs).map(textOf).sort()
    expect({ seed, alerts: killed }).toEqual({ seed, alerts: judgeAll(history, maxRunUs).map(textOf).sort() })
  }
}, 600_000)

test('late, long and failed are those of the naive reference', () => {
  for (const seed of seedsOf(400)) {
    const history = makeHistory(createRandom(seed))
    const changes = judgeAll(history)
    const texts = changes.map(textOf)
    const naive = judgeNaively(history, MAX_RUN_US)
    expect({ seed, late: texts.filter((it) => /^(every|cron)/.test(it)).sort() }).toEqual({
      seed,
      late: naive.late.sort(),
    })
    expect({ seed, long: longRuns(changes).sort() }).toEqual({ seed, long: naive.long.sort() })
    expect({ seed, failed: texts.filter((it) => it.startsWith('failed')) }).toEqual({ seed, failed: naive.failed })
  }
}, 900_000)
