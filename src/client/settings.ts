// Options of the caller, completed by the environment: STINT_URL, STINT_API_KEY or STINT_API_KEY_FILE, STINT_SERVICE,
// STINT_BACKLOG.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import process from 'node:process'
import type { StintOptions } from './declarations/stint.d.ts'
import { findHomes, type Home } from './homes.ts'

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
  readonly onDrop: StintOptions['onDrop']
  readonly flushMs: number
  readonly maxBytes: number
  readonly exitLimits: ExitLimits
}

const EXIT_WAIT_MS = 2_000
const KEEP_AFTER_MS = 60_000
const RESTART_WAIT_MS = 15_000

/** Never throws: what cannot be read becomes `fault`. */
export function readSettings(options: StintOptions): Settings {
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
