// Calls /api of the same server with the session cookie. Every failure is an ApiError, so that pages handle one kind of
// error. The newest answers stay in memory with their tags: what has not changed since is not sent again.
import type { Fault } from '../../wire/problem.ts'
import type { Get, Send } from './ask.ts'

export class ApiError extends Error {
  override readonly name = 'ApiError'
  constructor(
    /** 0 without an answer. */
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly errors: readonly Fault[] = [],
  ) {
    super(`${title}: ${detail}`)
  }
}

export interface Api {
  /** `path` is relative to the page: `api/timings`. Undefined query values are not sent. Throws ApiError. */
  readonly get: Get
  /** Resolves to undefined where the answer has no body. Throws ApiError. */
  readonly send: Send
  /** Sends events to /v1 with an API key. Throws ApiError. */
  sendEvents(keyHeader: string, secret: string, events: readonly object[]): Promise<void>
  /** Requests under /api name this account from now on; undefined: none. Refused when the session shows another. */
  showAccount(id: string | undefined): void
  /** How far the server's clock is ahead of this browser's, in ms; 0 if they differ by less than two seconds. */
  aheadMs(): number
}

export const PAGE_ROWS = 1_000
export const ROWS_MAX = 10_000

interface Page<T> {
  readonly rows: readonly T[]
  /** The cursor of the next page; null: this is the last one. */
  readonly next: string | null
}

/** All rows, at most `maxRows`, by pages that `ask` gets; `isCut` when there are more. */
export async function getPages<T>(
  ask: (page: { readonly limit: number; readonly cursor: string | undefined }) => Promise<Page<T>>,
  { pageRows = PAGE_ROWS, maxRows = ROWS_MAX } = {},
): Promise<{ readonly rows: T[]; readonly isCut: boolean }> {
  const rows: T[] = []
  let cursor: string | undefined
  do {
    const page = await ask({ limit: pageRows, cursor })
    rows.push(...page.rows)
    cursor = page.next ?? undefined
  } while (cursor !== undefined && rows.length < maxRows)
  return { rows, isCut: cursor !== undefined }
}

const AGREE_MS = 2_000
let arrivals = 0

/** How many answers have arrived: while a question is open and this stays the same, the server is silent. */
export const countArrivals = (): number => arrivals

interface Held {
  readonly tag: string
  readonly answer: unknown
}
/** More than the questions that one page repeats. */
const HELD_MAX = 30
/** Open pages that ask the same within this time share one answer. */
const SHARED_S = 1

/**
 * Calls `onSignedOut` if the session has ended, and `onAccountChanged` if it shows another account than this page;
 * throws the ApiError as well. `wallMs` is this browser's clock.
 */
export function createApi(wallMs: () => number, onSignedOut: () => void, onAccountChanged: () => void = () => {}): Api {
  let aheadMs = 0
  let account: string | undefined
  /** By address, the newest last. */
  const held = new Map<string, Held>()

  function named(path: string, init: RequestInit): RequestInit {
    if (account === undefined || !path.startsWith('api/')) return init
    const headers = new Headers(init.headers)
    headers.set('x-stint-account', account)
    return { ...init, headers }
  }

  async function getHeld<T>(path: string, signal: AbortSignal | undefined): Promise<T> {
    const known = held.get(path)
    const headers = {
      'cache-control': `max-age=${SHARED_S}`,
      ...(known !== undefined && { 'if-none-match': known.tag }),
    }
    const shownAccount = account
    const response = await receive(path, { headers, ...(signal !== undefined && { signal }) })
    const tag = response.headers.get('etag')
    const answer = known !== undefined && response.status === 304 ? known.answer : await read(response)
    if (account !== shownAccount) return answer as T
    held.delete(path)
    if (tag !== null) held.set(path, { tag, answer })
    for (const oldest of held.keys())
      if (held.size > HELD_MAX) held.delete(oldest)
      else break
    return answer as T
  }

  const call = async <T>(path: string, init: RequestInit): Promise<T> => (await read(await receive(path, init))) as T

  async function receive(path: string, init: RequestInit): Promise<Response> {
    const response = await reach(path, named(path, init))
    arrivals++
    const ahead = Date.parse(response.headers.get('date') ?? '') - wallMs()
    if (!Number.isNaN(ahead)) aheadMs = Math.abs(ahead) < AGREE_MS ? 0 : ahead
    return response
  }

  async function read(response: Response): Promise<unknown> {
    if (response.ok) return response.status === 204 ? undefined : await readJson(response)
    const problem = await toApiError(response)
    if (problem.code === 'session_invalid' || problem.code === 'key_invalid') onSignedOut()
    if (problem.code === 'account_changed') onAccountChanged()
    throw problem
  }
  return {
    showAccount(id) {
      account = id
      held.clear()
    },
    aheadMs: () => aheadMs,
    get(path, query = {}, signal) {
      const search = new URLSearchParams()
      for (const [name, value] of Object.entries(query))
        for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one))
      return getHeld(search.size === 0 ? path : `${path}?${search}`, signal)
    },
    sendEvents: (keyHeader, secret, events) =>
      call('v1/batch', {
        method: 'POST',
        headers: { 'content-type': 'application/json', [keyHeader]: secret },
        body: JSON.stringify(events),
      }),
    send: (method, path, body) =>
      call(path, {
        method,
        ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      }),
  }
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init)
  } catch (error) {
    if (isAbort(error)) throw error
    throw new ApiError(
      0,
      'unreachable',
      'Cannot reach Stint',
      'The server does not answer. Check that it is running and that your network works.',
    )
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    if (isAbort(error)) throw error
    throw new ApiError(0, 'unreachable', 'Cannot reach Stint', 'The connection was lost during the answer.')
  }
}

/** A proxy may answer without a problem body; then only the status is known. */
async function toApiError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as Partial<ApiError> | undefined
  const fallback = `The server answered with status ${response.status}.`
  return new ApiError(
    response.status,
    typeof body?.code === 'string' ? body.code : 'unknown',
    typeof body?.title === 'string' ? body.title : 'Request failed',
    typeof body?.detail === 'string' ? body.detail : fallback,
    Array.isArray(body?.errors) ? body.errors : [],
  )
}

/** The request was cancelled on purpose. */
export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'
