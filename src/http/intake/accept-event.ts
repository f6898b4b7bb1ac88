// Turns a draft into a durable event: its own time or the time of arrival, the series limit, the spool.
import type { Arrivals } from '../../event/arrivals.ts'
import { type Destination, destinationOf, type Event, type EventKind } from '../../event/event.ts'
import type { OwnStamps } from '../../event/own-stamps.ts'
import type { OwnTimes } from '../../event/own-time.ts'
import { type Draft, outputOf, toEvent } from '../../event/parse-event.ts'
import { toRecord } from '../../event/record.ts'
import type { Stamp } from '../../event/stamp.ts'
import { Problem } from '../../problem.ts'
import type { Spool } from '../../spool/spool.ts'
import { SpoolError } from '../../spool/spool-error.ts'
import { SPOOL_REFUSALS } from './intake-gate.ts'

export interface IntakeDeps extends OwnTimes {
  readonly arrivals: Arrivals
  readonly spools: Readonly<Record<Destination, Pick<Spool, 'append' | 'refusal' | 'backpressure'>>>
  readonly ownStamps: OwnStamps
  /** May these series be written? Counts them in when they are new. */
  admitSeries(event: Event): boolean
  /** `arrivedUs`, of a request with a single event: the stamp clock at its arrival. */
  countAccepted(kind: EventKind, events: number, arrivedUs?: number): void
}

/** An event being written: acknowledge it when `done` resolves; `diskProblem` turns a rejection into a Problem. */
export interface Appended {
  readonly event: Event
  /** Its output is an event beside it. */
  readonly output?: Event
  readonly done: Promise<void>
}

/**
 * Appends an event to its spool, and the output of an end to that of the exceptions. `done` settles with the commit; all
 * its events share it, except one that was moved from its own time. Returns a Problem when the account's series limit is
 * reached. `arrival`, a reading of the stamp clock, stamps events without their own time; the spool keeps `arrivedUs` as the
 * floor of the next start.
 */
export function appendDraft(
  draft: Draft,
  account: string,
  arrival: Stamp,
  deps: IntakeDeps,
  arrivedUs = arrival.us,
): Appended | Problem {
  const said = outputOf(draft)
  if (said === undefined) return appendOne(draft, account, arrival, deps, arrivedUs)
  // before either is stored: an end that is sent again is a second one
  const refusal = deps.spools.points.refusal(account) ?? deps.spools.exceptions.refusal(account)
  if (refusal !== undefined) return SPOOL_REFUSALS[refusal]()
  const end = appendOne(draft, account, arrival, deps, arrivedUs)
  if (end instanceof Problem) return end
  const output = appendOne(said, account, arrival, deps, arrivedUs) as Appended // no store of points takes it
  return { event: end.event, output: output.event, done: Promise.all([end.done, output.done]).then(() => {}) }
}

function appendOne(
  draft: Draft,
  account: string,
  arrival: Stamp,
  deps: IntakeDeps,
  arrivedUs: number,
): Appended | Problem {
  const arrived = toEvent(draft, account, arrival)
  // Points alone make series: the others go to ClickHouse, whatever takes the points.
  if (destinationOf(arrived.kind) === 'points' && !deps.admitSeries(arrived)) return seriesBudgetSpent()
  if (draft.atUs === undefined) return { event: arrived, done: append(arrived, arrivedUs, deps) }
  const { stamp, kept } = deps.ownStamps.claim(arrived, draft.atUs)
  const event = { ...arrived, stamp }
  if (kept === undefined) return { event, done: append(event, arrivedUs, deps) }
  // it arrives with its append: the watches have not waited for it
  return { event, done: kept.then(() => append(event, deps.arrivals.stamp().us, deps)) }
}

const append = (event: Event, arrivedUs: number, { spools }: IntakeDeps): Promise<void> =>
  spools[destinationOf(event.kind)].append(toRecord(event), arrivedUs, event.account)

const seriesBudgetSpent = () =>
  new Problem(
    'series_budget_spent',
    'This account has used up its distinct combinations of process, meta and metric name.',
    {
      errors: [
        { pointer: '', detail: 'would begin a new series beyond the limit; reuse process, meta and metric names' },
      ],
    },
  )

/** The answer to a request whose append was rejected. */
export function diskProblem(cause: unknown): Problem {
  if (cause instanceof SpoolError && cause.code !== 'disk_failed') return SPOOL_REFUSALS[cause.code]()
  const isRefused = cause instanceof SpoolError && !cause.mayBeKept
  const detail = isRefused
    ? 'Writing to the disk failed; nothing was accepted. Send the event again.'
    : 'Writing to the disk failed; the event may or may not have been accepted. ' +
      'Send it again; with `at` it is stored once.'
  return new Problem('disk_failed', detail, { cause })
}
