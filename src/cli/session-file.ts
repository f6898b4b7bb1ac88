// Stores sessions by server address in session.json in the user's configuration directory, readable by the user alone.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CliError, EXIT_REFUSED } from './io.ts'

export interface StoredSession {
  readonly token: string
  readonly email: string
}

type Sessions = Record<string, StoredSession>

export interface SessionFile {
  get(url: string): StoredSession | undefined
  set(url: string, session: StoredSession): void
  remove(url: string): void
}

/** `get` throws CliError if the file exists and cannot be read. */
export function createSessionFile(path: string): SessionFile {
  function read(): Sessions {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
      throw new CliError(`cannot read ${path}`, EXIT_REFUSED, { cause })
    }
    try {
      return JSON.parse(text) as Sessions
    } catch (cause) {
      throw new CliError(`cannot read ${path}: invalid JSON; delete it and sign in again`, EXIT_REFUSED, { cause })
    }
  }

  function write(sessions: Sessions): void {
    const fresh = `${path}.${process.pid}`
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(fresh, `${JSON.stringify(sessions, null, 2)}\n`, { mode: 0o600 })
      renameSync(fresh, path)
    } catch (cause) {
      throw new CliError(`cannot keep the session: ${path} cannot be written`, EXIT_REFUSED, { cause })
    }
  }

  return {
    get(url) {
      const session = Object.entries(read()).find(([key]) => key === url)?.[1]
      return typeof session?.token === 'string' ? session : undefined
    },
    set: (url, session) => write({ ...read(), [url]: session }),
    remove: (url) => write(Object.fromEntries(Object.entries(read()).filter(([key]) => key !== url))),
  }
}
