// The four calls under /v1 as Elysia routes with typed bodies. The gate has checked all but the body. Elysia's check of
// the body is the parser: one TypeBox kind whose check reads the value into an event; src/wire's schema documents it.
// For an invalid body it throws the Problem to answer with: Elysia's own error costs more than the rest of the request.
import { Kind, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { EVENT_KINDS, type EventKind, pathOf } from '../../event/event.ts'
import { Faults } from '../../event/faults.ts'
import type { OwnTimes } from '../../event/own-time.ts'
import { type Draft, parseEvent } from '../../event/parse-event.ts'
import { formatTime } from '../../event/stamp.ts'
import { invalidBody, Problem } from '../../problem.ts'
import { EVENT_BODIES, EVENT_ROUTES } from '../../wire/events.ts'
import { uncachedHeaders } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'
import { appendDraft, diskProblem, type IntakeDeps } from './accept-event.ts'
import type { Admission } from './intake-gate.ts'
import { parseJson } from './read-body.ts'

/** Added to Elysia's context by the app's onRequest. */
export interface Admitted {
  readonly admission: Admission
}

const CREATED = { status: 201, headers: uncachedHeaders({ 'content-type': 'application/json' }) }

const PARSED = 'stint:event'

interface ParsedBody {
  readonly schema: TSchema
  /** The draft of the body that was checked last. */
  draft(): Draft
}

/** Check and handler of a request run one after the other, so one remembered draft is enough. */
function parsedBody(kind: EventKind, times: OwnTimes): ParsedBody {
  // A registry of TypeBox is global; so the parser comes with the schema.
  TypeRegistry.Set<TSchema & { parse(body: unknown): void }>(PARSED, (schema, body) => {
    schema.parse(body)
    return true
  })
  let last: Draft | undefined
  const parse = (body: unknown) => {
    const faults = new Faults()
    last = parseEvent(kind, body, times, faults)
    if (last === undefined) throw invalidBody(faults.list, faults.count)
  }
  return { schema: Type.Unsafe({ ...EVENT_BODIES[kind], [Kind]: PARSED, parse }), draft: () => last! }
}

export function v1Routes(deps: IntakeDeps) {
  const routes = new Elysia({ normalize: false })
  const bodies = Object.fromEntries(EVENT_KINDS.map((kind) => [kind, parsedBody(kind, deps)])) as Record<
    EventKind,
    ParsedBody
  >

  // Plain promises: each `async` between the commit and the answer would cost a turn of every request.
  function accept(kind: EventKind, { account, stamp }: Admission): Promise<Response> {
    const appended = appendDraft(bodies[kind].draft(), account, stamp, deps)
    if (appended instanceof Problem) throw appended
    const { event, done } = appended
    return done.then(
      () => {
        deps.countAccepted(kind, 1, stamp.us)
        return new Response(`{"at":"${formatTime(event.stamp)}"}`, CREATED)
      },
      (cause) => {
        throw diskProblem(cause)
      },
    )
  }

  for (const kind of EVENT_KINDS) {
    routes.post(pathOf(kind), (c) => accept(kind, (c as unknown as Admitted).admission), {
      // Elysia reads the source text of hooks and handlers. Passing the whole context would make it parse cookies,
      // query and all headers, and an own parser would make a stream of the body: together as much as all the rest.
      parse: 'arrayBuffer',
      transform: (c) => {
        c.body = parseJson(c.body as unknown as ArrayBuffer) as typeof c.body
      },
      body: bodies[kind].schema,
      ...describeRoute(EVENT_ROUTES[kind]),
    })
  }

  return routes
}
