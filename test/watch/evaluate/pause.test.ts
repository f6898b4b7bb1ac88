// The process is paused at any moment of a round: between two readings of its clocks, or while it waits for a store.
import { expect, test } from 'bun:test'
import { createLiveness } from '../../../src/watch/evaluate/liveness.ts'
import type { KnownMark } from '../../../src/watch/evaluate/watch-source.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { evaluatorOf, openStore, silent, sourceOf, watchOf } from '../watch-cast.ts'

const S = 1e6
const EVERY_S = 60

test('a pause at any moment of a round declares no job late', async () => {
  let now = Date.UTC(2026, 10, 21) * 1000
  /** The process is paused at the nth next reading of a clock or question to the store. */
  let pausedAt = 0
  const read = () => {
    const us = now
    if (pausedAt > 0 && --pausedAt === 0) now += 45 * S
    return us
  }
  const store = openStore(inMemoryDir())
  const marks: KnownMark[] = []
  const source = sourceOf({
    async findMarks({ fromUs, toUs }) {
      read()
      return marks.filter(({ atUs }) => atUs >= fromUs && atUs < toUs).reverse()
    },
  })
  const clocks = { nowUs: read, monotonicUs: read, log: silent, store }
  const accounts = ['acc_1', 'acc_2']
  const late = { every: `${EVERY_S}s`, grace: '20s' }
  for (const account of accounts)
    await store.addWatch(watchOf(`wat_${account}`, { process: 'job', late }, { account, sinceUs: now }), 9)
  const liveness = createLiveness({ ...clocks, accepts: () => true })
  await liveness.start()
  const evaluator = evaluatorOf({ ...clocks, source, liveness })
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      now += S
      await evaluator.step()
    }
  }
  const start = () => {
    marks.push({ process: 'job', meta: '', uid: '', mark: 'start', atUs: now })
    for (const account of accounts) evaluator.hint({ account, process: 'job', kind: 'mark' })
  }
  let nth = 0
  for (let isWithin = true; isWithin; ) {
    for (let i = 0; i < 2; i++) {
      start()
      await pass(EVERY_S)
    }
    start()
    await pass(EVERY_S - 7) // the next start is due within the pause; both accounts are evaluated in the same round
    for (const account of accounts) evaluator.hint({ account })
    pausedAt = ++nth
    await pass(3)
    isWithin = pausedAt === 0
    pausedAt = 0
  }
  expect(nth).toBeGreaterThan(20)
  for (const account of accounts) expect(await store.alerts(account, { limit: 9 })).toEqual([])
  await liveness.stop()
  await store.close()
})
