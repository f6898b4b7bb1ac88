// Which runs the page of an alert shows of those around it.
import { expect, test } from 'bun:test'
import { pickAround } from '../../src/service/pick-around.ts'
import type { PlainTiming } from '../../src/store/source.ts'
import { countPerTurn } from '../support/count-turns.ts'

const [FROM, TO] = [1_000_000_000n, 9_000_000_000n]
const AFTER_ALL = { sinceNs: TO, fromNs: FROM, toNs: TO }
const runOf = (i: number, over: Partial<PlainTiming> = {}): PlainTiming => ({
  ...{ process: `job ${i}`, meta: '', uid: `u${i}`, state: 'completed' },
  ...{ startedNs: FROM + BigInt(i), endedNs: FROM + BigInt(i) + 5n, ...over },
})

test('the nearest eight of each kind, newest first, each run once, without the one that the alert is about', async () => {
  const runs = Array.from({ length: 20 }, (_, i) => runOf(i, i % 2 === 0 ? { state: 'failed' } : {}))
  const ended = runOf(19, { state: 'running' })
  const early = runOf(30, { state: 'failed', endedNs: FROM - 1n })
  const around = await pickAround([ended, ...runs, early, runOf(40, { state: 'orphan' })], runs[18], AFTER_ALL)
  expect(around.failed.map(({ process }) => process)).toEqual([16, 14, 12, 10, 8, 6, 4, 2].map((i) => `job ${i}`))
  expect(around.more_failed).toBe(1)
  expect(around.running.map(({ process }) => process)).toEqual([19, 17, 15, 13, 11, 9, 7, 5].map((i) => `job ${i}`))
  expect(around.running[0]!.state).toBe('running')
  expect(around.more_running).toBe(2)
})

test('of a busy minute those that ran at that moment, and those that failed next to it', async () => {
  const sinceNs = FROM + 50n
  const quick = Array.from({ length: 100 }, (_, i) => runOf(i))
  const long = runOf(200, { startedNs: FROM - 500n, endedNs: FROM + 500n })
  const bad = Array.from({ length: 20 }, (_, i) => runOf(300 + i, { state: 'failed', endedNs: FROM + 5n * BigInt(i) }))
  const around = await pickAround([...quick, long, ...bad], undefined, { sinceNs, fromNs: FROM, toNs: TO })
  const names = [200, 51, 50, 49, 48, 47, 46, 45]
  expect(around.running.map(({ process }) => process)).toEqual(names.map((i) => `job ${i}`))
  expect(around.failed.map(({ process }) => process)).toEqual(
    [14, 13, 12, 11, 10, 9, 8, 7].map((i) => `job ${300 + i}`),
  )
  expect([around.more_running, around.more_failed]).toEqual([93, 12])
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
    await pickAround(runs, undefined, AFTER_ALL)
  })
  expect(most).toBeLessThan(1_000)
})
