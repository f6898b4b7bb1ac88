// Random histories: kills change nothing, and the alerts are those of a naive reference. replay.slow.ts has many more.
import { expect, test } from 'bun:test'
import { createRandom, makeHistory } from './histories.ts'
import { judgeNaively } from './naive.ts'
import { judgeAll, judgeKilled, longRuns, MAX_RUN_US, textOf } from './replay.ts'

const seedsUpTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

test('a kill between any two steps changes nothing', () => {
  for (const seed of seedsUpTo(25)) {
    const random = createRandom(seed)
    const history = makeHistory(random)
    const killed = judgeKilled(history, random).map(textOf).sort()
    expect({ seed, alerts: killed }).toEqual({ seed, alerts: judgeAll(history).map(textOf).sort() })
  }
})

test('late, long and failed are those of the naive reference', () => {
  for (const seed of seedsUpTo(4)) {
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
})
