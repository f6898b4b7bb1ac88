// The lease of a NODE_ID; test/integration/node-lease.slow.ts runs it against real stores.
import { expect, test } from 'bun:test'
import pino from 'pino'
import { createNodeLease } from '../../src/store/node-lease.ts'

test('the lease is given back behind a renewal that is still under way', async () => {
  const written: boolean[] = []
  const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>()
  const lease = createNodeLease({
    leases: [
      {
        store: 'slow',
        read: async () => [],
        async write(_node, _dir, isHeld) {
          if (isHeld) await arrives
          written.push(isHeld)
        },
      },
    ],
    nodeId: 1,
    dataDirId: 'here',
    log: pino({ level: 'silent' }),
  })
  lease.start()
  const stopped = lease.stop()
  arrive()
  await stopped
  expect(written).toEqual([true, false])
})
