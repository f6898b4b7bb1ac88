// Options of the caller, completed by the environment: STINT_URL, STINT_API_KEY or STINT_API_KEY_FILE, STINT_SERVICE,
// STINT_BACKLOG.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import process from 'node:process'
import { findHomes, type Home } from './homes.ts'

/** An event that was given up, with the fields that were to be sent. */
export interface Dropped {
  readonly kind: string
  readonly process?: string
  readonly at?: string
  readonly [field: string]: unknown
}

export interface Options {
  /** Address of the server; STINT_URL, else `http://127.0.0.1:7070`. */
  readonly url?: string
  /**
   * API key with the scope `write`; STINT_API_KEY, else the content of STINT_API_KEY_FILE. Without one nothing is sent.
   */
  readonly key?: string
  /** SERVICE_NAME of the server, which names the header of the key; STINT_SERVICE, else `stint`. */
  readonly service?: string
  /**
   * Directory that keeps events until the server has them, so that they survive a crash of this process; `true` is the
   * directory that `stint flush` reads. STINT_BACKLOG (`1` or a path), else off. Each call then writes to a file (about
   * 10 µs).
   */
  readonly backlog?: boolean | string
  /** Called once for each event that was given up. Default: at most one line per minute on stderr. */
  readonly onDrop?: (event: Dropped, reason: string) => void
  /** How long an event may wait for others to share its request; 1000 ms. */
  readonly flushMs?: number
  /** Limit of the events in memory, in characters of JSON; 4 Mi. */
  readonly maxBytes?: number
  /** How long the exit of the process may wait for the last events; 2000 ms. */
  readonly exitWaitMs?: number
}

export interface Settings {
  readonly url: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  /** Why nothing can be sent. */
  readonly fault: string | undefined
  /** Where the backlog may be; undefined without one. */
  readonly backlogHomes: readonly Home[] | undefined
  readonly onDrop: Options['onDrop']
  readonly flushMs: number
  readonly maxBytes: number
  readonly exitWaitMs: number
}

/** Never throws: what cannot be read becomes `fault`. */
export function readSettings(options: Options): Settings {
  let fault: string | undefined
  const env = (name: string): string | undefined => {
    try {
      return process.env[name] || undefined
    } catch {
      return undefined // Deno without --allow-env
    }
  }
  const readKey = (): string | undefined => {
    const path = env('STINT_API_KEY_FILE')
    try {
      return options.key ?? env('STINT_API_KEY') ?? (path && readFileSync(path, 'utf8'))
    } catch {
      fault = 'cannot read STINT_API_KEY_FILE'
      return undefined
    }
  }
  const key = readKey()?.trim()
  const given = options.url ?? env('STINT_URL') ?? 'http://127.0.0.1:7070'
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) fault = 'STINT_URL is not an http address'
  else if (!key) fault ??= 'STINT_API_KEY is not set'
  else if (!/^[!-~]+$/.test(key)) fault = 'STINT_API_KEY does not hold one key'
  const service = options.service ?? env('STINT_SERVICE') ?? 'stint'
  if (!/^[a-z0-9-]+$/i.test(service)) fault = 'STINT_SERVICE is not the name of a service'
  const backlog = options.backlog ?? env('STINT_BACKLOG')
  return {
    url: url ? (url.origin + url.pathname).replace(/\/+$/, '') : '',
    headers: { [`x-${service}-api-key`]: key ?? '' },
    fault,
    key: key ?? '',
    backlogHomes:
      backlog === true || backlog === '1'
        ? findHomes(env, env('HOME') ?? userHome())
        : backlog
          ? [{ path: backlog }]
          : undefined,
    onDrop: options.onDrop,
    flushMs: options.flushMs ?? 1000,
    maxBytes: options.maxBytes ?? 4 * 2 ** 20,
    exitWaitMs: options.exitWaitMs ?? 2000,
  }
}

/** Undefined in Deno without --allow-sys. */
function userHome(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}

/** For a thread of ours, which must not load what NODE_OPTIONS preloads. */
export function environment(): Record<string, string | undefined> {
  try {
    return { ...process.env, NODE_OPTIONS: '' }
  } catch {
    return {} // Deno without --allow-env
  }
}
