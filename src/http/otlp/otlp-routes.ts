// OTLP over HTTP: `/otlp/v1/traces`, `/logs` and `/metrics`, JSON or protobuf, plain or gzipped, with the API key in a
// header. All is durable before the 200. Events keep OpenTelemetry's times: repeated exports are stored once. Lasting
// refusals are counted in `partial_success`; transient trouble refuses the request, and the exporter repeats it.
import { Elysia } from 'elysia'
import { type EventKind, isEventKind, isMark } from '../../event/event.ts'
import { Faults } from '../../event/faults.ts'
import { isObject } from '../../event/fields.ts'
import { parseEvent } from '../../event/parse-event.ts'
import { Problem } from '../../problem.ts'
import { EXPORT_LOGS, EXPORT_METRICS, EXPORT_TRACES, PROTOBUF } from '../../wire/other-protocols.ts'
import type { Route } from '../../wire/route.ts'
import { problemResponse, uncachedHeaders } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'
import { appendDraft, diskProblem } from '../intake/accept-event.ts'
import type { BatchDeps } from '../intake/batch-route.ts'
import { readBatch } from '../intake/read-batch.ts'
import { parseJson } from '../intake/read-body.ts'
import { type Json, LOGS, METRICS, ShapeError, TRACES } from './otlp-messages.ts'
import { type Message, ProtobufError, readProtobuf } from './read-protobuf.ts'
import { logsToEvents, pointsToEvents, spansToEvents, type Translated } from './to-events.ts'

/** Rejected items, and the first reason. */
interface Rejected {
  count: number
  reason: string
}

/** Limit of an export in JSON: 4 MiB of spans hold fewer, but 4 MiB of brackets would be four million. */
const MAX_VALUES = 500_000
const FAULTS_SHOWN = 3

const isProtobuf = (request: Request) =>
  (request.headers.get('content-type') ?? '').trim().toLowerCase().startsWith(PROTOBUF)

export function otlpRoutes(deps: BatchDeps) {
  /** Resolves when all is durable. Throws Problem for transient trouble: the exporter then sends all of it again. */
  async function accept(translated: readonly Translated[], account: string): Promise<Rejected> {
    const rejected: Rejected = { count: 0, reason: '' }
    const commits = new Set<Promise<void>>()
    const accepted = new Map<EventKind, number>()
    let events = 0
    const reject = (items: number, reason: string) => {
      rejected.count += items
      rejected.reason ||= reason
    }
    for (const { bodies, items, fault } of translated) {
      if (fault !== undefined) reject(items, fault)
      for (const body of bodies) {
        events++
        await room()
        const reason = append(body)
        if (reason === undefined) continue
        deps.countRefused('other', 'fields_invalid')
        reject(items, reason)
        break
      }
    }
    deps.rateLimit.owe(account, events - 1)
    try {
      await Promise.all(commits)
    } catch (cause) {
      throw diskProblem(cause, events)
    }
    for (const [kind, count] of accepted) deps.countAccepted(kind, count)
    return rejected

    /** Why it is refused for good. */
    function append(body: Json): string | undefined {
      const faults = new Faults(FAULTS_SHOWN, '')
      const draft = isEventKind(body.kind) ? parseEvent(body.kind, body, deps, faults, true) : undefined
      if (draft === undefined)
        return faults.list.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join('; ')
      const spent = deps.quotaRefusal(account, isMark(draft.kind))
      if (spent !== undefined) throw spent
      const appended = appendDraft(draft, account, deps.stamp(), deps)
      if (appended instanceof Problem) return appended.detail
      if (!commits.has(appended.done)) appended.done.catch(() => {}) // it may reject long before it is waited for
      commits.add(appended.done)
      accepted.set(draft.kind, (accepted.get(draft.kind) ?? 0) + 1)
      return undefined
    }
  }

  /** All of it, before the first is stored. Throws Problem if a part of the request has another type than OTLP. */
  function collect(translation: Iterable<Translated>): Translated[] {
    try {
      return [...translation]
    } catch (cause) {
      if (!(cause instanceof ShapeError)) throw cause
      const errors = [{ pointer: cause.pointer, detail: cause.message }]
      throw new Problem('fields_invalid', 'The export is invalid.', { errors, cause })
    }
  }

  async function room(): Promise<void> {
    const full = () => deps.spools.points.backpressure() ?? deps.spools.exceptions.backpressure()
    for (let waiting = full(); waiting !== undefined; waiting = full()) await waiting
  }

  const receive = (request: Request, account: string, { message, translate, rejectedName }: Signal) =>
    deps.bodies.during(account, async (reserve) => {
      const json = await parse(request, readBatch(request, reserve), message)
      const rejected = await accept(collect(translate(json)), account)
      return isProtobuf(request) ? protobufAnswer(rejected) : jsonAnswer(rejected, rejectedName)
    })

  const routes = new Elysia({ normalize: false })
  for (const signal of SIGNALS)
    routes.post(
      signal.route.path,
      async ({ request }) => {
        const admission = deps.passGate(request, signal.route.path)
        return admission instanceof Response ? admission : await receive(request, admission.account, signal)
      },
      { parse: 'none', ...describeRoute(signal.route) },
    )
  return routes
}

interface Signal {
  readonly route: Route
  readonly message: Message
  translate(request: Json): Iterable<Translated>
  readonly rejectedName: string
}

const SIGNALS: readonly Signal[] = [
  { route: EXPORT_TRACES, message: TRACES, translate: spansToEvents, rejectedName: 'rejectedSpans' },
  { route: EXPORT_LOGS, message: LOGS, translate: logsToEvents, rejectedName: 'rejectedLogRecords' },
  { route: EXPORT_METRICS, message: METRICS, translate: pointsToEvents, rejectedName: 'rejectedDataPoints' },
]

/** The standard wants 400 for a body that cannot be read. */
async function parse(request: Request, reading: Promise<Uint8Array>, message: Message): Promise<Json> {
  let json: unknown
  try {
    const bytes = await reading
    json = isProtobuf(request) ? readProtobuf(bytes, message) : parseJson(bytes, MAX_VALUES)
  } catch (cause) {
    const isMalformed = cause instanceof Problem && ['json_malformed', 'fields_invalid'].includes(cause.code)
    if (!isMalformed && !(cause instanceof ProtobufError)) throw cause
    const faults = cause instanceof Problem ? cause.errors : [{ pointer: '', detail: cause.message }]
    throw new Problem('otlp_malformed', 'The body could not be read.', { ...(faults && { errors: faults }), cause })
  }
  if (isObject(json)) return json
  const errors = [{ pointer: '', detail: 'must be a JSON object' }]
  throw new Problem('fields_invalid', 'The export is invalid.', { errors })
}

function jsonAnswer({ count, reason }: Rejected, rejectedName: string): Response {
  const body = count === 0 ? {} : { partialSuccess: { [rejectedName]: String(count), errorMessage: reason } }
  return new Response(JSON.stringify(body), { headers: uncachedHeaders({ 'content-type': 'application/json' }) })
}

/** `partial_success` is field 1 of each answer; in it field 1 is the number and field 2 the text. */
function protobufAnswer({ count, reason }: Rejected): Response {
  const message = Buffer.from(reason)
  const partial = Buffer.concat([Buffer.from([0x08, ...varint(count), 0x12, ...varint(message.length)]), message])
  const body = count === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a, ...varint(partial.length)]), partial])
  return new Response(body, { headers: uncachedHeaders({ 'content-type': PROTOBUF }) })
}

export const isOtlpProtobuf = (request: Request, path: string) => path.startsWith('/otlp/') && isProtobuf(request)

/** The standard wants a google.rpc.Status for every refusal: field 2 is the text. */
export function statusResponse(problem: Problem): Response {
  const faults = problem.errors?.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()) ?? []
  const text = Buffer.from([problem.detail, ...faults].join('; '))
  const { status, headers } = problemResponse(problem)
  headers.set('content-type', PROTOBUF)
  return new Response(Buffer.concat([Buffer.from([0x12, ...varint(text.length)]), text]), { status, headers })
}

function varint(value: number): number[] {
  const bytes: number[] = []
  for (; value > 0x7f; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80)
  return [...bytes, value]
}
