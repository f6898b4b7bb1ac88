// What is asked over HTTP, and what becomes of a question that fails; source.slow.ts asks the embedded engine the same.
import { describe, expect, test } from 'bun:test'
import { StoreError } from '../../../src/store/source.ts'
import { engineMissing } from '../../support/engine.ts'
import { all, MINUTE_NS, NS, start, useStore } from './answers-cast.ts'
import { proveExceptions } from './exceptions.ts'
import { proveGroups } from './groups.ts'
import { OVER_HTTP, openStore, placeRemote } from './subjects.ts'

proveExceptions(OVER_HTTP)
proveGroups(OVER_HTTP)

describe.skipIf(engineMissing !== undefined)('a question', () => {
  let statements: readonly string[]
  const store = useStore({
    ...OVER_HTTP,
    async place() {
      const bridge = await placeRemote()
      statements = bridge.statements
      return bridge
    },
  })

  test('finds the latest of two thousand processes, although no parameter may be as long as their names', async () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `nightly import ${'x'.repeat(70)} ${i}`)
    const lately = 59.5 * 60e6 // all are found in the newest part, and left out of the rest
    await store.keep(names.map((process, i) => start('a', lately + i, { process })))
    const found = await store.source.findLatest({
      ...{ ...all('a'), maxRunNs: MINUTE_NS, nowNs: NS + 60n * MINUTE_NS, each: 1, byMeta: false, maxRows: 10_000 },
    })
    expect(found.map(({ process }) => process)).toEqual(names.toReversed())
  })

  test('is bounded in time and memory by the engine', async () => {
    const before = statements.length
    const q = { ...all('b'), maxRunNs: 1n, nowNs: NS }
    await store.source.summarizeTimings({ ...q, byMeta: true, everyNs: MINUTE_NS })
    await store.source.aggregateMetrics({ ...q, everyNs: MINUTE_NS })
    await store.source.groupExceptions(q, { limit: 1 })
    await store.source.findPointProcesses(q)
    const asked = statements.slice(before)
    expect(asked).toHaveLength(4)
    for (const sql of asked) {
      const settings = sql.slice(sql.lastIndexOf('SETTINGS '))
      expect(settings).toContain('max_execution_time = 30')
      expect(settings).toMatch(/max_memory_usage = \d+/)
    }
  })

  test('throws StoreError without the password if the store is unreachable, not ClickHouse, or has no tables', async () => {
    const { address, leave } = await placeRemote()
    const places = [
      { ...address, url: 'http://127.0.0.1:1' },
      { ...address, password: 'wrong-password' },
      address, // not prepared
    ]
    for (const place of places) {
      const other = await openStore(place)
      const error = await other.source.findExceptions(all('a'), { limit: 1 }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(StoreError)
      expect(Bun.inspect(error)).not.toContain(address.password)
      expect(Bun.inspect(error)).not.toContain('wrong-password')
      await other.close()
    }
    await leave()
  })
})
