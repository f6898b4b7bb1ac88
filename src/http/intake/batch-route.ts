// POST /v1/batch: many events in one call, an addition to SPEC.md. The good ones are made durable together, in one commit a destination;
// the bad ones are named by their index. Each event is judged by the rules of its own call.
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Elysia, t } from 'elysia'
import { EVENT_KINDS, type Event, type EventKind, isEventKind } from '../../event/event.ts'
import { type EventBody, eventFromBody } from '../../event/from-body.ts'
import { formatStamp, type Stamp } from '../../event/stamp.ts'
import { type Fault, Problem } from '../../problem.ts'
import { MAX_BATCH_BYTES, SEND_BATCH } from '../../wire/events.ts'
import { uncachedHeaders } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'
import { appendEvent, diskProblem, eventOfOwnTime, type IntakeDeps } from './accept-event.ts'
import { type BodyBudget, bytesToHold } from './body-budget.ts'
import { createBodySchemas, findFaults, kindField, withKind } from './body-fields.ts'
import { findEventFaults } from './event-faults.ts'
import { isPacked, readBatch, UnreadableLine } from './read-batch.ts'
import type { Admitted } from './v1-routes.ts'

export interface BatchDeps extends IntakeDeps {
  stamp(): Stamp
  readonly bodies: BodyBudget
  countRefused(kind: EventKind | 'other', reason: string): void
}

/** Without its kind nothing more can be said of an event. */
const KIND_ONLY = t.Object({ kind: kindField() }, { additionalProperties: true })

const HEADERS = uncachedHeaders({ 'content-type': 'application/json' })

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
    if (compiled.Check(item)) return { kind, body: item as unknown as EventBody }
    return faulty(findEventFaults(schema, item, deps), index)
  }

  function toEvent(item: unknown, index: number, account: string): Event | Problem | Promise<Event | Problem> {
    const judged = judge(item, index)
    if (judged instanceof Problem) return judged
    const { kind, body } = judged
    if (body.at === undefined) return eventFromBody(kind, body, account, deps.stamp())
    return eventOfOwnTime(kind, body, body.at, account, deps).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error
      return indexed(error, index)
    })
  }

  /**
   * Appends without a pause in between, so all that go to one spool are of one group: one write and one fdatasync makes them durable.
   * Large batches that come together take turns before: each finds room for its events, and small requests beside them are not refused.
   */
  async function appendAll(events: readonly (Event | Problem)[], arrivedUs: number): Promise<(Event | Problem)[]> {
    for (let full = backpressure(); full !== undefined; full = backpressure()) await full
    const results = [...events]
    const commits = new Map<Promise<void>, number[]>()
    events.forEach((event, index) => {
      if (event instanceof Problem) return
      const appended = appendEvent(event, event.stamp.sub === deps.ownTimeSub ? arrivedUs : event.stamp.us, deps)
      if (appended instanceof Problem) results[index] = indexed(appended, index)
      else if (!commits.get(appended)?.push(index)) commits.set(appended, [index])
    })
    const settled = await Promise.allSettled(commits.keys())
    ;[...commits.values()].forEach((indexes, i) => {
      const commit = settled[i]!
      if (commit.status === 'rejected') for (const index of indexes) results[index] = diskProblem(commit.reason)
    })
    return results
  }

  const backpressure = () => deps.spools.points.backpressure() ?? deps.spools.exceptions.backpressure()

  /** Of a batch that is taken at least in part; one that is refused whole counts as one request, where its problem is answered. */
  function count(results: readonly (Event | Problem)[]): void {
    const byKind = { start: 0, end: 0, metrics: 0, exception: 0 }
    for (const result of results) {
      if (result instanceof Problem) deps.countRefused('other', result.code)
      else byKind[result.kind]++
    }
    for (const kind of EVENT_KINDS) if (byKind[kind] > 0) deps.countAccepted(kind, byKind[kind])
  }

  async function acceptBatch(request: Request, { account, stamp }: Admitted['admission']): Promise<Response> {
    const events = (await readBatch(request)).map((item, index) => toEvent(item, index, account))
    const isReady = (event: (typeof events)[number]): event is Event | Problem => !(event instanceof Promise)
    const results = await appendAll(events.every(isReady) ? events : await Promise.all(events), stamp.us)
    const problems = results.filter((result) => result instanceof Problem)
    if (problems.length === results.length) throw commonProblem(problems)
    count(results)
    const [accepted, refused] = [results.length - problems.length, problems.length]
    const items = results.map(answerItem).join(',')
    const response = new Response(`{"accepted":${accepted},"refused":${refused},"items":[${items}]}`, {
      status: refused === 0 ? 201 : 207,
      headers: HEADERS,
    })
    const retryAfterS = problems.reduce((longest, problem) => Math.max(longest, problem.retryAfterS ?? 0), 0)
    if (retryAfterS > 0) response.headers.set('retry-after', String(retryAfterS))
    return response
  }

  return new Elysia({ normalize: false }).post(
    SEND_BATCH.path,
    (c) => {
      const { request } = c
      return deps.bodies.during(bytesToHold(request, MAX_BATCH_BYTES, isPacked(request)), () =>
        acceptBatch(request, (c as unknown as Admitted).admission),
      )
    },
    {
      /** The handler reads the body, so that its room is held until the answer. */
      parse: 'none',
      body: t.Array(t.Unknown()),
      ...describeRoute(SEND_BATCH),
    },
  )
}

/** A problem of one event: its pointers begin with the event's index, as they stand in the whole body. */
function indexed(problem: Problem, index: number): Problem {
  const { code, detail, errors, retryAfterS, cause } = problem
  if (errors === undefined) return problem
  const inBatch = errors.map((fault) => ({ ...fault, pointer: `/${index}${fault.pointer}` }))
  return new Problem(code, detail, { errors: inBatch, cause, ...(retryAfterS !== undefined && { retryAfterS }) })
}

const faulty = (errors: readonly Fault[], index: number) =>
  indexed(new Problem('fields_invalid', 'The event is not right.', { errors }), index)

function answerItem(result: Event | Problem): string {
  if (!(result instanceof Problem)) return `{"at":"${formatStamp(result.stamp)}"}`
  const { status, code, detail, errors } = result
  return JSON.stringify({ status, code, detail, ...(errors && { errors }) })
}

const MAX_FAULTS = 100

/** Nothing was accepted: one answer for the whole batch, with what is wrong with each event. A fault that passes comes before a lasting one. */
function commonProblem(problems: Problem[]): Problem {
  const worst = problems.reduce((a, b) => (b.status > a.status ? b : a))
  if (worst.status !== 422) return worst
  const errors = problems.flatMap((problem) => problem.errors ?? []).slice(0, MAX_FAULTS)
  return new Problem(worst.code, 'No event of the batch could be taken.', { errors })
}
