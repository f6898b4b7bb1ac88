// pino: one line a lifecycle event, never one a request, never a secret.
import pino from 'pino'
import prettyStream from 'pino-pretty'

export type Logger = pino.Logger

export interface LogOptions {
  readonly level: string
  /** Coloured lines for a terminal instead of JSON. */
  readonly pretty: boolean
}

/** Writes to stdout, synchronously: what was logged is out even when the process is killed the next moment. */
export function createLog({ level, pretty }: LogOptions): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  }
  if (!pretty) return pino(options, pino.destination({ dest: 1, sync: true }))
  return pino(
    { ...options, formatters: {} },
    prettyStream({ destination: 1, sync: true, translateTime: 'SYS:HH:MM:ss' }),
  )
}
