// Events between the caller and the server. Invariants:
//   1. `add` never throws and never waits; one loop sends, one batch at a time, the oldest first;
//   2. an event leaves by exactly one of: stored by the server, dropped with a reason, kept in the backlog for later;
//   3. an event is serialised once, so that every try sends the same bytes and the server stores it once;
//   4. what waits in memory is at most `maxBytes`, the batch in hand included;
//   5. a quota keeps its last part for starts and ends: these do not wait behind what it refuses.
// The rules of delivery are one generator with two drivers: `work` runs it in the background, `leave` at the end of
// the process, where nothing asynchronous happens any more.
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { BATCH_CHARACTERS, BATCH_EVENTS, toBatch, toEvent } from './batch.ts'
import { monotonicMs } from './event-times.ts'
import { type Answer, faultOf } from './judge-answer.ts'
import { createBatchJudge, type Drop } from './judge-batch.ts'
import type { KeptEvents } from './kept-events.ts'
import { UNCONFIRMED } from './report.ts'
import { createPatience, LAST_TRY_MS } from './retry-pause.ts'
import type { ExitLimits, Settings } from './settings.ts'
import { endRests, hasRested, type Item, rest, restMs, takeBatch } from './waiting-items.ts'

export type Outbox = ReturnType<typeof createOutbox>

/** The driver's next task: a text to send, or ms to wait. */
type Step = string | number

type Settling = Pick<Settings, 'flushMs' | 'maxBytes' | 'keepsEach' | 'keepAfterMs'>

const pack = promisify(gzip)

export function createOutbox(
  { flushMs, maxBytes, keepsEach, keepAfterMs }: Settling,
  send: (body: Uint8Array) => Promise<Answer>,
  kept: KeptEvents | undefined,
  drop: Drop,
  warn: (text: string) => void,
) {
  const judge = createBatchJudge({ keepsEach }, kept, drop, warn)
  const patience = createPatience()
  let waiting: Item[] = []
  let inHand: readonly Item[] = []
  let bytes = 0
  let added = 0
  let settled = 0
  let isWorking = false
  let fault = ''
  /** New events are written to the backlog, too. */
  let keepsNow = keepsEach
  /** All that waits rests. */
  let isResting = false
  /** When Stint last took an event, or the first one began to wait. */
  let heardMs = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let endPause: (() => void) | undefined
  let waiters: { readonly upTo: number; readonly resolve: () => void }[] = []

  function push(item: Item): void {
    if (settled === added) heardMs = monotonicMs()
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
    waiters = waiters.filter(({ upTo, resolve }) => settled < upTo || waiting.some(hasRested) || resolve())
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

  const because = (reason: string) => (fault === '' ? reason : `${reason}: ${fault}`)

  /** One batch, until none of it has to be sent again. */
  function* deliver(): Generator<Step, void, Answer | undefined> {
    if (inHand.length === 0) ({ batch: inHand, left: waiting } = takeBatch(waiting))
    isResting = inHand.length === 0
    if (isResting) yield restMs(waiting)
    while (inHand.length > 0) {
      const sent = inHand
      const answer = (yield toBatch(sent.map(({ line }) => line)))!
      if (inHand !== sent) return // `leave` took it over
      fault = faultOf(answer)
      patience.noteAnswer(answer)
      const { again, spent, isCorrected, grown } = judge(sent, answer)
      bytes += grown
      if (spent.length > 0) {
        rest(spent, patience.pauseMs(answer.retryAfterMs))
        waiting = [...waiting, ...spent]
        inHand = again
      }
      if (again.length + spent.length > 0 && !isCorrected) shareKept()
      if (again.length + spent.length < sent.length) {
        const left = new Set([...again, ...spent])
        inHand = again
        settle(sent.filter((item) => !left.has(item)))
        patience.noteProgress()
        keepsNow = keepsEach
        heardMs = monotonicMs()
      }
      if (inHand.length > 0 && !isCorrected) yield patience.pauseMs(answer.retryAfterMs)
    }
  }

  function shareKept(): void {
    if (!keepsNow && monotonicMs() - heardMs > keepAfterMs) {
      keepsNow = true
      keep([...inHand, ...waiting])
    }
    if (keepsNow) kept?.share()
  }

  const keep = (items: readonly Item[]) => {
    for (const item of items) item.file ??= kept?.keep(item.line, false)
  }

  async function deliverInBackground(): Promise<void> {
    const steps = deliver()
    for (let { value, done } = steps.next(); !done; ) {
      if (typeof value === 'number') await pause(isResting ? Math.min(value, flushMs) : value)
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
    add(kind: string, body: string): void {
      const line = toEvent(kind, body)
      const isFull = bytes + line.length > maxBytes
      const file = keepsNow || isFull ? kept?.keep(line, isFull) : undefined
      if (isFull) {
        if (file === undefined) drop(line, because('too many events are waiting'))
        return
      }
      push({ line, file })
      start(waiting.length >= BATCH_EVENTS || bytes >= BATCH_CHARACTERS ? 0 : flushMs)
    },
    /**
     * Resolves to whether all events added so far were settled within the time, or within `restartMs` while Stint seems
     * to restart.
     */
    flush(withinMs: number, restartMs = 0): Promise<boolean> {
      const upTo = added
      if (settled >= upTo) return Promise.resolve(true)
      const untilMs = monotonicMs() + restartMs
      patience.extend({ withinMs, restartMs })
      endRests(waiting)
      start(0)
      endPause?.()
      return new Promise((resolve) => {
        const giveUp = () => {
          const leftMs = untilMs - monotonicMs()
          if (patience.isRestarting() && leftMs > 0) limit = setTimeout(giveUp, Math.min(leftMs, LAST_TRY_MS))
          else resolve(false)
        }
        let limit = setTimeout(giveUp, withinMs) // referenced: it holds the process for us
        waiters.push({
          upTo,
          resolve: () => {
            clearTimeout(limit)
            resolve(true)
          },
        })
      })
    },
    isEmpty: (): boolean => settled === added,
    /** At the very end: sends within the time, synchronously, and keeps what is not settled then. */
    leave(
      limits: ExitLimits,
      sendNow: (body: Uint8Array, timeoutMs: number) => Answer,
      sleep: (ms: number) => void,
    ): void {
      const { leftMs } = patience
      patience.limit(limits)
      endRests(waiting)
      inHand = [...inHand] // the background's batch is ours now
      try {
        for (let isDone = false; leftMs() > 0 && inHand.length + waiting.length > 0 && !isDone; ) {
          const steps = deliver()
          for (let { value, done } = steps.next(); !done; ) {
            isDone = leftMs() <= (typeof value === 'number' ? value : 0)
            if (isDone) break
            if (typeof value === 'number') sleep(value)
            const answer = typeof value === 'string' ? sendNow(gzipSync(value), leftMs()) : undefined
            ;({ value, done } = steps.next(answer))
          }
        }
      } catch (error) {
        fault = `${error}`
      }
      const left = [...inHand, ...waiting.splice(0)]
      inHand = []
      const reported = left.filter(({ file }) => file === undefined)
      keep(reported)
      for (const { line, file } of reported)
        drop(line, because(UNCONFIRMED), { reason: 'unconfirmed', kept: file !== undefined })
      settled = added
    },
  }
}
