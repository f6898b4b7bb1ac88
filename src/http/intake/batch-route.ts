// POST /v1/batch: many events in one call. Each is judged by the rules of its own call; the valid ones are made
// durable, the others named by their index. All its events share one budget of faults, so that an answer is never much
// larger than the request.
import { Elysia, t } from 'elysia'
import type { TokenBuckets } from '../../account/token-buckets.ts'
import { EVENT_KINDS, type Event, type EventKind, isMark, isSentKind, SENT_KINDS } from '../../event/event.ts'
import { Faults, MAX_FAULTS } from '../../event/faults.ts'
import { isObject } from '../../event/fields.ts'
import { type Draft, parseEvent } from '../../event/parse-event.ts'
import { formatTime, type Stamp } from '../../event/stamp.ts'
import { Problem } from '../../problem.ts'
import { SEND_BATCH } from '../../wire/events.ts'
import { PROBLEM_HEADERS, problemBody, uncachedHeaders } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'
import { appendDraft, diskProblem, EndNotStored, type IntakeDeps } from './accept-event.ts'
import type { BodyBudget, Reserve } from './body-budget.ts'
import type { PassGate } from './intake-gate.ts'
import { parseBatch, readBatch, UnreadEvent } from './read-batch.ts'

export interface BatchDeps extends IntakeDeps {
  readonly passGate: PassGate
  stamp(): Stamp
  readonly bodies: BodyBudget
  readonly rateLimit: TokenBuckets
  countRefused(kind: EventKind | 'other', reason: string, times?: number): void
}

/** An event that was not accepted, as its item of the answer says it. */
type Refusal = Pick<Problem, 'status' | 'code' | 'detail' | 'errors' | 'retryAfterS'> & {
  readonly cause?: unknown
  /** The texts of an end were accepted. */
  readonly isHalfStored?: true
}

interface Accepted {
  readonly kind: EventKind
  readonly texts?: readonly Event[]
  readonly stamp: Stamp
}

const HEADERS = uncachedHeaders({ 'content-type': 'application/json' })
/** Rough memory of an event while its batch is under way: its draft or refusal, and its item of the answer. */
const EVENT_BYTES = 500

export function batchRoute(deps: BatchDeps) {
  function parseAll(request: Request, bytes: Uint8Array): (Draft | Refusal)[] {
    let room = MAX_FAULTS
    return parseBatch(request, bytes).map((event, index) => {
      const faults = new Faults(room, `/${index}`)
      const draft = parseItem(event, faults, deps)
      room -= faults.list.length
      return draft ?? refusalOf(faults, event)
    })
  }

  /** Large batches wait for room in the spools, so that small requests are not refused. */
  async function appendAll(drafts: readonly (Draft | Refusal)[], account: string): Promise<(Accepted | Refusal)[]> {
    const results: (Accepted | Refusal)[] = []
    const commits = new Map<Promise<void>, number[]>()
    const append = (draft: Draft, index: number): Accepted | Refusal => {
      const spent = deps.quotaRefusal(account, isMark(draft.kind))
      if (spent !== undefined) return toRefusal(spent)
      const appended = appendDraft(draft, account, deps.stamp(), deps)
      if (appended instanceof Problem) return indexed(appended, index)
      const indexes = commits.get(appended.done)
      if (indexes !== undefined) indexes.push(index)
      else {
        commits.set(appended.done, [index])
        appended.done.catch(() => {}) // it may reject long before the last event is appended, when it is judged
      }
      const { event, texts } = appended
      return texts === undefined ? event : { kind: event.kind, stamp: event.stamp, texts }
    }
    for (const [index, draft] of drafts.entries()) {
      for (let full = backpressure(); full !== undefined; full = backpressure()) await full
      results.push('status' in draft ? draft : append(draft, index))
    }
    const settled = await Promise.allSettled(commits.keys())
    for (const [i, indexes] of [...commits.values()].entries()) {
      const commit = settled[i]!
      if (commit.status === 'fulfilled') continue
      const problem = diskProblem(commit.reason)
      const refusal =
        commit.reason instanceof EndNotStored ? { ...toRefusal(problem), isHalfStored: true as const } : problem
      for (const index of indexes) results[index] = refusal
    }
    return results
  }

  const backpressure = () => deps.spools.points.backpressure() ?? deps.spools.exceptions.backpressure()

  /** Events of a batch that is accepted at least in part; one that is refused whole counts as one request. */
  function count(results: readonly (Accepted | Refusal)[]): void {
    const byKind = Object.fromEntries(EVENT_KINDS.map((kind) => [kind, 0])) as Record<EventKind, number>
    const refused = new Map<string, number>()
    for (const result of results) {
      if ('status' in result) refused.set(result.code, (refused.get(result.code) ?? 0) + 1)
      else {
        byKind[result.kind]++
        for (const { kind } of result.texts ?? []) byKind[kind]++
      }
    }
    for (const [code, times] of refused) deps.countRefused('other', code, times)
    for (const kind of EVENT_KINDS) if (byKind[kind] > 0) deps.countAccepted(kind, byKind[kind])
  }

  async function acceptBatch(request: Request, account: string, reserve: Reserve): Promise<Response> {
    const drafts = parseAll(request, await readBatch(request, reserve))
    reserve(drafts.length * EVENT_BYTES)
    deps.rateLimit.owe(account, drafts.length - 1)
    const results = await appendAll(drafts, account)
    const refusals = results.filter((result): result is Refusal => 'status' in result)
    if (refusals.length === results.length) return answerProblem(commonProblem(refusals))
    count(results)
    const items = results.map(answerItem).join(',')
    const body = `{"accepted":${results.length - refusals.length},"refused":${refusals.length},"items":[${items}]}`
    const headers = new Headers(HEADERS)
    const retryAfterS = refusals.reduce((longest, refusal) => Math.max(longest, refusal.retryAfterS ?? 0), 0)
    if (retryAfterS > 0) headers.set('retry-after', String(retryAfterS))
    return new Response(body, { status: refusals.length === 0 ? 201 : 207, headers })
  }

  /** Returns the caller's faults; all other problems are thrown, to be logged in one place. */
  function answerProblem(problem: Problem): Response {
    if (problem.status !== 422) throw problem
    deps.countRefused('other', problem.code)
    return new Response(JSON.stringify(problemBody(problem)), { status: 422, headers: PROBLEM_HEADERS })
  }

  return new Elysia({ normalize: false }).post(
    SEND_BATCH.path,
    async ({ request }) => {
      const admission = deps.passGate(request, SEND_BATCH.path)
      if (admission instanceof Response) return admission
      const { account } = admission
      return await deps.bodies.during(account, (reserve) => acceptBatch(request, account, reserve))
    },
    {
      /** The handler reads the body, so that its room is reserved until the answer. */
      parse: 'none',
      body: t.Array(t.Unknown()),
      ...describeRoute(SEND_BATCH),
    },
  )
}

/** Undefined when there are faults. */
function parseItem(event: unknown, faults: Faults, deps: IntakeDeps): Draft | undefined {
  if (event instanceof UnreadEvent) faults.add('', event.detail)
  else if (!isObject(event)) faults.add('', 'must be a JSON object')
  else if (!Object.hasOwn(event, 'kind')) faults.add('/kind', `is required: ${SENT_KINDS.join(', ')}`)
  // Without its kind nothing more can be said of an event.
  else if (!isSentKind(event.kind)) faults.add('/kind', `must be ${SENT_KINDS.join(', ')}`)
  else return parseEvent(event.kind, event, deps, faults, true)
  return undefined
}

function refusalOf({ list, count }: Faults, event: unknown): Refusal {
  const [code, what] =
    event instanceof UnreadEvent && event.code === 'json_malformed'
      ? (['json_malformed', 'The event could not be read as JSON.'] as const)
      : (['fields_invalid', 'The event is invalid.'] as const)
  const more = count - list.length
  return {
    status: 422,
    code,
    detail: more === 0 ? what : `${what} ${more} of its faults are not listed.`,
    errors: list.length > 0 ? list : undefined,
    retryAfterS: undefined,
  }
}

/** The pointers of a problem with one event begin with its index, as in the whole body. */
function indexed(problem: Problem, index: number): Refusal {
  const errors = problem.errors?.map((fault) => ({ ...fault, pointer: `/${index}${fault.pointer}` }))
  return { ...toRefusal(problem), errors }
}

function toRefusal({ status, code, detail, errors, retryAfterS, cause }: Problem): Refusal {
  return { status, code, detail, errors, retryAfterS, cause }
}

const toItem = ({ status, code, detail, errors }: Refusal) => ({ status, code, detail, ...(errors && { errors }) })

const answerItem = (result: Accepted | Refusal): string =>
  'status' in result ? JSON.stringify(toItem(result)) : `{"at":"${formatTime(result.stamp)}"}`

/**
 * No event was accepted: the problem of the whole batch. Transient problems go before lasting ones, and an end whose
 * texts were stored before what was not stored at all.
 */
function commonProblem(refusals: readonly Refusal[]): Problem {
  const rank = ({ status, isHalfStored }: Refusal) => 2 * status + (isHalfStored ? 1 : 0)
  const worst = refusals.reduce((a, b) => (rank(b) > rank(a) ? b : a))
  const { code, detail, retryAfterS, cause } = worst
  const items = refusals.map(toItem)
  if (worst.status !== 422)
    return new Problem(code, detail, { items, cause, ...(retryAfterS !== undefined && { retryAfterS }) })
  const errors = refusals.flatMap((refusal) => refusal.errors ?? []).slice(0, MAX_FAULTS)
  return new Problem(code, 'No event of the batch was accepted.', { errors, items })
}
