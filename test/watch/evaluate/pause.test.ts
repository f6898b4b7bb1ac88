// The process is paused while it waits for a store: what is judged next knows of the pause.
import { expect, test } from 'bun:test'
import { createEvaluator } from '../../../src/watch/evaluate/evaluator.ts'
import { createLiveness } from '../../../src/watch/evaluate/liveness.ts'
import type { KnownMark, WatchSource } from '../../../src/watch/evaluate/watch-source.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { openStore, silent, watchOf } from '../watch-cast.ts'

const S = 1e6

test('a pause in the middle of a round declares no job late', async () => {
  let now = Date.UTC(2026, 10, 21) * 1000
  const born = now
  const store = openStore(inMemoryDir())
  const marks: KnownMark[] = []
  let pauseUs = 0
  const source: WatchSource = {
    async findMarks({ fromUs, toUs }) {
      now += pauseUs
      pauseUs = 0
      return marks.filter(({ atUs }) => atUs >= fromUs && atUs < toUs).reverse()
    },
    findNewestStarts: async () => [],
    findExceptions: async () => [],
    aggregateMetrics: async () => [],
  }
  const clocks = { nowUs: () => now, monotonicUs: () => now, log: silent, store }
  const accounts = ['acc_1', 'acc_2']
  const late = { every: '60s', grace: '20s' }
  for (const account of accounts)
    await store.addWatch(watchOf(`wat_${account}`, { process: 'job', late }, { account, sinceUs: now }), 9)
  const liveness = createLiveness({ ...clocks, accepts: () => true })
  await liveness.start()
  const evaluator = createEvaluator({
    ...{ ...clocks, source, liveness, maxRunUs: 86_400 * S, publicUrl: () => '' },
    oldestUnstoredUs: () => ({ points: undefined, exceptions: undefined }),
  })
  const start = () => {
    marks.push({ process: 'job', meta: '', uid: '', mark: 'start', atUs: now })
    for (const account of accounts) evaluator.hint({ account, process: 'job', kind: 'mark' })
  }
  while (now < born + 300 * S) {
    now += S
    if ((now - born) % (60 * S) === 0) start()
    await evaluator.step()
  }
  for (let i = 0; i < 53; i++) {
    now += S
    await evaluator.step()
  }
  pauseUs = 45 * S // the next start is due within it; both accounts are evaluated in the same round
  evaluator.hint({ account: 'acc_1' })
  evaluator.hint({ account: 'acc_2' })
  for (let i = 0; i < 20; i++) {
    now += S
    await evaluator.step()
    if (pauseUs === 0) break
  }
  start() // the caller was waiting for its answer
  for (let i = 0; i < 40; i++) {
    now += S
    await evaluator.step()
  }
  for (const account of accounts) expect(await store.alerts(account, { limit: 9 })).toEqual([])
  await liveness.stop()
  await store.close()
})
