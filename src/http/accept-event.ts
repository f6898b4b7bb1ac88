// From a checked body to a durable event: its own time or the time of arrival, the budget of series, the spool.
import { type Destination, destinationOf, type Event, type EventKind } from '../event/event.ts'
import { type EventBody, eventFromBody } from '../event/from-body.ts'
import { ownTimeFault, ownTimeUs } from '../event/own-time.ts'
import { toRecord } from '../event/record.ts'
import type { Stamp } from '../event/stamp.ts'
import { Problem } from '../problem.ts'
import type { GivenStamps } from '../spool/given-stamps.ts'
import type { Spool } from '../spool/spool.ts'
import { SpoolError } from '../spool/spool-error.ts'
import type { Admission } from './intake-gate.ts'
import { SPOOL_REFUSALS } from './intake-gate.ts'

export interface IntakeDeps {
  readonly spools: Readonly<Record<Destination, Pick<Spool, 'append'>>>
  readonly givenStamps: GivenStamps
  /** Lane 1 of this node: 2·NODE_ID + 1. */
  readonly ownTimeSub: number
  readonly maxAgeUs: number
  wallUs(): number
  /** May these series be written? Counts them in when they are new. */
  admitSeries(event: Event): boolean
  countAccepted(kind: EventKind): void
}

const NO_STAMP: Stamp = { us: 0, sub: 0 }

/** Resolves with the event's stamp when it is on disk; rejects with a Problem. */
export async function acceptEvent(
  kind: EventKind,
  body: EventBody,
  admission: Admission,
  deps: IntakeDeps,
): Promise<Stamp> {
  const event =
    body.at === undefined
      ? eventFromBody(kind, body, admission.account, admission.stamp)
      : await eventOfOwnTime(kind, body, body.at, admission.account, deps)
  await spoolEvent(event, admission.stamp.us, deps)
  return event.stamp
}

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
  try {
    return { ...unstamped, stamp: { us: await deps.givenStamps.claim(us, toRecord(unstamped)), sub: deps.ownTimeSub } }
  } catch (cause) {
    throw diskProblem(cause)
  }
}

/** Resolves when the event is on disk; rejects with a Problem. `arrivedUs` is the time of its request. */
export async function spoolEvent(event: Event, arrivedUs: number, deps: IntakeDeps): Promise<void> {
  if (!deps.admitSeries(event)) throw seriesBudgetSpent()
  try {
    await deps.spools[destinationOf(event.kind)].append(toRecord(event), arrivedUs)
  } catch (cause) {
    throw diskProblem(cause)
  }
  deps.countAccepted(event.kind)
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

function diskProblem(cause: unknown): Problem {
  if (cause instanceof SpoolError && cause.code !== 'disk_failed') return SPOOL_REFUSALS[cause.code]()
  return new Problem('disk_failed', 'Writing to the disk failed; nothing was accepted. Send the event again.', {
    cause,
  })
}
