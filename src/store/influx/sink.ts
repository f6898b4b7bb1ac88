// Writes points to InfluxDB 2. A point's series and stamp are its identity: writing it again overwrites it with itself.
import type { Event } from '../../event/event.ts'
import type { Logger } from '../../log.ts'
import type { Sink, WriteResult } from '../sink.ts'
import { createInfluxClient, type InfluxAddress } from './client.ts'
import { pushLines } from './encode-events.ts'
import { judgeFailure } from './judge-failure.ts'
import { prepareBucket } from './prepare.ts'

const TIMEOUT_MS = 30_000

/** No account has this name. */
const CHECK_ACCOUNT = '_check'

export interface InfluxSinkOptions extends InfluxAddress {
  /** 0 = keep for ever. Applied only to a bucket that `prepare` creates. */
  readonly retentionDays: number
  readonly log: Logger
  readonly timeoutMs?: number
}

export function createInfluxSink({ retentionDays, log, timeoutMs = TIMEOUT_MS, ...address }: InfluxSinkOptions): Sink {
  const client = createInfluxClient(address, timeoutMs)

  async function write(events: readonly Event[]): Promise<WriteResult> {
    const lines: string[] = []
    for (const event of events) pushLines(lines, event)
    if (lines.length === 0) return { kind: 'stored', expired: 0 }
    try {
      await client.writeLines(lines)
      return { kind: 'stored', expired: 0 }
    } catch (error) {
      return judgeFailure(error)
    }
  }

  return {
    store: 'influxdb',
    prepare: () => prepareBucket(client, address, retentionDays, log),
    write,

    async check(like) {
      const result = await write([canaryOf(like)])
      return result.kind === 'refused' ? { kind: 'wait', reason: result.reason } : result
    },

    async erase(account) {
      try {
        await client.erase(`account=${JSON.stringify(account)}`)
        return { kind: 'stored', expired: 0 }
      } catch (error) {
        return judgeFailure(error)
      }
    },

    async close() {
      client.close()
    },
  }
}

/** The plainest event of the same measurement and shard: what refuses this one refuses all. */
function canaryOf({ kind, stamp }: Event): Event {
  const common = { account: CHECK_ACCOUNT, process: 'check', meta: '', stamp }
  if (kind === 'metrics') return { kind, ...common, items: [['check', 0]] }
  if (kind === 'exception') throw new Error('an exception is no point')
  return { kind, ...common, uid: '' }
}
