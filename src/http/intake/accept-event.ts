// Turns a draft into a durable event: its own time or the time of arrival, the series limit, the spool.
import type { Arrivals } from '../../event/arrivals.ts'
import { type Destination, destinationOf, END_TEXTS, type Event, type EventKind } from '../../event/event.ts'
import type { OwnStamps } from '../../event/own-stamps.ts'
import type { OwnTimes } from '../../event/own-time.ts'
import { type Draft, textsOf, toEvent } from '../../event/parse-event.ts'
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
  /** Why the quota of the account takes nothing now: no start or end (with its texts), or none of the others. */
  quotaRefusal(account: string, isMark: boolean): Problem | undefined
  /** May these series be written? Counts them in when they are new. */
  admitSeries(event: Event): boolean
  /** `arrivedUs`, of a request with a single event: the stamp clock at its arrival. */
  countAccepted(kind: EventKind, events: number, arrivedUs?: number): void
}

/** An event being written: acknowledge it when `done` resolves; `diskProblem` turns a rejection into a Problem. */
export interface Appended {
  readonly event: Event
  /** The texts of an end, each an event. */
  readonly texts?: readonly Event[]
  readonly done: Promise<void>
}

/**
 * Appends an event to its spool. The texts of an end are written first, and the end when they are on disk: an end that
 * was told and then sent again would be a second one. `done` settles with the commit; all its events share it, except
 * ends with texts and what was moved from its own time. Returns a Problem when the account's series limit is reached;
 * quota and rate are checked before. `arrival`, a reading of the stamp clock, stamps events without their own time; the
 * spool keeps `arrivedUs` as the floor of the next start.
 */
export function appendDraft(
  draft: Draft,
  account: string,
  arrival: Stamp,
  deps: IntakeDeps,
  arrivedUs = arrival.us,
): Appended | Problem {
  const said = textsOf(draft)
  if (said.length === 0) return appendOne(draft, account, arrival, deps, arrivedUs)
  const refusal = deps.spools.points.refusal(account) ?? deps.spools.exceptions.refusal(account)
  if (refusal !== undefined) return SPOOL_REFUSALS[refusal]()
  const end = claim(draft, account, arrival, deps)
  if (end instanceof Problem) return end
  // no store of points takes them
  const texts = said.map((text) => appendOne(text, account, arrival, deps, arrivedUs) as Appended)
  const done = Promise.all(texts.map((text) => text.done))
    .then(() => end.kept)
    .then(() => appendNow(end.event, deps).catch((cause: unknown) => Promise.reject(new EndNotStored(cause))))
  return { event: end.event, texts: texts.map(({ event }) => event), done }
}

function appendOne(
  draft: Draft,
  account: string,
  arrival: Stamp,
  deps: IntakeDeps,
  arrivedUs: number,
): Appended | Problem {
  const claimed = claim(draft, account, arrival, deps)
  if (claimed instanceof Problem) return claimed
  const { event, kept } = claimed
  // what waits arrives with its append: the watches have not waited for it
  const done = kept === undefined ? append(event, arrivedUs, deps) : kept.then(() => appendNow(event, deps))
  return { event, done }
}

interface Claimed {
  readonly event: Event
  /** Resolves when the event's move to a free stamp is remembered. */
  readonly kept: Promise<void> | undefined
}

function claim(draft: Draft, account: string, arrival: Stamp, deps: IntakeDeps): Claimed | Problem {
  const arrived = toEvent(draft, account, arrival)
  // Points alone make series: the others go to ClickHouse, whatever takes the points.
  if (destinationOf(arrived.kind) === 'points' && !deps.admitSeries(arrived)) return seriesBudgetSpent()
  if (draft.atUs === undefined) return { event: arrived, kept: undefined }
  const { stamp, kept } = deps.ownStamps.claim(arrived, draft.atUs)
  return { event: { ...arrived, stamp }, kept }
}

const append = (event: Event, arrivedUs: number, { spools }: IntakeDeps): Promise<void> =>
  spools[destinationOf(event.kind)].append(toRecord(event), arrivedUs, event.account)

const appendNow = (event: Event, deps: IntakeDeps): Promise<void> => append(event, deps.arrivals.stamp().us, deps)

/** The texts of an end are on disk, and the end is not. */
export class EndNotStored extends Error {
  constructor(override readonly cause: unknown) {
    super('the end was not stored')
  }
}

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

/** The answer to a request whose append was rejected. `parts`: events that the request was stored as. */
export function diskProblem(rejection: unknown, parts = 1): Problem {
  const isHalf = rejection instanceof EndNotStored
  const cause = isHalf ? rejection.cause : rejection
  if (!(cause instanceof SpoolError) || cause.code === 'disk_failed')
    return new Problem('disk_failed', `Writing to the disk failed; ${describeLoss(cause, isHalf, parts)}`, { cause })
  const { code, detail, retryAfterS } = SPOOL_REFUSALS[cause.code]()
  return new Problem(code, isHalf ? `${detail} ${HALF}` : detail, {
    cause,
    ...(retryAfterS !== undefined && { retryAfterS }),
  })
}

const TEXT = END_TEXTS.join(' or ')
const HALF = `The ${TEXT} was stored, the end was not. Send the event again; with \`at\` the ${TEXT} is stored once.`

function describeLoss(cause: unknown, isHalf: boolean, parts: number): string {
  const isRefused = cause instanceof SpoolError && !cause.mayBeKept
  if (isHalf && isRefused) return `t${HALF.slice(1)}`
  if (!isRefused) return 'the event may or may not have been accepted. Send it again; with `at` it is stored once.'
  return parts > 1
    ? 'a part of it may have been accepted. Send it again.'
    : 'the event was not accepted. Send it again.'
}
