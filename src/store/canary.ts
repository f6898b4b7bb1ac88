// Tells a batch of poison from a store that is broken: can it take the plainest event of the same kind and time? Both sinks check with the same one.
import type { Event } from '../event/event.ts'
import type { Stamp } from '../event/stamp.ts'
import type { Sink } from './sink.ts'

/** No account has this name. */
export const CHECK_ACCOUNT = '_check'

/** A sink's `check` by its `write`. `stampOf` keeps the canary in the shard or partition of the event. */
export const checkByCanary =
  (write: Sink['write'], stampOf: (stamp: Stamp) => Stamp): Sink['check'] =>
  async (like) => {
    const result = await write([canaryOf(like, stampOf(like.stamp))])
    return result.kind === 'refused' ? { kind: 'wait', reason: result.reason } : result
  }

function canaryOf(like: Event, stamp: Stamp): Event {
  const common = { account: CHECK_ACCOUNT, process: 'check', meta: '', stamp }
  switch (like.kind) {
    case 'start':
    case 'end':
      return { kind: like.kind, ...common, uid: '', ...(like.failed && { failed: true as const }) }
    case 'metrics':
      return { kind: like.kind, ...common, items: [['check', 0]], ...(like.uid !== undefined && { uid: 'check' }) }
    case 'exception':
      return { kind: like.kind, ...common, exception: 'check' }
    default:
      throw new Error(`there is no canary for events of the kind ${(like satisfies never as Event).kind}`)
  }
}
