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

export interface Unconfirmed {
  readonly reason: 'unconfirmed'
  /** It is in a file, and is sent later. */
  readonly kept: boolean
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
   * Where events are kept that no answer has confirmed: `true` is the directory that `stint flush` reads. Each call then
   * writes to a file (about 10 µs), so that events survive a crash of this process. STINT_BACKLOG (`1`, a path, or `0`
   * for nowhere); else they are written there at the end of the process and after 60 s without Stint.
   */
  readonly backlog?: boolean | string
  /**
   * Called once for each event that was given up, and for those that are not confirmed at the end of the process: they may
   * be stored, and are sent later if they are kept. Default: at most one line per minute on stderr.
   */
  readonly onDrop?: (event: Dropped, reason: string, unconfirmed?: Unconfirmed) => void
  /** How long an event may wait for others to share its request; 1000 ms. */
  readonly flushMs?: number
  /** Limit of the events in memory, in characters of JSON; 4 Mi. */
  readonly maxBytes?: number
  /**
   * How long the exit of the process may wait for the last events. Else 2 s, and up to 15 s while Stint refuses connections
   * or answers 503, as it does during a restart.
   */
  readonly exitWaitMs?: number
}

/** How long the end of the process may wait. */
export interface ExitLimits {
  readonly withinMs: number
  /** While Stint seems to restart. */
  readonly restartMs: number
}

export interface Settings {
  readonly url: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  /** Why nothing can be sent. */
  readonly fault: string | undefined
  /** Where the backlog may be; undefined without one. */
  readonly backlogHomes: readonly Home[] | undefined
  /** Each call writes to it. */
  readonly keepsEach: boolean
  /** Without Stint for so long, what waits in memory is written to it, too. */
  readonly keepAfterMs: number
  readonly onDrop: Options['onDrop']
  readonly flushMs: number
  readonly maxBytes: number
  readonly exitLimits: ExitLimits
}

const EXIT_WAIT_MS = 2_000
const KEEP_AFTER_MS = 60_000
const RESTART_WAIT_MS = 15_000

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
  const isOff = backlog === false || backlog === '0' || backlog === ''
  function backlogHomes(): Home[] | undefined {
    if (isOff) return undefined
    if (typeof backlog === 'string' && backlog !== '1') return [{ path: backlog }]
    return findHomes(env, env('HOME') ?? userHome())
  }
  return {
    url: url ? (url.origin + url.pathname).replace(/\/+$/, '') : '',
    headers: { [`x-${service}-api-key`]: key ?? '' },
    fault,
    key: key ?? '',
    backlogHomes: backlogHomes(),
    keepsEach: backlog !== undefined && !isOff,
    keepAfterMs: KEEP_AFTER_MS,
    onDrop: options.onDrop,
    flushMs: options.flushMs ?? 1000,
    maxBytes: options.maxBytes ?? 4 * 2 ** 20,
    exitLimits: {
      withinMs: options.exitWaitMs ?? EXIT_WAIT_MS,
      restartMs: options.exitWaitMs ?? RESTART_WAIT_MS,
    },
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
