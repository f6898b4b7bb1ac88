// Readiness: whether an event can be taken, and what a Stint that takes some refuses or cannot read.
import { basename, join } from 'node:path'
import { DESTINATIONS } from '../event/event.ts'
import { SPOOL_REFUSALS } from '../http/intake/intake-gate.ts'
import { Problem } from '../problem.ts'
import { isStuck } from '../spool/is-stuck.ts'
import type { Spool } from '../spool/spool.ts'
import type { Rooms } from './open-rooms.ts'
import { rivalText } from './shared-nodes.ts'

/** While one of the spools takes events, a balancer must send them. */
export function unready({ spools, stampClock, sharedNodes }: Rooms): Problem | undefined {
  const [first, second] = DESTINATIONS.map((destination) => refusalOf(spools[destination], stampClock.nowUs()))
  if (first !== undefined && second !== undefined) return first
  const rival = sharedNodes.rival()
  if (rival) return new Problem('node_id_in_use', rivalText(rival))
}

/** A spool that is busy takes events again with its next commit, long before anybody has acted on the answer. */
function refusalOf(spool: Spool, nowUs: number): Problem | undefined {
  const fault = spool.fault() ?? (isStuck(spool, nowUs) ? 'stuck' : undefined)
  if (fault !== undefined) return new Problem(fault === 'stuck' ? 'disk_failed' : fault, SPOOL_FAULTS[fault])
  const refusal = spool.refusal()
  if (refusal !== undefined && refusal !== 'busy') return SPOOL_REFUSALS[refusal]()
}

const SPOOL_FAULTS = {
  spool_missing: 'The directory of a spool was deleted. Restore DATA_DIR and start Stint again.',
  disk_failed: 'The last write to the disk failed. It is tried again each second.',
  stuck: 'The disk has not finished a write for a minute.',
}

/** Faults of a Stint that is ready, a line each. */
export const notesOf = (rooms: Rooms): string[] => [...refused(rooms), ...unreadable(rooms)]

const refused = ({ spools, stampClock }: Rooms): string[] =>
  DESTINATIONS.flatMap((destination) => {
    const problem = refusalOf(spools[destination], stampClock.nowUs())
    return problem === undefined ? [] : [`${destination} are refused: ${problem.code}`]
  })

/** Files of the spools that the disk cannot read, by their names below DATA_DIR: everybody may ask. */
function unreadable({ spools }: Rooms): string[] {
  return DESTINATIONS.flatMap((destination) => {
    const path = spools[destination].stats().unreadable
    if (path === undefined) return []
    return [`${join('spool', destination, basename(path))} cannot be read: delivery waits for it`]
  })
}
