// Delivers the events of one job: each is sent when it happens, and any that Stint has not acknowledged in time is kept
// in a file. A job never waits for Stint: after its end at most WAIT_MS pass, including the writing of a file.
import type { Clock } from '../../clock.ts'
import type { PendingEvents } from './pending-events.ts'
import { type Fetch, type Outcome, type OutgoingEvent, sendEvent, type Target } from './send-event.ts'

export interface Delivery {
  /** Resolves to the outcome; never rejects. */
  send(event: OutgoingEvent): Promise<Outcome>
  /** Sends the last events and resolves soon, whatever Stint does. */
  finish(events: readonly OutgoingEvent[]): Promise<DeliveryReport>
}

export interface DeliveryReport {
  /** Events that stay in files. */
  readonly kept: number
  /** Events neither sent nor kept. */
  readonly lost: number
  /** Oldest files removed to make room for ours. */
  readonly displaced: number
  /** Why events were kept, refused or lost; empty if all were sent or only a little time was missing. */
  readonly reasons: readonly string[]
  /** Stint takes no events now. Otherwise it may only be slow. */
  readonly isAway: boolean
}

export interface DeliveryDeps {
  readonly target: Target
  readonly fetch: Fetch
  readonly pending: PendingEvents
  readonly clock: Clock
}

/** After the job's end: until the file is written, and until we exit. */
const FILE_AFTER_MS = 8
const WAIT_MS = 20
/** While the job runs: until an event that is not acknowledged goes to a file, in case we are killed. */
const KEEP_AFTER_MS = 1000
const TIMEOUT_MS = 30_000
/** Trying again is pointless after a failure this recent, or a silence this long. */
const FAILED_LATELY_US = 5_000_000
const SILENT_US = 250_000
/** A silence worth a message. */
const LONG_SILENCE_US = 1_000_000

interface Parcel {
  readonly event: OutgoingEvent
  readonly sentUs: number
  outcome: Outcome | undefined
  answeredUs: number
  /** The file in which it is kept. */
  file: string | undefined
}

export function createDelivery({ target, fetch, pending, clock }: DeliveryDeps): Delivery {
  const parcels: Parcel[] = []
  const answers: Promise<void>[] = []
  const faults: string[] = []
  let displaced = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function add(event: OutgoingEvent): Parcel {
    const parcel = { event, sentUs: clock.monotonicUs(), outcome: undefined, answeredUs: 0, file: undefined }
    parcels.push(parcel)
    return parcel
  }

  async function dispatch(parcel: Parcel): Promise<void> {
    parcel.outcome = await sendEvent(parcel.event, target, fetch, AbortSignal.timeout(TIMEOUT_MS))
    parcel.answeredUs = clock.monotonicUs()
  }

  /** Keeps what is open in one file, so that one fsync is enough. */
  function keep(open: readonly Parcel[]): void {
    if (open.length === 0) return
    try {
      const events = open.map(({ event }) => event)
      const added = pending.add(events, target.url, clock.wallUs())
      displaced += added.dropped
      for (const parcel of open) parcel.file = added.file
    } catch (error) {
      faults.push(`cannot write them (${(error as NodeJS.ErrnoException).code ?? error})`)
    }
  }

  /** Removes each file whose events are all acknowledged or refused. The flush resends the others whole. */
  function removeSettled(): void {
    for (const [file, inside] of Map.groupBy(parcels, (parcel) => parcel.file))
      if (file !== undefined && !inside.some(isOpen)) pending.remove(file)
  }

  const isHopeless = (now: number) =>
    parcels.some(({ outcome, answeredUs, sentUs }) =>
      outcome === undefined ? now - sentUs > SILENT_US : outcome.is === 'kept' && now - answeredUs < FAILED_LATELY_US,
    )

  return {
    async send(event) {
      const parcel = add(event)
      timer = setTimeout(() => isOpen(parcel) && keep([parcel]), KEEP_AFTER_MS)
      const answered = dispatch(parcel)
      answers.push(answered)
      await answered
      if (!isOpen(parcel)) {
        clearTimeout(timer)
        removeSettled()
      }
      return parcel.outcome!
    },
    async finish(events) {
      clearTimeout(timer)
      const since = clock.monotonicUs()
      const hopeless = isHopeless(since)
      const late = events.map(add)
      if (!hopeless) answers.push(...late.map(dispatch))
      const all = Promise.all(answers)
      const within = (ms: number) =>
        hopeless || Promise.race([all, Bun.sleep(Math.max(0, ms - (clock.monotonicUs() - since) / 1000))])

      await within(FILE_AFTER_MS)
      keep(parcels.filter((parcel) => isOpen(parcel) && parcel.file === undefined))
      await within(WAIT_MS)
      removeSettled()
      return report()
    },
  }

  function report(): DeliveryReport {
    const now = clock.monotonicUs()
    const open = parcels.filter(isOpen)
    const lost = open.filter(({ file }) => file === undefined).length
    const outcomes = parcels
      .toSorted((a, b) => a.answeredUs - b.answeredUs)
      .flatMap(({ outcome }) => (outcome === undefined ? [] : [outcome]))
    const reasons = outcomes.flatMap((outcome) => (outcome.is === 'stored' ? [] : [outcome.why]))
    const isSilent = open.some(({ outcome, sentUs }) => outcome === undefined && now - sentUs > LONG_SILENCE_US)
    if (isSilent) reasons.push(`${target.url} has not answered`)
    return {
      kept: open.length - lost,
      lost,
      displaced,
      reasons: [...new Set([...reasons, ...faults])],
      isAway: outcomes.at(-1)?.is === 'kept',
    }
  }
}

/** Neither stored nor refused: it must be sent again. */
const isOpen = ({ outcome }: Parcel) => outcome === undefined || outcome.is === 'kept'
