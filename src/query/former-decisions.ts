// Decisions about groups of 2.0, for one release: fingerprints were `v4` there. An exception whose group has no
// decision takes that of its v4 group, copied before the exception is stored: lists, counts and 2.0 nodes, which know
// decisions by what is stored, then say the same. The copy keeps author and time. With 2.2 this file goes.
import type { Clock } from '../clock.ts'
import type { Event, Exception } from '../event/event.ts'
import { fingerprint, formerFingerprint, rememberFingerprints } from '../event/fingerprint.ts'
import type { Logger } from '../log.ts'
import { groupTie } from '../store/order.ts'
import type { Sink } from '../store/sink.ts'
import type { GroupKey } from '../store/source.ts'
import type { GroupState, GroupStates } from './group-states.ts'

/** A decision that a 2.0 node makes during an upgrade is known so much later. */
const KNOWN_US = 2_000_000

export const isFormer = ({ fingerprint }: Pick<GroupKey, 'fingerprint'>): boolean => fingerprint.startsWith('v4:')

const isSame = (one: GroupState, other: GroupState): boolean =>
  one.process === other.process && one.by === other.by && one.atUs === other.atUs && one.status === other.status

/** The v4 group whose decision this is, if it was copied. */
export const adoptedFrom = (state: GroupState, states: readonly GroupState[]): GroupState | undefined =>
  isFormer(state) ? undefined : states.find((it) => isFormer(it) && isSame(it, state))

/** The decision about an exception's group, else that about its v4 group; reads no other ones. */
export async function findDecision(
  states: Pick<GroupStates, 'find'>,
  { account, process, exception }: Pick<Exception, 'account' | 'process' | 'exception'>,
): Promise<GroupState | undefined> {
  const [group, former] = [fingerprint(exception), formerFingerprint(exception)]
  return decisionAbout(await states.find(account, process, [group, former]), group, () => former)
}

/** The same of decisions about groups of one process. */
export function decisionAbout<State extends Pick<GroupState, 'fingerprint'>>(
  states: readonly State[],
  group: string,
  former: () => string | undefined,
): State | undefined {
  const find = (name: string | undefined) => states.find((it) => it.fingerprint === name)
  return find(group) ?? (states.some(isFormer) ? find(former()) : undefined)
}

interface AdoptDeps {
  readonly states: Pick<GroupStates, 'list' | 'put'>
  readonly clock: Pick<Clock, 'monotonicUs'>
  readonly log: Logger
}

/** The sink; before it writes, groups without a decision take that of their v4 group. Never delays for a fault. */
export function adoptDecisions(sink: Sink, { states, clock, log }: AdoptDeps): Sink {
  const formerOf = rememberFingerprints(undefined, formerFingerprint)
  const known = new Map<string, { readonly atUs: number; readonly found: Promise<readonly GroupState[]> }>()
  const listed = (account: string): Promise<readonly GroupState[]> => {
    const held = known.get(account)
    if (held !== undefined && clock.monotonicUs() - held.atUs < KNOWN_US) return held.found
    const found = states.list(account).catch(() => [])
    known.set(account, { atUs: clock.monotonicUs(), found })
    return found
  }

  async function adopt(events: readonly Event[]): Promise<void> {
    const raised = Map.groupBy(
      events.filter((event) => event.kind === 'exception'),
      ({ account }) => account,
    )
    for (const [account, exceptions] of raised) {
      const decided = await listed(account)
      if (!decided.some(isFormer)) continue
      const byKey = new Map(decided.map((state) => [groupTie(state), state]))
      const adopted = new Map<string, GroupState>()
      for (const { process, exception } of exceptions) {
        const former = byKey.get(groupTie({ fingerprint: formerOf(exception), process }))
        if (former === undefined) continue
        const own = { ...former, fingerprint: fingerprint(exception) }
        if (!byKey.has(groupTie(own))) adopted.set(groupTie(own), own)
      }
      if (adopted.size === 0) continue
      known.delete(account)
      await states.put(account, [...adopted.values()])
    }
    if (known.size > raised.size) for (const account of known.keys()) if (!raised.has(account)) known.delete(account)
  }

  return {
    ...sink,
    async write(events) {
      await adopt(events).catch((error: unknown) => log.warn({ err: error }, 'decisions of 2.0 could not be copied'))
      return sink.write(events)
    },
  }
}
