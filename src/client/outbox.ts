// Events between the caller and the server. Invariants:
//   1. `add` never throws and never waits; one loop sends, one batch at a time, the oldest first;
//   2. an event leaves by exactly one of: stored by the server, dropped with a reason, kept in the backlog for later;
//   3. an event is serialised once, so that every try sends the same bytes and the server stores it once;
//   4. what waits in memory is at most `maxBytes`, the batch in hand included.
// The rules of delivery are one generator with two drivers: `work` runs it in the background, `leave` at the end of
// the process, where nothing asynchronous happens any more.
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import type { Backlog, Segment } from './backlog.ts'
import { monotonicMs } from './event-times.ts'
import type { Answer } from './post.ts'
import type { Settings } from './settings.ts'

export interface Item {
  /** The event as one line of a batch. */
  readonly line: string
  /** The file in which it is kept in case of a crash. */
  readonly segment: Segment | undefined
}

export interface Outbox {
  add(kind: string, body: string): void
  /** Resolves to whether all events added so far were settled within the time. */
  flush(withinMs: number): Promise<boolean>
  isEmpty(): boolean
  /** At the very end: sends within the time, synchronously; drops what is then neither settled nor in the backlog. */
  leave(withinMs: number, sendNow: (body: Uint8Array, timeoutMs: number) => Answer, sleep: (ms: number) => void): void
}

/** What the delivery asks of its driver: to send a text, or to wait for some ms. */
type Step = string | number

type Settling = Pick<Settings, 'flushMs' | 'maxBytes'>

const BATCH_EVENTS = 1000
const BATCH_CHARACTERS = 2 ** 19
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 60_000
/** Beyond this the server's own wish is not followed. */
const MAX_RETRY_AFTER_MS = 300_000
/** A flush tries a last time this long before its time is over. */
const LAST_TRY_MS = 500

const GIVEN_UP = 'the process ended before Stint accepted it'

const pack = promisify(gzip)

/** Another try may end differently. */
const isPassing = (status: number) =>
  status === 0 || status === 408 || status === 425 || status === 429 || status >= 500

/** The event itself is at fault; with a backlog all other refusals can wait until somebody has fixed key or address. */
const isFinal = (status: number) => status === 413 || status === 422

export function createOutbox(
  { flushMs, maxBytes }: Settling,
  send: (body: Uint8Array) => Promise<Answer>,
  backlog: Backlog | undefined,
  drop: (line: string, reason: string) => void,
): Outbox {
  const waiting: Item[] = []
  let inHand: readonly Item[] = []
  let bytes = 0
  let added = 0
  let settled = 0
  let isWorking = false
  let tries = 0
  /** Until when somebody waits in `flush` or `leave`. */
  let hurryUntil = 0
  /** Of the last attempt. */
  let fault = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  let endPause: (() => void) | undefined
  let waiters: { readonly upTo: number; readonly resolve: () => void }[] = []

  function push(item: Item): void {
    waiting.push(item)
    bytes += item.line.length
    added++
  }

  function settle(items: readonly Item[]): void {
    for (const { line, segment } of items) {
      bytes -= line.length
      if (segment !== undefined) backlog?.settle(segment)
    }
    settled += items.length
    waiters = waiters.filter(({ upTo, resolve }) => settled < upTo || resolve())
  }

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const pausing = setTimeout(resolve, ms)
      pausing.unref()
      endPause = () => {
        clearTimeout(pausing)
        resolve()
      }
    })

  /** As many as fit one request. */
  function take(): Item[] {
    let [events, characters] = [0, 0]
    while (events < Math.min(waiting.length, BATCH_EVENTS) && characters < BATCH_CHARACTERS)
      characters += waiting[events++]!.line.length
    return waiting.splice(0, events)
  }

  /** Drops what the answer refuses for good and returns what must be sent again. */
  function judge(items: readonly Item[], { status, text }: Answer): readonly Item[] {
    if (status === 201) return []
    const parsed = parse(text)
    if (status === 207) {
      const answers = parsed?.items ?? []
      return items.filter(({ line }, i) => {
        const answer = answers[i]
        const refused = answer?.status
        if (refused === undefined) return answer === undefined
        if (!isPassing(refused)) drop(line, describe(refused, answer))
        return isPassing(refused)
      })
    }
    if (isPassing(status) || (backlog !== undefined && !isFinal(status))) return items
    for (const [i, { line }] of items.entries()) drop(line, describe(status, parsed, i))
    return []
  }

  const because = (reason: string) => (fault === '' ? reason : `${reason}: ${fault}`)

  /** One batch, until none of it has to be sent again. */
  function* deliver(): Generator<Step, void, Answer | undefined> {
    if (inHand.length === 0) inHand = take()
    while (inHand.length > 0) {
      const sent = inHand
      const answer = (yield `[${sent.map(({ line }) => line).join()}]`)!
      if (inHand !== sent) return // `leave` took it over
      fault = faultOf(answer)
      const again = judge(sent, answer)
      if (again.length < sent.length) {
        const left = new Set(again)
        inHand = again
        settle(sent.filter((item) => !left.has(item)))
        tries = 0
      }
      if (inHand.length > 0) yield pauseMs(answer.retryAfterMs)
    }
  }

  function pauseMs(retryAfterMs: number): number {
    const backOff = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries++) * (0.5 + Math.random() / 2)
    const wait = Math.max(backOff, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS))
    const spare = hurryUntil - monotonicMs() - LAST_TRY_MS
    return spare > 0 ? Math.min(wait, spare) : wait
  }

  async function deliverInBackground(): Promise<void> {
    const steps = deliver()
    for (let { value, done } = steps.next(); !done; ) {
      if (typeof value === 'number') await pause(value)
      const answer = typeof value === 'string' ? await send(await pack(value)) : undefined
      ;({ value, done } = steps.next(answer))
    }
  }

  async function work(): Promise<void> {
    timer = undefined
    if (isWorking) return
    isWorking = true
    try {
      for (;;) {
        while (inHand.length + waiting.length > 0) await deliverInBackground()
        const found = backlog?.adopt()
        if (found === undefined) break
        found.forEach(push)
      }
    } finally {
      isWorking = false
    }
  }

  function start(ms: number): void {
    if (isWorking || (timer !== undefined && ms > 0)) return
    clearTimeout(timer)
    timer = setTimeout(() => void work(), ms)
    timer.unref()
  }

  return {
    add(kind, body) {
      const line = `{"kind":"${kind}",${body.slice(1)}`
      const isFull = bytes + line.length > maxBytes
      const segment = backlog?.keep(kind, body, isFull)
      if (isFull) {
        if (segment === undefined) drop(line, because('too many events are waiting'))
        return
      }
      push({ line, segment })
      start(waiting.length >= BATCH_EVENTS || bytes >= BATCH_CHARACTERS ? 0 : flushMs)
    },
    flush(withinMs) {
      const upTo = added
      if (settled >= upTo) return Promise.resolve(true)
      hurryUntil = Math.max(hurryUntil, monotonicMs() + withinMs)
      tries = 0
      start(0)
      endPause?.()
      return new Promise((resolve) => {
        const limit = setTimeout(resolve, withinMs, false) // referenced: it holds the process for us
        waiters.push({
          upTo,
          resolve: () => {
            clearTimeout(limit)
            resolve(true)
          },
        })
      })
    },
    isEmpty: () => settled === added,
    leave(withinMs, sendNow, sleep) {
      const until = monotonicMs() + withinMs
      const hasTime = (ms = 0) => monotonicMs() + ms < until
      hurryUntil = until
      tries = 0
      inHand = [...inHand] // the background's batch is ours now
      try {
        for (let isDone = false; hasTime() && inHand.length + waiting.length > 0 && !isDone; ) {
          const steps = deliver()
          for (let { value, done } = steps.next(); !done; ) {
            isDone = typeof value === 'number' ? !hasTime(value) : !hasTime()
            if (isDone) break
            if (typeof value === 'number') sleep(value)
            const answer = typeof value === 'string' ? sendNow(gzipSync(value), until - monotonicMs()) : undefined
            ;({ value, done } = steps.next(answer))
          }
        }
      } catch (error) {
        fault = `${error}`
      }
      const left = [...inHand, ...waiting.splice(0)]
      inHand = []
      for (const { line, segment } of left) if (segment === undefined) drop(line, because(GIVEN_UP))
      settled = added
    },
  }
}

interface Problem {
  readonly title?: string
  readonly detail?: string
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[]
  readonly items?: readonly (Problem & { readonly status?: number })[]
}

function parse(text: string): Problem | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Empty for a success. */
const faultOf = ({ status, text }: Answer): string =>
  status === 0 ? text : status === 201 || status === 207 ? '' : describe(status, parse(text))

/** The server's own words; of a whole batch only those about the event at `index`. */
function describe(status: number, problem: Problem | undefined, index?: number): string {
  const faults = problem?.errors
    ?.filter(({ pointer }) => index === undefined || `${pointer}/`.startsWith(`/${index}/`))
    .map(({ pointer, detail }) => `${pointer.replace(/^\/\d+\/?/, '')} ${detail}`)
  const words = [problem?.detail ?? problem?.title, ...(faults ?? [])].filter(Boolean)
  return `the server answered ${status}: ${words.join('; ')}`
}
