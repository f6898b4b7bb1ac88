// Sends events to /v1/batch. Events that are refused because the clock of this host is wrong are sent again with the
// time that they have by Stint's clock.

import { toBatch, toEvent } from '../../client/batch.ts'
import {
  type Answer,
  correctTime,
  describeAhead,
  describeVerdict,
  isRefusedForTime,
  judgeAnswer,
  newerReading,
  readAhead,
  type Verdict,
} from '../../client/judge-answer.ts'
import type { Clock } from '../../clock.ts'
import type { EVENT_BODIES } from '../../wire/events.ts'
import { describeFetchFault, isPassingFault } from '../fetch-fault.ts'

/** The kind of an event and the fields of its body. */
export interface OutgoingEvent {
  readonly kind: keyof typeof EVENT_BODIES
  readonly body: Readonly<Record<string, unknown>>
}

/** As it stands in a batch. */
export const formatEvent = ({ kind, body }: OutgoingEvent): string => toEvent(kind, JSON.stringify(body))

export interface Target {
  /** Stint's address, without a trailing slash. */
  readonly url: string
  readonly keyHeader: string
  readonly key: string | undefined
  /** Why the given key cannot be used. */
  readonly keyFault?: string
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Outcome {
  /** The event as it was sent last. */
  readonly event: string
  readonly verdict: Verdict
}

export type BatchSender = ReturnType<typeof createBatchSender>

const NO_KEY = 'no API key; set STINT_API_KEY, or api_key in ~/.config/stint.json'
/** Nobody is there: waiting does not help. */
const AWAY = 'waits'

export function createBatchSender(target: Target, fetch: Fetch, clock: Clock) {
  const { url, keyHeader, key, keyFault = NO_KEY } = target
  let aheadMs: number | undefined
  let hasCorrected = false

  async function post(events: readonly string[], signal: AbortSignal): Promise<Verdict[]> {
    const none = (words: string, is: Verdict['is']) =>
      events.map(() => ({ is, status: 0, retryAfterMs: 0, words, faults: [] }))
    if (key === undefined) return none(keyFault, AWAY)
    try {
      const sentMs = clock.wallUs() / 1000
      const response = await fetch(`${url}/v1/batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [keyHeader]: key },
        body: toBatch(events),
        redirect: 'manual', // the key is for this server
        signal,
      })
      const retryAfterMs = Number(response.headers.get('retry-after')) * 1000 || 0
      const answer: Answer = { status: response.status, retryAfterMs, text: await response.text() }
      aheadMs = newerReading(aheadMs, readAhead(response.headers.get('date'), sentMs, clock.wallUs() / 1000))
      return judgeAnswer(answer, events.length)
    } catch (error) {
      const words = `cannot reach Stint at ${url} (${describeFetchFault(error)})`
      return none(words, isPassingFault(error) ? 'again' : AWAY)
    }
  }

  return {
    /** One outcome per event, each a JSON text. Never rejects. Pass `signal` to give up. */
    async send(events: readonly string[], signal: AbortSignal): Promise<Outcome[]> {
      const outcomes = (await post(events, signal)).map((verdict, i) => ({ event: events[i]!, verdict }))
      const corrected = outcomes.flatMap(({ event, verdict }, i) => {
        const again = isRefusedForTime(verdict) ? correctTime(event, aheadMs) : undefined
        return again === undefined ? [] : [{ i, event: again }]
      })
      if (corrected.length === 0) return outcomes
      hasCorrected = true
      const verdicts = await post(
        corrected.map(({ event }) => event),
        signal,
      )
      for (const [n, { i, event }] of corrected.entries()) outcomes[i] = { event, verdict: verdicts[n]! }
      return outcomes
    },
    /** Why an event was not stored. */
    describe(verdict: Verdict): string {
      const text = describeVerdict(verdict, (field) => (field === '' ? '' : `--${field}`))
      return verdict.status === 0 ? text : `${url} ${text}`
    },
    /** The fault of the clock of this host, if it has one. */
    clockFault: (): string | undefined => (hasCorrected && aheadMs !== undefined ? describeAhead(aheadMs) : undefined),
  }
}
