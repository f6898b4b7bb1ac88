// The last events of a process. When its work is done, and at SIGTERM and SIGINT, they are sent in the background; at
// `process.exit()` and after an error that nobody catches, nothing asynchronous happens any more, and the process waits
// for them. A signal keeps its meaning: a handler of the caller decides when the process ends; without one the process
// ends by that signal as soon as the events are sent or the time for it is over.
import process from 'node:process'
import { monotonicMs } from './event-times.ts'
import type { Outbox } from './outbox.ts'
import { createPostNow, type PostNow } from './post-now.ts'
import type { ExitLimits } from './settings.ts'

interface Leaving {
  readonly outbox: Pick<Outbox, 'flush' | 'isEmpty'>
  readonly limits: ExitLimits
  /** Ends the runs whose work has not ended: with an error as failed, without one as done. */
  endRuns(error?: unknown): void
  /** At the very end, synchronously. */
  close(limits: ExitLimits, postNow: PostNow): void
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** Marks listeners of this library, of any copy of it in the process. */
const OURS = Symbol.for('stint.signal')

type Listener = ((signal: NodeJS.Signals) => void) & { [OURS]?: true }

type RejectionListener = ((reason: unknown) => void) & { [OURS]?: true }

const all = new Set<Leaving>()

/** One set of listeners for all clients of a process. */
export function sendAtExit(leaving: Leaving): void {
  all.add(leaving)
  if (all.size === 1) listen()
}

function listen(): void {
  let isGivenUp = false
  let isAwaited = false
  let hasNoWork = false
  /** When the end began. */
  let since: number | undefined
  let uncaught: unknown
  let rejection: { readonly reason: unknown } | undefined

  function flushAll(): Promise<boolean[]> {
    since ??= monotonicMs()
    return Promise.all([...all].map(({ outbox, limits }) => outbox.flush(limits.withinMs, limits.restartMs)))
  }

  const endRuns = (error?: unknown) => {
    for (const leaving of all) leaving.endRuns(error)
  }

  function leave(): void {
    const began = since ?? monotonicMs()
    const postNow = createPostNow()
    let left = all.size
    for (const { close, limits } of all) {
      const shareOf = (ms: number) => (isGivenUp ? 0 : (ms - (monotonicMs() - began)) / left)
      const shares = { withinMs: shareOf(limits.withinMs), restartMs: shareOf(limits.restartMs) }
      left--
      close(shares, postNow)
    }
    postNow.close()
  }

  process.on('beforeExit', () => {
    hasNoWork = true
    if (isGivenUp || isAwaited || [...all].every(({ outbox }) => outbox.isEmpty())) return
    isAwaited = true
    void flushAll().then((settled) => {
      since = undefined
      isAwaited = false
      isGivenUp = settled.includes(false) // a server that is away must not keep the process alive
    })
  })
  function end(exitCode: number | string | null | undefined): void {
    const code = rejection === undefined ? exitCode : 1
    const isDone = code === 0 && !hasNoWork
    const error = rejection?.reason ?? uncaught ?? `the process ended with code ${code} in the middle of this run`
    endRuns(isDone ? undefined : error)
    leave()
  }

  process.on('uncaughtExceptionMonitor', (error) => {
    uncaught = error
    // Bun first waits for the main module, whose runs would end as completed
    if (process.listenerCount('uncaughtException') === 0) endRuns(error)
  })
  // Node passes 0 for a module that waits forever, and exits with 13
  process.on('exit', (code) => end(process.exitCode ?? code))
  if (deno !== undefined) listenInDeno(end)
  if (process.versions.bun !== undefined)
    watchRejectionsInBun((fatal) => {
      rejection = fatal
    })

  const onSignal: Listener = (signal) => {
    const isOursAlone = process.listeners(signal).every((listener) => (listener as Listener)[OURS])
    if (isOursAlone) endRuns(`the process was ended by ${signal} in the middle of this run`)
    void flushAll().then(() => {
      since = undefined
      if (!isOursAlone) return
      isGivenUp = true
      leave()
      process.removeListener(signal, onSignal)
      process.kill(process.pid, signal)
    })
  }
  onSignal[OURS] = true
  for (const signal of SIGNALS) {
    try {
      process.on(signal, onSignal)
    } catch {
      // a runtime without this signal
    }
  }
}

/**
 * After a rejection that nobody handles Bun emits `exit` with the code 0, ends with the code 1, and names the reason to
 * its handlers only. So this one takes itself away and rejects again, for Bun to end the process as it would have.
 * With a mode of its own that Bun was started with, it says the reason, or lets the process live on.
 */
function watchRejectionsInBun(set: (fatal: { readonly reason: unknown }) => void): void {
  if (process.execArgv.some((argument) => argument.startsWith('--unhandled-rejections'))) return
  const onRejection: RejectionListener = (reason) => {
    if (process.listeners('unhandledRejection').some((listener) => !(listener as RejectionListener)[OURS])) return
    process.removeListener('unhandledRejection', onRejection)
    set({ reason })
    if (process.listenerCount('unhandledRejection') === 0) void Promise.reject(reason) // else another copy does
  }
  onRejection[OURS] = true
  process.prependListener('unhandledRejection', onRejection) // a handler that listens once is gone after its call
}

const deno = (globalThis as { readonly Deno?: { readonly exitCode: number } }).Deno

/** Deno emits `exit` neither after an error that nobody catches nor at `Deno.exit()`. */
function listenInDeno(end: (code: number | string | null | undefined) => void): void {
  const isLeftToUs = () => process.listenerCount('uncaughtException') === 0
  const onError = (event: Event) => {
    if (!event.defaultPrevented && isLeftToUs()) end(1)
    listenLast() // if the process lives on, a listener after this one has prevented its end
  }
  function listenLast(): void {
    globalThis.removeEventListener('error', onError)
    globalThis.addEventListener('error', onError)
  }
  listenLast()
  process.on('uncaughtExceptionMonitor', (_, origin) => {
    if (origin === 'unhandledRejection' && isLeftToUs()) end(1)
  })
  globalThis.addEventListener('unload', () => end(deno?.exitCode))
}
