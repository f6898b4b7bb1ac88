// POST /v1/batch: many events in one call, an addition to SPEC.md. The good ones are made durable together, in one commit a destination;
// the bad ones are named by their index. Each event is judged by the rules of its own call.
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Elysia, t } from 'elysia'
import { type Event, type EventKind, isEventKind } from '../event/event.ts'
import { type EventBody, eventFromBody } from '../event/from-body.ts'
import { formatStamp, type Stamp } from '../event/stamp.ts'
import { type Fault, Problem } from '../problem.ts'
import { eventOfOwnTime, type IntakeDeps, spoolEvent } from './accept-event.ts'
import { createBodySchemas, findFaults, kindField, withKind } from './body-fields.ts'
import { describeBatch } from './describe-batch.ts'
import { readBatch, UnreadableLine } from './read-batch.ts'
import type { Admitted } from './v1-routes.ts'

/** What became of one event of a batch. */
type ItemAnswer = { at: string } | { status: number; code: string; detail: string; errors?: readonly Fault[] }

export interface BatchDeps extends IntakeDeps {
  stamp(): Stamp
  countRefused(kind: EventKind | 'other', reason: string): void
}

/** Without its kind nothing more can be said of an event. */
const KIND_ONLY = t.Object({ kind: kindField() }, { additionalProperties: true })

const HEADERS = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' }

export function batchRoute(deps: BatchDeps) {
  const schemas = createBodySchemas()
  const itemOf = (kind: EventKind) => {
    const schema = withKind(kind, schemas[kind])
    return { schema, compiled: TypeCompiler.Compile(schema) }
  }
  const items: Record<EventKind, ReturnType<typeof itemOf>> = {
    start: itemOf('start'),
    end: itemOf('end'),
    metrics: itemOf('metrics'),
    exception: itemOf('exception'),
  }

  function judge(item: unknown, index: number): { kind: EventKind; body: EventBody } | Problem {
    if (item instanceof UnreadableLine)
      return new Problem('json_malformed', 'The line could not be read as JSON.', {
        errors: [{ pointer: `/${index}`, detail: item.detail }],
      })
    const kind = (item as { kind?: unknown } | null)?.kind
    if (!isEventKind(kind)) return faulty(findFaults(KIND_ONLY, item), index)
    const { schema, compiled } = items[kind]
    return compiled.Check(item) ? { kind, body: item as unknown as EventBody } : faulty(findFaults(schema, item), index)
  }

  async function accept(item: unknown, index: number, account: string): Promise<Event | Problem> {
    const judged = judge(item, index)
    if (judged instanceof Problem) return judged
    const { kind, body } = judged
    return body.at === undefined
      ? eventFromBody(kind, body, account, deps.stamp())
      : caught(eventOfOwnTime(kind, body, body.at, account, deps), index)
  }

  return new Elysia({ normalize: false }).post(
    '/v1/batch',
    async (c) => {
      const { account, stamp } = (c as unknown as Admitted).admission
      const sent = c.body as unknown[]
      const events = await Promise.all(sent.map((item, index) => accept(item, index, account)))
      // One turn without a pause between the appends: they are of one group, so one write and one fdatasync makes them all durable.
      const results = await Promise.all(
        events.map((event, index) =>
          event instanceof Problem
            ? event
            : caught(
                spoolEvent(event, stamp.us, deps).then(() => event),
                index,
              ),
        ),
      )
      const problems = results.filter((result) => result instanceof Problem)
      for (const problem of problems) deps.countRefused('other', problem.code)
      if (problems.length === results.length) throw commonProblem(problems)
      const accepted = results.length - problems.length
      return new Response(JSON.stringify({ accepted, refused: problems.length, items: results.map(answerItem) }), {
        status: problems.length === 0 ? 201 : 207,
        headers: HEADERS,
      })
    },
    { parse: ({ request }) => readBatch(request), body: t.Array(t.Unknown()), detail: describeBatch(schemas) },
  )
}

/** The pointers begin with the event's index, as they do in the whole body. */
const faulty = (faults: readonly Fault[], index: number) =>
  new Problem('fields_invalid', 'The event is not right.', {
    errors: faults.map(({ pointer, detail }) => ({ pointer: `/${index}${pointer}`, detail })),
  })

/** What one event's own path rejects with knows nothing of the others: its pointers get the event's index. */
const caught = <T>(work: Promise<T>, index: number): Promise<T | Problem> =>
  work.catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error
    const { code, detail, errors, retryAfterS, cause } = error
    if (errors === undefined) return error
    const inBatch = errors.map((fault) => ({ ...fault, pointer: `/${index}${fault.pointer}` }))
    return new Problem(code, detail, { errors: inBatch, cause, ...(retryAfterS !== undefined && { retryAfterS }) })
  })

const answerItem = (result: Event | Problem): ItemAnswer =>
  result instanceof Problem
    ? {
        status: result.status,
        code: result.code,
        detail: result.detail,
        ...(result.errors && { errors: result.errors }),
      }
    : { at: formatStamp(result.stamp) }

const MAX_FAULTS = 100

/** Nothing was accepted: one answer for the whole batch, with what is wrong with each event. A fault that passes comes before a lasting one. */
function commonProblem(problems: Problem[]): Problem {
  const worst = problems.reduce((a, b) => (b.status > a.status ? b : a))
  if (worst.status !== 422) return worst
  const errors = problems.flatMap((problem) => problem.errors ?? []).slice(0, MAX_FAULTS)
  return new Problem(worst.code, 'No event of the batch could be taken.', { errors })
}
