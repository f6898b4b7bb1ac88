// pino: one line a lifecycle event, never one a request, never a secret.
import pino from 'pino'
import { prettyFactory } from 'pino-pretty'

export type Logger = pino.Logger

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
  const write = createWriteStdout()
  if (!pretty) return pino(options, { write })
  const prettify = prettyFactory({ translateTime: 'SYS:HH:MM:ss' })
  return pino({ ...options, formatters: {} }, { write: (line) => write(prettify(line)) })
}

/**
 * A destination that met an error keeps what it could not write, throws the error at whoever logs where nobody listens for it, and tries for
 * ever when it is flushed, which pino does at `fatal`. So it is given up for a new one, and pino sees no more of it than `write`.
 */
function createWriteStdout(): (text: string) => void {
  const open = () => {
    const destination = pino.destination({ dest: 1, sync: true })
    destination.on('error', () => {
      stdout = open() // there is nowhere to report it to: the log is that place
    })
    return destination
  }
  let stdout = open()
  return (text) => void stdout.write(text)
}
