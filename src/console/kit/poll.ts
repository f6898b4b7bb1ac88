// Repeats a request while the page is visible, less often while it fails. Only one request is open: a new one cancels the previous one.
import { isAbort } from './api.ts'

export interface PollOptions<T> {
  /** Pause between an answer and the next request; 0 asks once. Read after every answer. */
  everyMs(): number
  ask(signal: AbortSignal): Promise<T>
  show(answer: T): void
  fail(error: unknown): void
}

export interface Poll {
  /** Asks at once. */
  now(): void
  /** Stops until the next `now`. */
  pause(): void
  /** Stops for good. */
  stop(): void
}

const SLOWEST_MS = 30_000
const RETRY_MS = 2_000

export function createPoll<T>({ everyMs, ask, show, fail }: PollOptions<T>): Poll {
  let timer: ReturnType<typeof setTimeout> | undefined
  let inFlight: AbortController | undefined
  let failures = 0
  let isStopped = false
  let isDue = false

  async function step(): Promise<void> {
    const asking = new AbortController()
    inFlight = asking
    let pauseMs: number
    try {
      const answer = await ask(asking.signal)
      if (asking.signal.aborted) return
      failures = 0
      show(answer)
      pauseMs = everyMs()
    } catch (error) {
      if (asking.signal.aborted || isAbort(error)) return
      fail(error)
      pauseMs = Math.min(SLOWEST_MS, RETRY_MS * 2 ** failures++)
    }
    if (pauseMs > 0) wait(pauseMs)
  }

  function wait(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (document.hidden) isDue = true
      else void step()
    }, ms)
  }

  function onVisibility(): void {
    if (document.hidden || !isDue) return
    isDue = false
    void step()
  }
  document.addEventListener('visibilitychange', onVisibility)

  function pause(): void {
    clearTimeout(timer)
    isDue = false
    inFlight?.abort()
  }

  return {
    now() {
      if (isStopped) return
      pause()
      void step()
    },
    pause,
    stop() {
      isStopped = true
      pause()
      document.removeEventListener('visibilitychange', onVisibility)
    },
  }
}
