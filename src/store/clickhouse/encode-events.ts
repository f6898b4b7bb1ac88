// Events → lines of JSONCompactEachRow, columns by position (tables.ts). DateTime64(9) takes ns as text: no number can.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, systemClock } from '../../clock.ts'
import { type Event, type Family, familyOf, markName, ownValue, type Text } from '../../event/event.ts'
import { type FingerprintOf, rememberFingerprints } from '../../event/fingerprint.ts'
import { contentOf } from '../../event/identity.ts'
import { formatTime, type Stamp, timeUs } from '../../event/stamp.ts'

/**
 * Fingerprints of a batch of exceptions take up to a second, and requests must not wait for all of them. The longest
 * turn is this and one event, which takes at most a ms or two.
 */
const TURN_US = 1000
/** Reading the clock costs as much as encoding a mark. */
const EVENTS_PER_LOOK = 16

interface EncodeOptions {
  /** One line per request's metrics, names and values as arrays: parsing text is most of an insert. */
  readonly groupsMetrics?: boolean
  /** Absent: texts that repeat are remembered for these events alone. */
  readonly fingerprintOf?: FingerprintOf
  readonly clock?: Pick<Clock, 'monotonicUs'>
}

/** Lines per table. Gives way to other work every ms. */
export async function toRows(
  events: readonly Event[],
  { groupsMetrics = false, fingerprintOf = rememberFingerprints(), clock = systemClock }: EncodeOptions = {},
): Promise<Map<Family, string[]>> {
  const tables = new Map<Family, string[]>()
  let turnBegan = clock.monotonicUs()
  for (const [i, event] of events.entries()) {
    const isDue = event.kind === 'exception' || i % EVENTS_PER_LOOK === 0
    if (isDue && clock.monotonicUs() - turnBegan >= TURN_US) {
      await nextTurn()
      turnBegan = clock.monotonicUs()
    }
    pushRows(tables, event, fingerprintOf, groupsMetrics)
  }
  return tables
}

function pushRows(
  tables: Map<Family, string[]>,
  event: Event,
  fingerprintOf: FingerprintOf,
  groupsMetrics: boolean,
): void {
  const { account, process, meta, uid = '', stamp } = event
  // The rows of a request's metrics differ in name and value alone.
  const who = JSON.stringify([account, process, meta, uid]).slice(0, -1)
  const when = `"${toDateTime64(stamp)}",${stampRest(stamp)},"${contentColumn(event)}"]`
  const push = (table: Family, own: string) => {
    const line = `${who},${own},${when}`
    const lines = tables.get(table)
    if (lines === undefined) tables.set(table, [line])
    else lines.push(line)
  }
  switch (event.kind) {
    case 'start':
    case 'end':
      push('marks', `"${markName(event)}"`)
      break
    case 'metrics':
      if (groupsMetrics) {
        const [names, values] = [event.items.map(([name]) => name), event.items.map(([, value]) => value)]
        push('metrics', `${JSON.stringify(names)},${JSON.stringify(values)}`)
      } else for (const [name, value] of event.items) push('metrics', `${JSON.stringify(name)},${value}`)
      break
    case 'exception':
      push('exceptions', `${JSON.stringify(event.exception)},"${fingerprintOf(event.exception)}"`)
      break
    default:
      push(familyOf(event.kind), JSON.stringify(ownValue(event satisfies Text)))
  }
}

/** `2026-11-20 21:52:42.171920000`: the one form that every version reads in the column's zone, UTC. */
const toDateTime64 = (stamp: Stamp): string => formatTime(stamp).slice(0, -1).replace('T', ' ')

/** The difference between the stamp and the event's time, in ns: less than a second. */
const stampRest = (stamp: Stamp): number => (stamp.us - timeUs(stamp)) * 1000 + stamp.sub

/** A stamp given at arrival (lane 0, even) is unique; an event with its own time is also told apart by its content. */
const contentColumn = (event: Event): string =>
  event.stamp.sub % 2 === 0 ? '0' : String(event.content ?? contentOf(event))
