// pino: one line per lifecycle event, never one per request, never a secret.
import pino from 'pino'
import { prettyFactory } from 'pino-pretty'

export type Logger = pino.Logger

interface LogOptions {
  readonly level: string
  /** Coloured lines for a terminal instead of JSON. */
  readonly pretty: boolean
}

/**
 * Writes to stdout synchronously, so a logged line is out even when the process is killed the next moment.
 * A log call never throws: lines that cannot be written (a full disk, a closed pipe) are lost and nothing else.
 */
export function createLog({ level, pretty }: LogOptions): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  }
  const write = createWriteStdout()
  if (!pretty) return pino(options, { write })
  const prettify = prettyFactory({ translateTime: 'SYS:HH:MM:ss' })
  return pino({ ...options, formatters: {} }, { write: (line) => write(prettify(line)) })
}

/**
 * After an error a pino destination keeps what it could not write, throws the error into the log call, and never
 * returns from the flush at `fatal`. So a failed destination is replaced by a new one, and pino gets nothing but
 * `write`.
 */
function createWriteStdout(): (text: string) => void {
  const open = () => {
    const destination = pino.destination({ dest: 1, sync: true })
    destination.on('error', () => {
      stdout = open() // nowhere to report it: this is the log
    })
    return destination
  }
  let stdout = open()
  return (text) => void stdout.write(text)
}
