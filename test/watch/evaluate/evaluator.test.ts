import { expect, test } from 'bun:test'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { evaluatorOf, openStore, sourceOf, watchOf } from '../watch-cast.ts'

test('a round ends after all of its evaluations, also when one of them fails', async () => {
  const now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<never[]>()]
  const source = sourceOf({
    findMarks() {
      asked.resolve()
      return answer.promise
    },
  })
  for (const account of ['acc_1', 'acc_2'])
    await store.addWatch(watchOf(`wat_${account}`, { process: 'job', long: '60s' }, { account, sinceUs: now }), 9)
  const evaluator = evaluatorOf({
    ...{ nowUs: () => now, source },
    store: {
      ...store,
      recentAlerts: (account, sinceUs) =>
        account === 'acc_1' ? Promise.reject(new Error('the disk is full')) : store.recentAlerts(account, sinceUs),
    },
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
