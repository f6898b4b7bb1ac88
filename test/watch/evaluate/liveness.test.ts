import { expect, test } from 'bun:test'
import { createLiveness } from '../../../src/watch/evaluate/liveness.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { openStore, silent } from '../watch-cast.ts'

const S = 1e6

/** A monotonic clock has fractions of a µs, as the runtime's has; the wall clock goes `wallUs` while it goes `monotonicUs`. */
async function storedAfter(wallUs: number, monotonicUs: number) {
  const store = openStore(inMemoryDir())
  let [wall, monotonic] = [Date.UTC(2026, 10, 21) * 1000, 5 * S + 0.123]
  const liveness = createLiveness({
    ...{ store, log: silent, accepts: () => true },
    ...{ nowUs: () => wall, monotonicUs: () => monotonic },
  })
  await liveness.start()
  liveness.notice()
  wall += wallUs
  monotonic += monotonicUs
  await liveness.step()
  const { blind } = await store.alive()
  await liveness.stop()
  await store.close()
  return blind
}

test('a clock that is set back is stored as a stretch that ends before it begins', async () => {
  const [stored, ...others] = await storedAfter(-600 * S, 0.5 * S + 0.777)
  expect(others).toEqual([])
  expect(stored!.fromUs).toBeGreaterThan(stored!.toUs)
})

test('a pause that the monotonic clock measures is stored', async () => {
  const [stored, ...others] = await storedAfter(20 * S, 20 * S + 0.777)
  expect(others).toEqual([])
  expect(stored!.toUs - stored!.fromUs).toBeGreaterThanOrEqual(20 * S)
})
