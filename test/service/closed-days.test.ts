// A day that is kept in memory is asked again when an event of it is stored.
import { expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import type { Stores } from '../../src/store/open-stores.ts'
import type { Summary } from '../../src/wire/timings.ts'
import { startApp } from '../support/app.ts'
import { createMemoryStore } from '../support/memory-sink.ts'
import { createMemorySource } from '../support/memory-source.ts'
import { createRunningClock } from '../support/step-clock.ts'
import { until } from '../support/until.ts'

const DAY_MS = 86_400_000

test('a run that is sent days late is in the next answer by day', async () => {
  const store = createMemoryStore()
  const sources = createMemorySource(store.events)
  const asked: number[] = []
  const stores: Stores = {
    sinks: { points: store.sink(), exceptions: store.sink() },
    exceptions: sources.exceptions,
    points: {
      ...sources.points,
      summarizeTimings(q) {
        asked.push(Number((q.toNs - q.fromNs) / 1_000_000n) / DAY_MS)
        return sources.points.summarizeTimings(q)
      },
    },
    close: async () => {},
  }
  await using app = await startApp({ clock: createRunningClock(), openStores: async () => stores })
  const { account, keys } = app
  const lateMs = Math.floor(Date.now() / DAY_MS - 4) * DAY_MS + DAY_MS / 2
  const runAt = (ms: number): Event[] =>
    (['start', 'end'] as const).map((kind, i) => ({
      ...{ kind, account, process: 'p', meta: '', uid: '', stamp: parseStampNs(BigInt(ms + i * 60_000) * 1_000_000n) },
    }))
  await store.sink().write([...runAt(lateMs - DAY_MS), ...runAt(lateMs)])

  async function countByDay(): Promise<number[]> {
    asked.length = 0
    const { status, json } = await app.fetch('/api/timings/summary?from=-9d&every=1d', { key: keys.owner })
    expect(status).toBe(200)
    return (json as Summary).rows.map(({ count }) => count)
  }
  expect(await countByDay()).toEqual([1, 1])
  expect(asked).toEqual([9])
  await until('the second question reads less', async () => {
    await countByDay()
    return asked.length === 2 && Math.max(...asked) < 3
  })
  for (const kind of ['start', 'end'] as const) {
    const at = new Date(lateMs + (kind === 'start' ? 3 : 4) * 3_600_000).toISOString()
    expect((await app.post(`/v1/${kind}`, { process: 'p', at })).status).toBe(201)
  }
  const mark = app.spools.points.mark()
  await until('both are stored', () => app.spools.points.hasDelivered(mark))
  expect(await countByDay()).toEqual([1, 2])
})
