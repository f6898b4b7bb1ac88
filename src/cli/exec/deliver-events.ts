// The events of one job on their way: each is sent when it happens, and what Stint has not answered in time is kept in a file.
// A job never waits for Stint. After its end at most WAIT_MS go by, the writing of a file among them.
import type { Clock } from '../../clock.ts'
import type { OutgoingEvent } from './job-events.ts'
import type { PendingEvents } from './pending-events.ts'
import { type Fetch, type Outcome, sendEvent, type Target } from './send-event.ts'

export interface Delivery {
  /** Resolves with what became of it; never rejects. */
  send(event: OutgoingEvent): Promise<Outcome>
  /** Sends the last events and resolves soon, whatever Stint does. */
  finish(events: readonly OutgoingEvent[]): Promise<DeliveryReport>
}

export interface DeliveryReport {
  /** Events that stay in files. */
  readonly kept: number
  /** Events that are nowhere: neither sent nor kept. */
  readonly lost: number
  /** The oldest files that had to go to make room for ours. */
  readonly displaced: number
  /** Why events were kept, refused or lost; empty when nothing but a little time was lacking. */
  readonly reasons: readonly string[]
  /** Does Stint refuse to take events now? Otherwise it may only be slow. */
  readonly isAway: boolean
}

export interface DeliveryDeps {
  readonly target: Target
  readonly fetch: Fetch
  readonly pending: PendingEvents
  readonly clock: Clock
  /** Ends every request when the process is about to end. */
  readonly signal: AbortSignal
}

/** After the job's end: until a file is written, and until we leave. */
const FILE_AFTER_MS = 8
const WAIT_MS = 20
/** While the job runs: until what is not answered well is kept in a file, in case we are killed. */
const KEEP_AFTER_MS = 1000
const TIMEOUT_MS = 30_000
/** Stint failed so lately, or has been silent for so long, that asking again is of no use. */
const FAILED_LATELY_US = 5_000_000
const SILENT_US = 250_000
/** Silence that is told. */
const TOLD_SILENCE_US = 1_000_000

interface Parcel {
  readonly event: OutgoingEvent
  readonly sentUs: number
  outcome: Outcome | undefined
  answeredUs: number
  /** Where it is kept. */
  file: string | undefined
  answered: Promise<Outcome | undefined>
}

export function createDelivery({ target, fetch, pending, clock, signal }: DeliveryDeps): Delivery {
  const parcels: Parcel[] = []
  const faults: string[] = []
  let displaced = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function dispatch(event: OutgoingEvent): Parcel {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
    const parcel: Parcel = {
      event,
      sentUs: clock.monotonicUs(),
      outcome: undefined,
      answeredUs: 0,
      file: undefined,
      answered: sendEvent(event, target, fetch, limit).then((outcome) => {
        parcel.outcome = outcome
        parcel.answeredUs = clock.monotonicUs()
        return outcome
      }),
    }
    parcels.push(parcel)
    return parcel
  }

  /** In one file, so that one fsync keeps them all. */
  function keep(open: readonly Parcel[]): void {
    if (open.length === 0) return
    try {
      const events = open.map(({ event }) => event)
      const added = pending.add(events, target.url, clock.wallUs())
      displaced += added.dropped
      for (const parcel of open) parcel.file = added.file
    } catch (error) {
      faults.push(`they cannot be written (${(error as NodeJS.ErrnoException).code ?? error})`)
    }
  }

  /** A file goes when all of it is answered for good. */
  function settleFiles(): void {
    for (const [file, inside] of Map.groupBy(parcels, (parcel) => parcel.file)) {
      if (file === undefined) continue
      const open = inside.filter(isOpen)
      if (open.length === 0) pending.remove(file)
      else if (inside.some(({ outcome }) => outcome?.is === 'refused')) {
        const fresh = pending.replace(
          file,
          open.map(({ event }) => ({ ...event, url: target.url })),
        )
        for (const parcel of inside) parcel.file = isOpen(parcel) ? fresh : undefined
      }
    }
  }

  /** Judged by the latest news. */
  function isHopeless(): boolean {
    const now = clock.monotonicUs()
    return parcels.some(({ outcome, answeredUs, sentUs }) =>
      outcome === undefined ? now - sentUs > SILENT_US : outcome.is === 'kept' && now - answeredUs < FAILED_LATELY_US,
    )
  }

  return {
    async send(event) {
      const parcel = dispatch(event)
      timer = setTimeout(() => {
        if (isOpen(parcel)) keep([parcel])
      }, KEEP_AFTER_MS)
      await parcel.answered
      if (!isOpen(parcel)) {
        clearTimeout(timer)
        if (!signal.aborted) settleFiles()
      }
      return parcel.outcome!
    },
    async finish(events) {
      clearTimeout(timer)
      const since = clock.monotonicUs()
      const hopeless = isHopeless()
      const late = hopeless ? events.map((event) => unsent(event, since)) : events.map(dispatch)
      if (hopeless) parcels.push(...late)
      const all = Promise.all(parcels.map(({ answered }) => answered))
      const within = (ms: number) =>
        Promise.race([all, Bun.sleep(Math.max(0, ms - (clock.monotonicUs() - since) / 1000))])

      if (!hopeless) await within(FILE_AFTER_MS)
      keep(parcels.filter((parcel) => isOpen(parcel) && parcel.file === undefined))
      if (!hopeless) await within(WAIT_MS)
      settleFiles()
      return report()
    },
  }

  function report(): DeliveryReport {
    const now = clock.monotonicUs()
    const open = parcels.filter(isOpen)
    const answered = parcels.filter(({ outcome }) => outcome !== undefined).sort((a, b) => a.answeredUs - b.answeredUs)
    const reasons = answered.flatMap(({ outcome }) =>
      outcome === undefined || outcome.is === 'stored' ? [] : [outcome.why],
    )
    const silentUs = Math.max(0, ...open.map(({ outcome, sentUs }) => (outcome === undefined ? now - sentUs : 0)))
    if (silentUs > TOLD_SILENCE_US) reasons.push(`${target.url} has not answered`)
    return {
      kept: open.filter(({ file }) => file !== undefined).length,
      lost: open.filter(({ file }) => file === undefined).length,
      displaced,
      reasons: [...new Set([...reasons, ...faults])],
      isAway: answered.at(-1)?.outcome?.is === 'kept',
    }
  }
}

/** Neither stored nor refused: somebody has to send it again. */
const isOpen = ({ outcome }: Parcel) => outcome === undefined || outcome.is === 'kept'

const unsent = (event: OutgoingEvent, us: number): Parcel => ({
  event,
  sentUs: us,
  outcome: undefined,
  answeredUs: us,
  file: undefined,
  answered: Promise.resolve(undefined),
})
