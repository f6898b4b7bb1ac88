// Repeats a request while the page is visible, less often while it fails. Only one request is open: a new one cancels
// the previous one. Silence is a failure that an answer may still end.
import { ApiError, countArrivals, isAbort } from './api.ts'

interface PollOptions<T> {
  /** Pause between an answer and the next request; 0 asks once. Read after every answer. */
  everyMs(): number
  ask(signal: AbortSignal): Promise<T>
  show(answer: T): void
  fail(error: unknown): void
}

const SLOWEST_MS = 30_000
const RETRY_MS = 2_000
/** Without an answer to any question for so long. */
const SILENT_S = 15

export function createPoll<T>({ everyMs, ask, show, fail }: PollOptions<T>) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let inFlight: AbortController | undefined
  let failures = 0
  let isStopped = false
  let isDue = false

  async function step(): Promise<void> {
    const asking = new AbortController()
    inFlight = asking
    let pauseMs: number
    let [silent, arrived] = [0, countArrivals()]
    const listening = setInterval(() => {
      silent = countArrivals() === arrived ? silent + 1 : 0
      arrived = countArrivals()
      if (silent === SILENT_S && !asking.signal.aborted) fail(silence())
    }, 1_000)
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
    } finally {
      clearInterval(listening)
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
    /** Asks at once. */
    now(): void {
      if (isStopped) return
      pause()
      void step()
    },
    /** Stops for good. */
    stop(): void {
      isStopped = true
      pause()
      document.removeEventListener('visibilitychange', onVisibility)
    },
  }
}

const silence = (): ApiError => {
  const detail = `Nothing has arrived for ${SILENT_S} seconds. The page keeps waiting.`
  return new ApiError(0, 'silent', 'Stint does not answer', detail)
}
