// A store in memory with the manners of a real one: it keeps an event by its identity, so that the same batch twice is one,
// and it fails as a test tells it to. What it holds survives the sinks on it, as a real store survives its clients.
import { type Event, isEventKind } from '../../src/event/event.ts'
import { contentOf } from '../../src/event/identity.ts'
import { formatStampNs } from '../../src/event/stamp.ts'
import type { Sink, WriteResult } from '../../src/store/sink.ts'

export interface StoreFaults {
  /** What the next request meets before the store looks at it: an answer instead of work, or work whose answer gets lost. */
  next?(request: StoreRequest): WriteResult | 'answer_lost' | undefined
  /** Events it will never take. The whole batch is refused and nothing of it is stored. */
  isPoison?(event: Event): boolean
  /** As an InfluxDB: of a refused batch the good events are stored all the same. */
  storesPartially?: boolean
  /** Events outside its retention: taken, counted, not kept. */
  isExpired?(event: Event): boolean
  /** Events a request may have. */
  maxEvents?: number
}

export type StoreRequest =
  | { readonly kind: 'prepare' }
  | { readonly kind: 'write'; readonly events: readonly Event[] }
  | { readonly kind: 'check'; readonly like: Event }
  | { readonly kind: 'erase'; readonly accounts: readonly string[] }

export interface MemoryStore {
  faults: StoreFaults
  /** Every request that reached it, in order. */
  readonly requests: StoreRequest[]
  /** What it holds, in order of arrival. */
  events(): Event[]
  /** How often an event was written, again included. */
  timesWritten(event: Event): number
  sink(): Sink
}

/** As in the stores: with its own time (an odd stamp) an event is identified by its content too. */
const identity = (event: Event): string => {
  const { account, kind, process, meta, stamp } = event
  const content = stamp.sub % 2 === 1 ? String(contentOf(event)) : ''
  return JSON.stringify([account, kind, process, meta, formatStampNs(stamp), content])
}

export function createMemoryStore(faults: StoreFaults = {}): MemoryStore {
  const held = new Map<string, Event>()
  const written = new Map<string, number>()
  const requests: StoreRequest[] = []

  function take(events: readonly Event[]): WriteResult {
    const { isPoison, storesPartially, isExpired, maxEvents } = store.faults
    if (maxEvents !== undefined && events.length > maxEvents) return { kind: 'too_large', reason: 'too many events' }
    if (!events.every(({ kind }) => isEventKind(kind))) throw new Error('an event of an unknown kind')
    const good = events.filter((event) => !isPoison?.(event))
    if (good.length < events.length && !storesPartially) return { kind: 'refused', reason: 'poison' }
    const kept = good.filter((event) => !isExpired?.(event))
    for (const event of kept) {
      held.set(identity(event), event)
      written.set(identity(event), (written.get(identity(event)) ?? 0) + 1)
    }
    if (good.length < events.length) return { kind: 'refused', reason: 'poison' }
    return { kind: 'stored', expired: good.length - kept.length }
  }

  function work(request: StoreRequest): WriteResult {
    if (request.kind === 'write') return take(request.events)
    if (request.kind === 'erase') {
      for (const [id, { account }] of held) if (request.accounts.includes(account)) held.delete(id)
    }
    return { kind: 'stored', expired: 0 }
  }

  /** The answer comes in a later turn of the event loop, as one from a socket does. */
  async function answer(request: StoreRequest): Promise<WriteResult> {
    await new Promise((resolve) => setImmediate(resolve))
    requests.push(request)
    const fault = store.faults.next?.(request)
    if (fault && fault !== 'answer_lost') return fault
    const result = work(request)
    return fault === 'answer_lost' ? { kind: 'retry', reason: 'the answer was lost' } : result
  }

  const store: MemoryStore = {
    faults,
    requests,
    events: () => [...held.values()],
    timesWritten: (event) => written.get(identity(event)) ?? 0,
    sink: () => ({
      store: 'memory',
      prepare: () => answer({ kind: 'prepare' }),
      write: (events) => answer({ kind: 'write', events }),
      check: (like) => answer({ kind: 'check', like }),
      erase: (accounts) => answer({ kind: 'erase', accounts }),
      async close() {},
    }),
  }
  return store
}
