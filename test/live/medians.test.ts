// Medians of an account with many processes are read in turns of the event loop.
import { expect, test } from 'bun:test'
import pino from 'pino'
import { createMedians } from '../../src/live/overview/medians.ts'
import type { TimingSummaryRow } from '../../src/store/source.ts'
import { countPerTurn } from '../support/count-turns.ts'

test('the rows that are read within one turn of the event loop are few', async () => {
  const figures = { count: 5, meanMs: 1, p50Ms: 7, p95Ms: 1, p99Ms: 1, maxMs: 1 }
  const rowOf = (process: string): TimingSummaryRow => ({
    ...{ process, ...figures, failed: 0, running: 0, abandoned: 0, orphan: 0 },
  })
  let known: ReturnType<Awaited<ReturnType<ReturnType<typeof createMedians>['find']>>['of']> | undefined
  const most = await countPerTurn(async (note) => {
    const rows = Array.from({ length: 20_000 }, (_, i) =>
      Object.defineProperty(rowOf(''), 'process', {
        get: () => {
          note()
          return `job ${i}`
        },
      }),
    )
    const medians = createMedians({
      points: { summarizeTimings: async () => rows },
      inTurn: (_, work) => work(new AbortController().signal),
      maxRunUs: 86_400e6,
      log: pino({ level: 'silent' }),
    })
    known = (await medians.find('a', undefined, 1_790_000_000e6)).of('job 19999')
  })
  expect(known).toEqual({ median_24h_ms: 7, median_7d_ms: 7 })
  expect(most).toBeLessThan(1_000)
})
