import { expect, test } from 'bun:test'
import { createEvaluator } from '../../../src/watch/evaluate/evaluator.ts'
import type { WatchSource } from '../../../src/watch/evaluate/watch-source.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { openStore, silent, watchOf } from '../watch-cast.ts'

test('a round ends after all of its evaluations, also when one of them fails', async () => {
  const now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<never[]>()]
  const source: WatchSource = {
    findMarks() {
      asked.resolve()
      return answer.promise
    },
    findNewestStarts: async () => [],
    findExceptions: async () => [],
    aggregateMetrics: async () => [],
  }
  for (const account of ['acc_1', 'acc_2'])
    await store.addWatch(watchOf(`wat_${account}`, { process: 'job', long: '60s' }, { account, sinceUs: now }), 9)
  const evaluator = createEvaluator({
    ...{ nowUs: () => now, monotonicUs: () => now, log: silent, source, maxRunUs: 86_400e6, publicUrl: () => '' },
    store: {
      ...store,
      recentAlerts: (account, sinceUs) =>
        account === 'acc_1' ? Promise.reject(new Error('the disk is full')) : store.recentAlerts(account, sinceUs),
    },
    liveness: { blind: () => [], notice: () => now },
    oldestUnstoredUs: () => ({ points: undefined, exceptions: undefined }),
  })
  let ended = ''
  const round = evaluator.step().catch((error: Error) => {
    ended = error.message
  })
  await asked.promise
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  expect(ended).toBe('')
  answer.resolve([])
  await round
  expect(ended).toBe('the disk is full')
  await store.close()
})
