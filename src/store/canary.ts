// Tells a batch of poison from a store that is broken: can it take the plainest event of the same kind and time? Both sinks check with the same one.
import { type Event, KINDS, ownValue } from '../event/event.ts'
import type { Stamp } from '../event/stamp.ts'
import type { Sink } from './sink.ts'

/** No account has this name. */
export const CHECK_ACCOUNT = '_check'

const CHECK_PROCESS = 'check'

/** A sink's `check` by its `write`. `stampOf` and `process` keep the canary in the partition and shard of the event. */
export const checkByCanary =
  (write: Sink['write'], stampOf: (stamp: Stamp) => Stamp, process = CHECK_PROCESS): Sink['check'] =>
  (like) =>
    write([canaryOf(like, stampOf(like.stamp), process)])

function canaryOf(like: Event, stamp: Stamp, process: string): Event {
  const common = { account: CHECK_ACCOUNT, process, meta: '', stamp }
  if (like.kind === 'start' || like.kind === 'end')
    return { kind: like.kind, ...common, uid: '', ...(like.failed && { failed: true }) }
  const own = typeof ownValue(like) === 'string' ? 'check' : [['check', 0]]
  const run = like.uid === undefined ? {} : { uid: 'check' }
  return { kind: like.kind, ...common, ...run, [KINDS[like.kind].own!]: own } as Event
}
