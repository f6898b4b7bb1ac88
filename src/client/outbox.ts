// Events between the caller and the server. Invariants:
//   1. `add` never throws and never waits; one loop sends, one batch at a time, the oldest first;
//   2. an event leaves by exactly one of: stored by the server, dropped with a reason, kept in the backlog for later;
//   3. an event is serialised once, so that every try sends the same bytes and the server stores it once;
//   4. what waits in memory is at most `maxBytes`, the batch in hand included.
// The rules of delivery are one generator with two drivers: `work` runs it in the background, `leave` at the end of
// the process, where nothing asynchronous happens any more.
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { BATCH_CHARACTERS, BATCH_EVENTS, toBatch, toEvent } from './batch.ts'
import { monotonicMs } from './event-times.ts'
import {
  type Answer,
  correctTime,
  describeAhead,
  describeVerdict,
  isRefusedForTime,
  judgeAnswer,
  newerReading,
  type Verdict,
} from './judge-answer.ts'
import type { KeptEvents, KeptFile } from './kept-events.ts'
import { UNCONFIRMED } from './report.ts'
import type { Settings } from './settings.ts'

export interface Item {
  /** The event as one line of a batch. */
  line: string
  /** The file in which it is kept in case of a crash. */
  readonly file: KeptFile | undefined
  /** It has the time that it has by the server's clock. */
  isCorrected?: true
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

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 60_000
/** Beyond this the server's own wish is not followed. */
const MAX_RETRY_AFTER_MS = 300_000
/** A flush tries a last time this long before its time is over. */
const LAST_TRY_MS = 500

const pack = promisify(gzip)

export function createOutbox(
  { flushMs, maxBytes }: Settling,
  send: (body: Uint8Array) => Promise<Answer>,
  kept: KeptEvents | undefined,
  drop: (line: string, reason: string) => void,
  warn: (text: string) => void,
): Outbox {
  const waiting: Item[] = []
  let inHand: readonly Item[] = []
  /** How far our clock is ahead of the server's. */
  let aheadMs: number | undefined
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
    for (const { line, file } of items) {
      bytes -= line.length
      if (file !== undefined) kept?.settle(file)
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
  function judge(items: readonly Item[], answer: Answer): { again: readonly Item[]; isCorrected: boolean } {
    aheadMs = newerReading(aheadMs, answer.aheadMs)
    const verdicts = judgeAnswer(answer, items.length)
    const refused: string[] = []
    let isCorrected = false
    const again = items.filter((item, i) => {
      const verdict = verdicts[i]!
      if (verdict.is === 'stored') return false
      if (verdict.is === 'again' || (verdict.is === 'waits' && kept !== undefined)) return true
      if (isRefusedForTime(verdict) && correct(item)) {
        isCorrected = true
        return true
      }
      if (verdict.is === 'refused') refused.push(item.line)
      drop(item.line, describe(verdict))
      return false
    })
    if (refused.length > 0) kept?.refuse(refused)
    return { again, isCorrected }
  }

  /** False if our clock is not at fault. */
  function correct(item: Item): boolean {
    const line = item.isCorrected ? undefined : correctTime(item.line, aheadMs)
    if (line === undefined) return false
    bytes += line.length - item.line.length
    item.line = line
    item.isCorrected = true
    warn(describeAhead(aheadMs!))
    return true
  }

  const because = (reason: string) => (fault === '' ? reason : `${reason}: ${fault}`)

  /** One batch, until none of it has to be sent again. */
  function* deliver(): Generator<Step, void, Answer | undefined> {
    if (inHand.length === 0) inHand = take()
    while (inHand.length > 0) {
      const sent = inHand
      const answer = (yield toBatch(sent.map(({ line }) => line)))!
      if (inHand !== sent) return // `leave` took it over
      fault = faultOf(answer)
      const { again, isCorrected } = judge(sent, answer)
      if (again.length > 0 && !isCorrected) kept?.share()
      if (again.length < sent.length) {
        const left = new Set(again)
        inHand = again
        settle(sent.filter((item) => !left.has(item)))
        tries = 0
      }
      if (inHand.length > 0 && !isCorrected) yield pauseMs(answer.retryAfterMs)
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
        const found = (await kept?.adopt()) ?? []
        found.forEach(push)
        if (waiting.length === 0) break // one may have come meanwhile
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
      const line = toEvent(kind, body)
      const isFull = bytes + line.length > maxBytes
      const file = kept?.keep(line, isFull)
      if (isFull) {
        if (file === undefined) drop(line, because('too many events are waiting'))
        return
      }
      push({ line, file })
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
      for (const { line, file } of left) if (file === undefined) drop(line, because(UNCONFIRMED))
      settled = added
    },
  }
}

/** Empty for a success. */
const faultOf = (answer: Answer): string => {
  const { status } = answer
  return status === 201 || status === 207 ? '' : describe(judgeAnswer(answer, 1)[0]!)
}

const describe = (verdict: Verdict): string =>
  verdict.status === 0 ? describeVerdict(verdict) : `the server ${describeVerdict(verdict)}`
