// Progress of a copy on standard error: one line that is rewritten on a terminal, a line every ten seconds elsewhere.
import type { Clock } from '../clock.ts'

export interface Output {
  write(text: string): void
  readonly isTTY?: boolean
}

const TERMINAL_EVERY_US = 500_000
const LOG_EVERY_US = 10_000_000

export type ProgressLine = ReturnType<typeof createProgressLine>

/** `total` undefined = not known. `before` events were copied by an earlier run. */
export function createProgressLine(output: Output, clock: Clock, before: number, total: number | undefined) {
  const beganUs = clock.monotonicUs()
  const everyUs = output.isTTY ? TERMINAL_EVERY_US : LOG_EVERY_US
  let shownUs = beganUs
  let isOpen = false

  function end(): void {
    if (isOpen) output.write('\n')
    isOpen = false
  }

  return {
    /** Events so far. */
    show(done: number): void {
      const nowUs = clock.monotonicUs()
      if (nowUs - shownUs < everyUs) return
      shownUs = nowUs
      const perSecond = (done - before) / ((nowUs - beganUs) / 1e6)
      const text = [
        `${done.toLocaleString('en')}${total === undefined ? '' : ` of ${total.toLocaleString('en')}`} events`,
        `${Math.round(perSecond).toLocaleString('en')}/s`,
        ...(total !== undefined && perSecond > 0 && done < total
          ? [`${formatSpan((total - done) / perSecond)} left`]
          : []),
      ].join(', ')
      output.write(output.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
      isOpen = output.isTTY === true
    },
    say(text: string): void {
      end()
      output.write(`${text}\n`)
    },
    end,
  }
}

/** `45 s`, `12 min`, `3 h 20 min`. */
export function formatSpan(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
