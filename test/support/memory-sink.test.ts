// The tests' store in memory keeps the same contract as the real ones; else what it shows of a shipper would show nothing.
import { type Event, markName } from '../../src/event/event.ts'
import { formatStampNs } from '../../src/event/stamp.ts'
import { type StoredRow, sinkContract } from '../contract/sink.ts'
import { createMemoryStore } from './memory-sink.ts'

function toRows(event: Event): StoredRow[] {
  const { process, meta, uid = '' } = event
  const common = { ns: formatStampNs(event.stamp), process, meta }
  if (event.kind === 'metrics') {
    return event.items.map(([name, value]) => ({ kind: 'metric', ...common, uid, name, value: value + 0 }))
  }
  if (event.kind === 'exception') return [{ kind: 'exception', ...common, uid, exception: event.exception }]
  return [{ kind: markName(event), ...common, uid }]
}

sinkContract({
  name: 'the store in memory',
  kinds: ['start', 'end', 'metrics', 'exception'],
  async open() {
    const store = createMemoryStore({ isPoison: ({ process }) => process.endsWith('\\') })
    return {
      sink: store.sink(),
      another: store.sink,
      away: () => createMemoryStore({ next: () => ({ kind: 'retry', reason: 'nobody answers' }) }).sink(),
      stranger: () => createMemoryStore({ next: () => ({ kind: 'wait', reason: 'who is that' }) }).sink(),
      read: async (account) =>
        store
          .events()
          .filter((event) => event.account === account)
          .flatMap(toRows),
      poison: (account, stamp) => ({ kind: 'start', account, process: 'ends in \\', meta: '', uid: '', stamp }),
      async close() {},
    }
  },
})
