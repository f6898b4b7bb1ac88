// Turns any thrown error into a Problem of the closed table. Elysia reads and validates nothing here: of its own errors
// only that no route was found occurs.
import { NotFoundError } from 'elysia'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { describeUnknownPath } from './foreign-paths.ts'

/** `undefined`: not an error that Stint or Elysia throws on purpose; log it and answer `internal`. */
export function errorToProblem(error: unknown, path = ''): Problem | undefined {
  if (error instanceof Problem) return error
  return error instanceof NotFoundError ? new Problem('not_found', describeUnknownPath(path)) : undefined
}

// A failing store or disk fails many requests for long: the cause is logged, but each one only now and then.
const EVERY_US = 10_000_000
const MAX_CAUSES = 100

/**
 * Logs `what` with its cause, or else with its detail, at most once in ten seconds per reason. `nowUs`: any clock that
 * does not step back.
 */
export function createLogTrouble(
  log: Logger,
  nowUs: () => number,
  what: string,
): (problem: Problem, path: string) => void {
  /** When each reason was logged, the longest ago first. */
  const loggedUs = new Map<string, number>()
  return ({ cause, detail }, path) => {
    const reason = cause instanceof Error ? cause.message : String(cause ?? detail)
    const now = nowUs()
    if (now - (loggedUs.get(reason) ?? Number.NEGATIVE_INFINITY) < EVERY_US) return
    loggedUs.delete(reason)
    if (loggedUs.size >= MAX_CAUSES) loggedUs.delete(loggedUs.keys().next().value!)
    loggedUs.set(reason, now)
    log.warn({ reason, path }, what)
  }
}

// Elysia returns 404 for a known path with another method; RFC 9110 requires 405 and the allowed methods.
/** `routes`: Elysia's list. Returns a path's `allow`; undefined without a route. Fixed paths hide parameters. */
export function createAllowedMethods(
  routes: () => readonly { readonly method: string; readonly path: string }[],
): (path: string) => string | undefined {
  let known: { method: string; path: string; pattern: RegExp }[] | undefined
  return (path) => {
    known ??= routes().map((route) => ({ ...route, pattern: patternOf(route.path) }))
    const exact = known.filter((route) => route.path === path)
    const found = exact.length > 0 ? exact : known.filter(({ pattern }) => pattern.test(path))
    const methods = new Set(found.map(({ method }) => method))
    if (methods.size === 0) return undefined
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods].sort().join(', ')
  }
}

/** `/api/keys/:id` → a pattern in which `:id` is any one segment; `*` is any rest. */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace('*', '.*')
      .replace(/:[^/]+/g, '[^/]+')}$`,
  )
