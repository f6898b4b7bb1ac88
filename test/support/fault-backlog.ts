// A backlog in a spool, written as Stint would while its store is away, but faster than over HTTP. The Stint on the directory is stopped.
import { join } from 'node:path'
import type { Event } from '../../src/event/event.ts'
import { toRecord } from '../../src/event/record.ts'
import { createLog } from '../../src/log.ts'
import { openSpool } from '../../src/spool/open-spool.ts'

const AT_ONCE = 20_000
const MAX_BYTES = 2 ** 33

export async function writeBacklog(
  dataDir: string,
  destination: 'points' | 'exceptions',
  count: number,
  /** Or a whole record. */
  eventOf: (i: number) => Event | string,
): Promise<void> {
  const log = createLog({ level: 'silent', pretty: false })
  const spool = await openSpool({ dir: join(dataDir, 'spool', destination), maxBytes: MAX_BYTES, minFreeBytes: 0, log })
  for (let from = 0; from < count; from += AT_ONCE) {
    const appended = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => {
      const event = eventOf(from + i)
      return typeof event === 'string' ? spool.append(event, 0) : spool.append(toRecord(event), event.stamp.us)
    })
    await Promise.all(appended)
  }
  await spool.close()
}
