// RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-10, on every answer to a request whose key is limited, so that a
// client can slow down before it is refused. Only in the way of requests when there is a limit.
import type { RateLimit } from './rate-limit.ts'

type Handle = (request: Request) => Response | Promise<Response>

export interface RateLimitHeaders {
  /** This request counted for this key. */
  note(request: Request, key: string): void
  /** Puts the headers on the answers to noted requests. */
  wrap(handle: Handle): Handle
}

const WINDOW_S = 1

export function createRateLimitHeaders(rateLimit: RateLimit): RateLimitHeaders {
  const keys = new WeakMap<Request, string>()
  const policy = `"key";q=${rateLimit.limit};w=${WINDOW_S}`
  return {
    note: (request, key) => void keys.set(request, key),
    wrap: (handle) => async (request) => {
      const response = await handle(request)
      const key = keys.get(request)
      if (key === undefined) return response
      response.headers.set('ratelimit-policy', policy)
      response.headers.set('ratelimit', `"key";r=${rateLimit.remaining(key)};t=${WINDOW_S}`)
      return response
    },
  }
}
