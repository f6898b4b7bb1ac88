// From a checked body to a durable event: its own time or the time of arrival, the budget of series, the spool.
import type { SeriesAdmission } from '../../account/series-budget.ts'
import { type Destination, destinationOf, type Event, type EventKind } from '../../event/event.ts'
import { type EventBody, eventFromBody } from '../../event/from-body.ts'
import { ownTimeFault, ownTimeUs } from '../../event/own-time.ts'
import { toRecord } from '../../event/record.ts'
import type { Stamp } from '../../event/stamp.ts'
import { Problem } from '../../problem.ts'
import type { Spool } from '../../spool/spool.ts'
import { SpoolError } from '../../spool/spool-error.ts'
import type { GivenStamps } from '../../state/given-stamps.ts'
import { SPOOL_REFUSALS } from './intake-gate.ts'

export interface IntakeDeps {
  readonly spools: Readonly<Record<Destination, Pick<Spool, 'append' | 'refusal' | 'backpressure'>>>
  readonly givenStamps: GivenStamps
  /** Lane 1 of this node: 2·NODE_ID + 1. */
  readonly ownTimeSub: number
  readonly maxAgeUs: number
  wallUs(): number
  /** May these series be written? Counts them in when they are new. */
  admitSeries(event: Event): SeriesAdmission
  /** Resolves when the series that have begun are known to the next start, too. */
  seriesNoted(): Promise<void>
  countAccepted(kind: EventKind, events: number): void
}

const NO_STAMP: Stamp = { us: 0, sub: 0 }

/** An event that brings its own time gets the stamp that this time and content have for good. Rejects with a Problem. */
export async function eventOfOwnTime(
  kind: EventKind,
  body: EventBody,
  at: string,
  account: string,
  deps: IntakeDeps,
): Promise<Event> {
  const us = ownTimeUs(at)
  const detail = ownTimeFault(us, deps.wallUs(), deps.maxAgeUs)
  if (detail !== undefined)
    throw new Problem('fields_invalid', 'The event cannot have this time.', { errors: [{ pointer: '/at', detail }] })
  const unstamped = eventFromBody(kind, body, account, NO_STAMP)
  // Before the claim, which is kept: what is refused anyway must not fill the table.
  const refusal = refuseEvent(unstamped, deps)
  if (refusal !== undefined) throw refusal
  try {
    const claimedUs = await deps.givenStamps.claim(us, toRecord(inOneOrder(unstamped)))
    return { ...unstamped, stamp: { us: claimedUs, sub: deps.ownTimeSub } }
  } catch (cause) {
    throw diskProblem(cause)
  }
}

/** The same metrics in another order are the same event. */
const inOneOrder = (event: Event): Event =>
  event.kind === 'metrics' ? { ...event, items: [...event.items].sort(([a], [b]) => (a < b ? -1 : 1)) } : event

/** Exceptions make no series: they go to ClickHouse, whatever takes the points. */
const admitSeries = (event: Event, deps: IntakeDeps): SeriesAdmission =>
  event.kind === 'exception' ? 'known' : deps.admitSeries(event)

function refuseEvent(event: Event, deps: IntakeDeps): Problem | undefined {
  const refusal = deps.spools[destinationOf(event.kind)].refusal()
  if (refusal !== undefined) return SPOOL_REFUSALS[refusal]()
  return admitSeries(event, deps) === 'spent' ? seriesBudgetSpent() : undefined
}

/**
 * Hands an event to its spool. The promise settles with the commit and, unless the event begins a series, is shared by all events of it;
 * what it rejects with becomes a Problem by `diskProblem`. A Problem instead when the account's budget of series is spent. `arrivedUs` is a
 * reading of the stamp clock, no earlier than any stamp of lane 0 that the event bears: the spool remembers it as the floor of the next start.
 */
export function appendEvent(event: Event, arrivedUs: number, deps: IntakeDeps): Promise<void> | Problem {
  const series = admitSeries(event, deps)
  if (series === 'spent') return seriesBudgetSpent()
  const commit = deps.spools[destinationOf(event.kind)].append(toRecord(event), arrivedUs)
  return series === 'begun' ? Promise.all([commit, deps.seriesNoted()]).then(() => {}) : commit
}

const seriesBudgetSpent = () =>
  new Problem(
    'series_budget_spent',
    'This account has used up its distinct combinations of process, meta and metric name.',
    {
      errors: [
        { pointer: '', detail: 'would begin a new series beyond the budget; reuse process, meta and metric names' },
      ],
    },
  )

/** What a spool rejected an append with, as the answer to the request. */
export function diskProblem(cause: unknown): Problem {
  if (cause instanceof SpoolError && cause.code !== 'disk_failed') return SPOOL_REFUSALS[cause.code]()
  return new Problem('disk_failed', 'Writing to the disk failed; nothing was accepted. Send the event again.', {
    cause,
  })
}
