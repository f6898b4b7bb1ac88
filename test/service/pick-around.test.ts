// Which runs the page of an alert shows of those around it.
import { expect, test } from 'bun:test'
import { pickAround } from '../../src/service/pick-around.ts'
import type { PlainTiming } from '../../src/store/source.ts'
import { countPerTurn } from '../support/count-turns.ts'

const [FROM, TO] = [1_000_000_000n, 9_000_000_000n]
const runOf = (i: number, over: Partial<PlainTiming> = {}): PlainTiming => ({
  ...{ process: `job ${i}`, meta: '', uid: `u${i}`, state: 'completed' },
  ...{ startedNs: FROM + BigInt(i), endedNs: FROM + BigInt(i) + 5n, ...over },
})

test('the newest eight of each kind, each run once, without the one that the alert is about', async () => {
  const runs = Array.from({ length: 20 }, (_, i) => runOf(i, i % 2 === 0 ? { state: 'failed' } : {}))
  const ended = runOf(19, { state: 'running' })
  const early = runOf(30, { state: 'failed', endedNs: FROM - 1n })
  const around = await pickAround([ended, ...runs, early, runOf(40, { state: 'orphan' })], runs[18], FROM, TO)
  expect(around.failed.map(({ process }) => process)).toEqual([16, 14, 12, 10, 8, 6, 4, 2].map((i) => `job ${i}`))
  expect(around.more_failed).toBe(1)
  expect(around.running.map(({ process }) => process)).toEqual([19, 17, 15, 13, 11, 9, 7, 5].map((i) => `job ${i}`))
  expect(around.running[0]!.state).toBe('running')
  expect(around.more_running).toBe(2)
})

test('of many runs few are looked at within one turn of the event loop', async () => {
  const most = await countPerTurn(async (note) => {
    const runs = Array.from({ length: 6_000 }, (_, i) =>
      Object.defineProperty(runOf(i), 'process', {
        get: () => {
          note()
          return `job ${i}`
        },
      }),
    )
    await pickAround(runs, undefined, FROM, TO)
  })
  expect(most).toBeLessThan(1_000)
})
