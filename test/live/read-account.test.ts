// Reading an account leaves the loop to others.
import { expect, test } from 'bun:test'
import type { LoggedEvent } from '../../src/live/account.ts'
import { readAccount } from '../../src/live/read-account.ts'
import { createMemorySource } from '../support/memory-source.ts'
import { openCast, raiseAt, T0 } from './live-cast.ts'

test('a turn of the loop folds a few of the events that came while the stores were asked', async () => {
  const { spools } = await openCast()
  let [inTurn, most, all] = [0, 0, 0]
  const fingerprint = (): string => {
    all++
    most = Math.max(most, ++inTurn)
    return 'group'
  }
  const buffer = Array.from({ length: 1_000 }, (_, i): LoggedEvent => {
    const event = raiseAt(T0 - 1_000_000 + i * 1_000, 'Error: x')
    return { event, seqs: { points: 0, exceptions: i + 1 } }
  })
  const reading = readAccount({
    ...{ account: 'ada', processes: undefined, sources: createMemorySource([]), spools, buffer },
    reader: { begin: async () => ({ points: 0, exceptions: 0 }), readBetween: async () => [] },
    ...{ folding: { maxRunUs: 1e12, maxBytes: 1e6, fingerprint }, maxMarks: 1e9, nowUs: () => T0 * 1000 },
    inTurn: (work) => work(new AbortController().signal),
  })
  let isDone = false
  const watching = (async () => {
    while (!isDone) {
      inTurn = 0
      await new Promise((done) => setImmediate(done))
    }
  })()
  const finish = await reading
  inTurn = 0
  const account = finish()
  isDone = true
  await watching
  expect([all, account.processes.size]).toEqual([1_000, 1])
  expect(most).toBeLessThanOrEqual(120)
})
