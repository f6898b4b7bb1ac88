// Writes points to InfluxDB 2. A point's series and stamp are its identity: a repeated write overwrites it with itself.
import type { Event } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import { attempt, checkByCanary, type Sink } from '../sink.ts'
import { createInfluxClient, type InfluxAddress } from './client.ts'
import { pushLines } from './encode-events.ts'
import { judgeFailure } from './judge-failure.ts'
import { prepareBucket } from './prepare.ts'

const TIMEOUT_MS = 30_000

export interface InfluxSinkOptions extends InfluxAddress {
  /** 0 = keep forever. */
  readonly retentionDays: number
  /** The bucket is known to be Stint's alone, though it does not bear Stint's mark. Default: false. */
  readonly isOwn?: boolean
  readonly log: Logger
  readonly timeoutMs?: number
}

export function createInfluxSink(options: InfluxSinkOptions): Sink {
  const { retentionDays, isOwn, log, timeoutMs = TIMEOUT_MS, ...address } = options
  const client = createInfluxClient(address, timeoutMs)

  const write = (events: readonly Event[]) =>
    attempt(judgeFailure, async () => {
      const lines: string[] = []
      for (const event of events) pushLines(lines, event)
      if (lines.length > 0) await client.writeLines(lines)
    })

  return {
    store: 'influxdb',
    prepare: () => prepareBucket(client, address, retentionDays, log, isOwn),
    write,
    check: checkByCanary(write, (stamp) => stamp), // shards may be as short as an hour
    // its predicates know no OR
    erase: (accounts) =>
      attempt(judgeFailure, async () => {
        for (const account of accounts) await client.erase(`account=${JSON.stringify(account)}`)
      }),

    async close() {
      client.close()
    },
  }
}
