// pino: one line a lifecycle event, never one a request, never a secret.
import pino from 'pino'
import { prettyFactory } from 'pino-pretty'

export type Logger = pino.Logger

/** What waits for a stdout that takes nothing; beyond it lines are dropped. */
const MOST_WAITING_CHARACTERS = 2 ** 20

export interface LogOptions {
  readonly level: string
  /** Coloured lines for a terminal instead of JSON. */
  readonly pretty: boolean
}

/**
 * Writes to stdout, synchronously: what was logged is out even when the process is killed the next moment.
 * A log call never throws: lines that cannot be written (a full disk, a closed pipe) are lost and nothing else.
 */
export function createLog({ level, pretty }: LogOptions): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  }
  const stdout = pino.destination({ dest: 1, sync: true, maxLength: MOST_WAITING_CHARACTERS })
  // Without a listener the error would be thrown at whoever logs. There is nowhere to report it to: the log is that place.
  stdout.on('error', () => {})
  if (!pretty) return pino(options, stdout)
  const prettify = prettyFactory({ translateTime: 'SYS:HH:MM:ss' })
  return pino({ ...options, formatters: {} }, { write: (line) => stdout.write(prettify(line) ?? '') })
}
