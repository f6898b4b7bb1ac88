// The events of one ping.
import { LIMITS } from '../../event/fields.ts'
import { formatStamp } from '../../event/stamp.ts'
import { endOfText } from '../../wire/text-tail.ts'
import type { Words } from './read-words.ts'

export type Body = Readonly<Record<string, unknown>> & {
  readonly kind: 'start' | 'end' | 'exception' | 'output' | 'metrics'
}

/** Kept of what a ping says, but for a failed one: there all that an exception may have. In code points. */
const OUTPUT_TAIL = 4096

interface Of {
  readonly process: string
  readonly words: Words
  /** The body, if it is text. */
  readonly said: string
  /** A start of this run is known. */
  readonly isOpen: boolean
}

/**
 * As of a time in µs. Without a known start an end brings its own: its duration before it, or else at once, unless it
 * has a uid, whose start may have been before a restart.
 */
export const toBodies =
  ({ process, words, said, isOpen }: Of) =>
  (atUs: number): readonly Body[] => {
    const { signal, exitCode, uid, meta, text, durationUs, metrics } = words
    const run = { process, ...(meta !== '' && { meta }), ...(uid !== '' && { uid }) }
    const lines = [text, said].filter(Boolean).join('\n')
    const start: Body = { kind: 'start', ...run }
    const output = endOfText(lines, OUTPUT_TAIL)
    const outputs: Body[] = output === '' ? [] : [{ kind: 'output', ...run, output }]
    const points: Body[] =
      metrics.length === 0
        ? []
        : [{ kind: 'metrics', ...run, items: metrics.map(([name, value]) => ({ name, value })) }]
    const starts =
      isOpen || (durationUs === undefined && uid !== '')
        ? []
        : [durationUs === undefined ? start : { ...start, at: formatStamp({ us: atUs - durationUs, sub: 0 }) }]
    switch (signal) {
      case 'log':
        return [...points, ...outputs]
      case 'start':
        return [...points, start, ...outputs]
      case 'success':
        return [...points, ...starts, { kind: 'end', ...run, output }]
      case 'fail': {
        const how = exitCode === undefined ? 'failed' : `exited with code ${exitCode}`
        // a message that came as a parameter is the exception itself
        const head = exitCode === undefined && text !== '' ? '' : `${process}: ${how}`
        const exception = endOfText([head, lines].filter(Boolean).join('\n'), LIMITS.exception)
        return [...points, ...starts, { kind: 'exception', ...run, exception }, { kind: 'end', ...run, failed: true }]
      }
      default:
        return signal satisfies never
    }
  }
