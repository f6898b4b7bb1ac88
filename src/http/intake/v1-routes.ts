// The four calls of SPEC.md as Elysia routes with typed bodies. The gate has judged everything before the body.
import { Elysia } from 'elysia'
import type { Event, EventKind } from '../../event/event.ts'
import { type EventBody, eventFromBody } from '../../event/from-body.ts'
import { formatStamp } from '../../event/stamp.ts'
import { Problem } from '../../problem.ts'
import { EVENT_ROUTES } from '../../wire/events.ts'
import { uncachedHeaders } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'
import { appendEvent, diskProblem, eventOfOwnTime, type IntakeDeps } from './accept-event.ts'
import { createBodySchemas } from './body-fields.ts'
import type { Admission } from './intake-gate.ts'
import { parseJson } from './read-body.ts'

/** What the app's onRequest puts beside Elysia's own context. */
export interface Admitted {
  readonly admission: Admission
}

const CREATED = { status: 201, headers: uncachedHeaders({ 'content-type': 'application/json' }) }

export const V1_KINDS: Readonly<Record<string, EventKind>> = {
  '/v1/start': 'start',
  '/v1/end': 'end',
  '/v1/metrics': 'metrics',
  '/v1/exception': 'exception',
}

export function v1Routes(deps: IntakeDeps) {
  const schemaOf = createBodySchemas()
  const routes = new Elysia({ normalize: false })

  // Plain promises: each `async` between the commit and the answer would cost a turn of every request.
  function accept(event: Event, arrivedUs: number): Promise<Response> {
    const appended = appendEvent(event, arrivedUs, deps)
    if (appended instanceof Problem) throw appended
    return appended.then(
      () => {
        deps.countAccepted(event.kind, 1)
        return new Response(`{"at":"${formatStamp(event.stamp)}"}`, CREATED)
      },
      (cause) => {
        throw diskProblem(cause)
      },
    )
  }

  for (const [path, kind] of Object.entries(V1_KINDS)) {
    routes.post(
      path,
      (c) => {
        const { account, stamp } = (c as unknown as Admitted).admission
        const body = c.body as EventBody
        if (body.at === undefined) return accept(eventFromBody(kind, body, account, stamp), stamp.us)
        return eventOfOwnTime(kind, body, body.at, account, deps).then((event) => accept(event, stamp.us))
      },
      {
        // Elysia reads the source text of hooks and handlers. A context handed on whole would have it parse cookies, query and all headers
        // for each request, a parser of our own would have it make a stream of the body: together as much as all the rest.
        parse: 'arrayBuffer',
        transform: (c) => {
          c.body = parseJson(c.body as unknown as ArrayBuffer) as typeof c.body
        },
        body: schemaOf[kind],
        ...describeRoute(EVENT_ROUTES[kind]),
      },
    )
  }
  return { routes, schemaOf }
}
