// The four calls under /v1: gate, body, event, spool, 201. Elysia routes and documents them, and reads nothing of the
// request itself: its hooks, its context and its check of a body cost as much as half of the rest.
import { Elysia } from 'elysia'
import type { Arrival } from '../../event/arrivals.ts'
import { isMark, pathOf, SENT_KINDS, type SentKind } from '../../event/event.ts'
import { Faults } from '../../event/faults.ts'
import { isObject } from '../../event/fields.ts'
import { parseEvent } from '../../event/parse-event.ts'
import { formatTime } from '../../event/stamp.ts'
import { invalidBody, Problem } from '../../problem.ts'
import { EVENT_BODIES, EVENT_ROUTES } from '../../wire/events.ts'
import { uncachedHeaders } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'
import { type Appended, appendDraft, diskProblem, type IntakeDeps } from './accept-event.ts'
import { type BodyBudget, readEventBody } from './body-budget.ts'
import { OTLP_METRICS_PLACE } from './content-fault.ts'
import type { PassGate } from './intake-gate.ts'
import { parseJson } from './read-body.ts'

interface V1Deps extends IntakeDeps {
  readonly passGate: PassGate
  readonly bodies: BodyBudget
}

const CREATED = { status: 201, headers: uncachedHeaders({ 'content-type': 'application/json' }) }

function invalidEvent(body: unknown, { list, count }: Faults): Problem {
  const problem = invalidBody(list, count)
  if (!isObject(body) || !Object.hasOwn(body, 'resourceMetrics')) return problem
  return new Problem(problem.code, `${problem.detail}${OTLP_METRICS_PLACE}`, { errors: list })
}

export function v1Routes(deps: V1Deps) {
  function append(kind: SentKind, bytes: ArrayBuffer | Uint8Array, account: string, arrival: Arrival): Appended {
    const faults = new Faults()
    const body = parseJson(bytes)
    const draft = parseEvent(kind, body, deps, faults)
    if (draft === undefined) throw invalidEvent(body, faults)
    const spent = deps.quotaRefusal(account, isMark(kind))
    if (spent !== undefined) throw spent
    const appended = appendDraft(draft, account, arrival, deps, deps.arrivals.end(arrival))
    if (appended instanceof Problem) throw appended
    return appended
  }

  const routes = new Elysia({ normalize: false })
  for (const kind of SENT_KINDS) {
    const path = pathOf(kind)
    // One function: each `async` between the commit and the answer would cost a turn of every request.
    const accept = async ({ request }: { readonly request: Request }): Promise<Response> => {
      const admission = deps.passGate(request, path)
      if (admission instanceof Response) return admission
      const { account, stamp } = admission
      const arrival = deps.arrivals.begin(stamp)
      let appended: Appended
      try {
        appended = append(kind, await readEventBody(request, account, deps.bodies), account, arrival)
      } finally {
        deps.arrivals.drop(arrival)
      }
      const { event, texts, done } = appended
      try {
        await done
      } catch (cause) {
        throw diskProblem(cause)
      }
      deps.countAccepted(kind, 1, stamp.us)
      for (const text of texts ?? []) deps.countAccepted(text.kind, 1)
      return new Response(`{"at":"${formatTime(event.stamp)}"}`, CREATED)
    }
    routes.post(path, accept, { parse: 'none', body: EVENT_BODIES[kind], ...describeRoute(EVENT_ROUTES[kind]) })
  }
  return routes
}
