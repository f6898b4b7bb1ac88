// When Stint could accept events, in a real watches.sqlite; the clocks are the test's.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createDowntimeLog, type DowntimeOptions } from '../../../src/watch/engine/downtime.ts'
import type { WatchStore } from '../../../src/watch/storage/create-watch-store.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { openStore, silent } from '../watch-cast.ts'

const S = 1e6
const BEGAN = Date.UTC(2026, 10, 21) * 1000
let now: number
let mono: number
let store: WatchStore
let found: string[]

beforeEach(() => {
  now = BEGAN
  mono = 0
  store = openStore(inMemoryDir())
  found = []
})
afterEach(() => store.close())

function open(over: Partial<DowntimeOptions> = {}) {
  return createDowntimeLog({
    ...{ store, nowUs: () => now, monotonicUs: () => mono, accepts: () => true, lastArrivalUs: () => 0, log: silent },
    onDowntime: ({ fromUs, toUs }) => found.push(`${(fromUs - BEGAN) / S} ${(toUs - BEGAN) / S}`),
    ...over,
  })
}
const pass = async (log: ReturnType<typeof open>, seconds: number) => {
  for (let i = 0; i < seconds; i++) {
    now += S
    mono += S
    await log.step()
  }
}

test('a first start is no downtime, and neither is time that passes', async () => {
  const log = open()
  await log.start()
  now += 10
  await log.step()
  await pass(log, 60)
  expect(found).toEqual([])
})

test('from the last sign of life, or the last event, to the next start Stint was down, and half a minute longer', async () => {
  const log = open()
  await log.start()
  await pass(log, 20)
  await log.stop()
  now += 100 * S
  await open().start()
  expect(found.splice(0)).toEqual(['20 150'])
  now += 5 * S
  await open({ lastArrivalUs: () => BEGAN + 124 * S }).start()
  expect(found).toEqual(['20 150', '124 155'])
})

test('a pause of the process, a clock that jumps ahead, and a spool that refuses everything are downtime', async () => {
  let isFull = false
  const log = open({ accepts: () => !isFull })
  await log.start()
  await pass(log, 10)
  now += 20 * S
  mono += 20 * S
  log.notice()
  now += 3600 * S
  mono += S
  log.notice()
  isFull = true
  await pass(log, 40)
  expect(log.current()).toEqual({ fromUs: BEGAN + 10 * S, toUs: now })
  isFull = false
  await pass(log, 1)
  expect(found).toEqual(['10 60', '30 3660', '10 3701'])
})

test('a pause is no downtime while other nodes accept events, and no second one while this one refuses all', async () => {
  const pause = (log: ReturnType<typeof open>) => {
    now += 20 * S
    mono += 20 * S
    log.notice()
  }
  const covered = open({ coveredSinceUs: () => BEGAN })
  await covered.start()
  await pass(covered, 10)
  pause(covered)
  expect(found).toEqual([])
  let isFull = false
  const log = open({ accepts: () => !isFull, lastArrivalUs: () => now })
  await log.start()
  found = []
  isFull = true
  await pass(log, 5)
  pause(log)
  expect(found).toEqual([])
  isFull = false
  await pass(log, 1)
  expect(found).toEqual(['30 86'])
})

test('a commit of the judge stores no sign of life before a downtime that is not stored yet', async () => {
  const log = open()
  await log.start()
  now += 20 * S
  mono += 20 * S
  log.notice()
  expect(log.toStoreUs()).toBeUndefined()
  await log.step()
  expect(log.toStoreUs()).toBe(now)
})

test('a sign of life that the judge stores costs no further write, and a downtime is written at once', async () => {
  let isFull = false
  let writes = 0
  const noteAlive: WatchStore['noteAlive'] = (alive) => {
    writes++
    return store.noteAlive(alive)
  }
  const log = open({ accepts: () => !isFull, store: { alive: store.alive, noteAlive } })
  await log.start()
  await pass(log, 100)
  log.noteStored()
  writes = 0
  for (let commits = 0; commits < 6; commits++) {
    await pass(log, 10)
    expect(log.toStoreUs()).toBe(now)
    log.noteStored()
  }
  expect(writes).toBe(0)
  isFull = true
  await pass(log, 20)
  expect(log.toStoreUs()).toBeUndefined()
  isFull = false
  await pass(log, 1)
  expect(writes).toBe(1)
  expect((await store.alive()).blind).toHaveLength(1)
  await pass(log, 60)
  expect(writes).toBe(4)
})
