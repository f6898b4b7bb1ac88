import { expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import { parseStampNs } from '../../../src/event/stamp.ts'
import { toRows } from '../../../src/store/clickhouse/encode-events.ts'
import { countTurns } from '../../support/count-turns.ts'

const event = (i: number): Event => ({
  kind: 'exception',
  account: 'a',
  process: 'p',
  meta: '',
  stamp: parseStampNs(1_763_673_600_000_000_000n + BigInt(i) * 1000n),
  exception: `no room ${i}`,
})
const events = Array.from({ length: 100 }, (_, i) => event(i))

/** How often other work has its turn while 100 exceptions are encoded, each of which takes `us`. */
async function turnsWhileEncoding(us: number): Promise<number> {
  let now = 0
  const { result: tables, turns } = await countTurns(() =>
    toRows(events, { clock: { monotonicUs: () => (now += us) } }),
  )
  expect(tables.get('exceptions')).toHaveLength(100)
  return turns
}

test('encoding yields to other work after a few milliseconds, however short the texts are', async () => {
  expect(await turnsWhileEncoding(1000)).toBeGreaterThanOrEqual(24)
  expect(await turnsWhileEncoding(5000)).toBeGreaterThanOrEqual(99)
})

test('encoding does not yield without need', async () => {
  expect(await turnsWhileEncoding(1)).toBeLessThanOrEqual(1)
})
