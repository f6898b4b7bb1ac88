// Events of one moment, and the store in which the tests of answers keep them.
import { afterAll, beforeAll, expect } from 'bun:test'
import type { Event, Exception, Mark, Metrics } from '../../../src/event/event.ts'
import type { ClickHouseStore } from '../../../src/store/clickhouse/open.ts'
import type { Selection } from '../../../src/store/source.ts'
import { type NamedPlace, openStore } from './subjects.ts'

export const US = 1_795_211_562_000_000
export const NS = BigInt(US) * 1000n
export const MINUTE_NS = 60_000_000_000n

interface Where {
  readonly process?: string
  readonly meta?: string
  readonly uid?: string
}
export const stamp = (us: number, sub = 0) => ({ us: US + us, sub })
export const exception = (
  account: string,
  us: number,
  text: string,
  { process = 'p', meta = '', uid }: Where = {},
): Exception => ({
  ...(uid !== undefined && { uid }),
  ...{ kind: 'exception', account, process, meta, exception: text },
  stamp: stamp(us),
})
export const metrics = (account: string, us: number, items: Metrics['items']): Metrics => ({
  ...{ kind: 'metrics', account, process: 'p', meta: '', items },
  stamp: stamp(us),
})
export const start = (account: string, us: number, { process = 'p', meta = '' }: Where = {}): Mark => ({
  ...{ kind: 'start', account, process, meta, uid: '' },
  stamp: stamp(us),
})
export const all = (account: string): Selection => ({ account, fromNs: NS, toNs: NS + 60n * MINUTE_NS })

/** In a database of its own, for the tests of a `describe`. */
export function useStore({ place }: NamedPlace) {
  let store: ClickHouseStore
  let leave: () => Promise<void>
  let write: (events: readonly Event[]) => Promise<unknown>
  beforeAll(async () => {
    const found = await place()
    leave = found.leave
    store = await openStore(found.address)
    const sink = store.createSink()
    expect(await sink.prepare()).toEqual({ kind: 'stored', expired: 0 })
    write = (events) => sink.write(events)
  })
  afterAll(async () => {
    await store.close()
    await leave()
  })
  return {
    get source() {
      return store.source
    },
    keep: async (events: readonly Event[]) => expect(await write(events)).toEqual({ kind: 'stored', expired: 0 }),
  }
}
