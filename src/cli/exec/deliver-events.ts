// Delivers the events of one run. The start is sent beside the command, as often as it takes. The end and the exception
// are one request, with the start unless Stint has that already, and are waited for. What is not acknowledged then is
// in one file, and what is not after KEEP_AFTER_MS is there earlier, in case this process is killed.

import type { Backlog } from '../../client/backlog.ts'
import type { Verdict } from '../../client/judge-answer.ts'
import type { Clock } from '../../clock.ts'
import type { BatchSender } from './send-batch.ts'
import { sendKept } from './send-kept.ts'

export interface DeliveryReport {
  /** Events that are in a file. */
  readonly kept: number
  /** Events neither sent nor kept. */
  readonly lost: number
  /** Why events could not be written. */
  readonly lostBecause: unknown
  /** Oldest files removed to make room for ours. */
  readonly displaced: number
  /** Why events were kept or refused; empty if Stint has all. */
  readonly reasons: readonly string[]
}

interface DeliveryDeps {
  readonly sender: BatchSender
  readonly backlog: Backlog
  readonly clock: Clock
}

const KEEP_AFTER_MS = 300
const START_TIMEOUT_MS = 10_000
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 60_000
/** The first try's part of the time for the end: the connection of the start may have died meanwhile. */
const FIRST_TRY = 1 / 3
/** After a wait in vain nothing waits for a minute, and then this much for an hour: a second in a minute. */
const VAIN_MS = 60_000
const LONG_VAIN_MS = 3_600_000
const VAIN_WAIT_MS = 1000
/** For files of earlier runs, after the end of this one is stored. */
const KEPT_MS = 1000

/** No answer, or one that names the time at which Stint takes events again. */
const isPassing = ({ is, status, retryAfterMs }: Verdict) => is === 'again' && (status === 0 || retryAfterMs > 0)

interface Parcel {
  event: string
  isOpen: boolean
}

export function createDelivery({ sender, backlog, clock }: DeliveryDeps) {
  const parcels: Parcel[] = []
  const refusals = new Set<string>()
  const over = Promise.withResolvers<void>()
  const stop = new AbortController()
  let isOver = false
  let isTaking = false
  let why = ''
  let file: string | undefined
  let inFile = 0
  let fault: unknown
  let displaced = 0
  let keeping: ReturnType<typeof setTimeout> | undefined
  let earlier: Promise<unknown> | undefined

  const open = () => parcels.filter(({ isOpen }) => isOpen)
  const nowMs = () => clock.monotonicUs() / 1000
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, ms)))

  /** Sends all that is open. Returns what hinders most. */
  async function attempt(signal: AbortSignal): Promise<Verdict | undefined> {
    const sent = open()
    const outcomes = await sender.send(
      sent.map(({ event }) => event),
      signal,
    )
    let worst: Verdict | undefined
    for (const [i, { event, verdict }] of outcomes.entries()) {
      const parcel = sent[i]!
      if (verdict.is === 'stored' || verdict.is === 'refused') {
        parcel.isOpen = false
        isTaking = true
      } else {
        parcel.event = event
        if (worst?.is !== 'waits') worst = verdict
      }
      if (verdict.is === 'refused') refusals.add(sender.describe(verdict))
    }
    if (worst !== undefined) why = sender.describe(worst)
    else if (open().length === 0) settle()
    return worst
  }

  function settle(): void {
    clearTimeout(keeping)
    if (file !== undefined) backlog.remove(file)
    file = undefined
    inFile = 0
    const others = () => backlog.list().filter((path) => path !== file)
    earlier ??= sendKept(backlog, sender, stop.signal, others).catch(() => {}) // `stint flush` reports it
  }

  function keep(): void {
    const events = open().map(({ event }) => event)
    if (events.length === 0) return
    try {
      const written = backlog.write(events, file)
      file = written.path
      displaced += written.displaced
      inFile = events.length
    } catch (error) {
      fault ??= error
    }
  }

  const keepSoon = () => {
    keeping = setTimeout(keep, KEEP_AFTER_MS)
  }

  async function sendStart(): Promise<void> {
    keepSoon()
    for (let pauseMs = FIRST_PAUSE_MS; !isOver; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const worst = await attempt(AbortSignal.timeout(START_TIMEOUT_MS))
      if (worst === undefined) return
      await Promise.race([over.promise, sleep(pauseMs)])
    }
  }

  /**
   * A Stint that has taken an event of this run is waited for. However many steps a script has, one that hangs or is
   * full costs it a wait once and then a second in a minute.
   */
  function limitWait(waitMs: number): number {
    if (isTaking || !backlog.silence.isWithin(LONG_VAIN_MS)) return waitMs
    return backlog.silence.isWithin(VAIN_MS) ? 0 : Math.min(waitMs, VAIN_WAIT_MS)
  }

  /** Waits for an answer. One that says no is an answer, unless it says when to come again. */
  async function sendEnd(waitMs: number, hurry: AbortSignal): Promise<void> {
    const until = nowMs() + waitMs
    const hurried = new Promise<void>((resolve) => hurry.addEventListener('abort', () => resolve()))
    let worst: Verdict | undefined
    for (let pauseMs = FIRST_PAUSE_MS; !hurry.aborted && nowMs() < until; pauseMs *= 2) {
      const leftMs = until - nowMs()
      const limit = AbortSignal.timeout(Math.ceil(pauseMs === FIRST_PAUSE_MS ? leftMs * FIRST_TRY : leftMs))
      worst = await attempt(AbortSignal.any([limit, hurry]))
      if (worst === undefined || !isPassing(worst)) return
      const restMs = Math.max(pauseMs, worst.retryAfterMs)
      if (nowMs() + restMs > until) break
      await Promise.race([sleep(restMs), hurried])
    }
    if (worst !== undefined && isPassing(worst) && waitMs >= VAIN_WAIT_MS && !hurry.aborted) backlog.silence.note()
  }

  return {
    /** Sends the start, an event as a JSON text, without being waited for. */
    start(event: string): void {
      parcels.push({ event, isOpen: true })
      void sendStart()
    },
    /** Sends the last events; resolves when Stint has all, or after `waitMs`, or when `hurry` is aborted. */
    async finish(events: readonly string[], waitMs: number, hurry: AbortSignal): Promise<DeliveryReport> {
      isOver = true
      clearTimeout(keeping)
      over.resolve()
      for (const event of events) parcels.push({ event, isOpen: true })
      keepSoon()
      const limitMs = limitWait(waitMs)
      await sendEnd(limitMs, hurry)
      clearTimeout(keeping)
      keep()
      const left = open().length
      if (left === 0) {
        if (limitMs < waitMs) backlog.silence.forget()
        await Promise.race([earlier, sleep(KEPT_MS)])
      }
      stop.abort()
      const clockFault = sender.clockFault()
      return {
        kept: Math.min(left, inFile),
        lost: Math.max(0, left - inFile),
        lostBecause: fault,
        displaced,
        reasons: [
          ...refusals,
          ...(clockFault === undefined ? [] : [clockFault]),
          ...(left > 0 ? [why || 'Stint took no events a moment ago'] : []),
        ],
      }
    },
  }
}
