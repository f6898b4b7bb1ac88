// The Elysia app: the gate before /v1, the one place where errors become answers, and every route.
import { Elysia, NotFoundError } from 'elysia'
import type { EventKind } from '../event/event.ts'
import type { Live } from '../live/live.ts'
import type { AskOverview } from '../live/overview/overview.ts'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import type { ChangeGroup } from '../query/exception-groups.ts'
import type { KeptAnswers } from '../query/kept-answers.ts'
import type { Questions } from '../query/questions.ts'
import type { Watches } from '../watch/watches.ts'
import { PING_BY_GET } from '../wire/other-protocols.ts'
import { mountAccount } from './accounts/account-routes.ts'
import { mountAudit } from './accounts/audit-routes.ts'
import { mountDisputes } from './accounts/dispute-routes.ts'
import { mountKeys } from './accounts/key-routes.ts'
import { mountOidc, type OidcDeps } from './accounts/oidc-routes.ts'
import { mountOperator } from './accounts/operator-routes.ts'
import { mountPeople } from './accounts/people-routes.ts'
import { mountReset } from './accounts/reset-routes.ts'
import { createNoteDone, type PeopleDeps } from './accounts/session-answers.ts'
import { problemResponse } from './answers.ts'
import { type AuthorizeDeps, createAuthorize, createNameOf } from './authorize.ts'
import { type ClientRoutesDeps, clientRoutes } from './clients/client-routes.ts'
import { swaggerRoutes } from './docs/swagger-routes.ts'
import { createAllowedMethods, createLogTrouble, errorToProblem } from './error-to-problem.ts'
import type { IntakeDeps } from './intake/accept-event.ts'
import { batchRoute } from './intake/batch-route.ts'
import { createBodyBudget } from './intake/body-budget.ts'
import { admit, type GateDeps, isIntake, kindOfPath, type PassGate } from './intake/intake-gate.ts'
import { v1Routes } from './intake/v1-routes.ts'
import { createMounts } from './mount.ts'
import { type ConsoleRoutesDeps, consoleRoutes } from './operations/console-routes.ts'
import { type HealthDeps, mountHealth, mountOperations, type OpsDeps } from './operations/ops-routes.ts'
import { isOtlpProtobuf, otlpRoutes, statusResponse } from './otlp/otlp-routes.ts'
import { createPings, pingRoutes } from './ping/ping-routes.ts'
import { hidePingToken, isPingAtRoot } from './ping/read-ping.ts'
import { type AnswerTagsDeps, createAnswerTags } from './questions/answer-tags.ts'
import { type DeadLetterRoutesDeps, mountDeadLetters } from './questions/dead-letter-routes.ts'
import { mountGroups } from './questions/group-routes.ts'
import { mountChanges, mountOverview } from './questions/overview-route.ts'
import { questionRoutes } from './questions/question-routes.ts'
import { type AlertRoutesDeps, mountAlerts } from './watches/alert-routes.ts'
import { mountWatches } from './watches/watch-routes.ts'

export interface AppDeps extends OpsDeps, AuthorizeDeps, ConsoleRoutesDeps, ClientRoutesDeps {
  readonly gate: Pick<GateDeps, 'rateLimit' | 'refusal' | 'stamp'>
  readonly intake: IntakeDeps
  readonly accounts: PeopleDeps
  /** Stint terminates TLS itself: browsers must then never use plain http. */
  readonly hasTls: boolean
  readonly questions: Questions
  readonly kept: KeptAnswers
  readonly overview: AskOverview
  readonly changeGroup: ChangeGroup
  readonly changes: Pick<Live, 'changesOf'>
  readonly tags: Pick<AnswerTagsDeps, 'start' | 'watchChanges' | 'versionOf'>
  readonly dead: DeadLetterRoutesDeps['dead']
  readonly health: HealthDeps
  readonly watch: Watches
  readonly alerts: AlertRoutesDeps
  /** Absent without an identity provider. */
  readonly oidc?: OidcDeps
  nowNs(): bigint
  readonly log: Logger
  countRefused(kind: EventKind | 'other', reason: string, times?: number): void
}

/** The path of an absolute request URL, without its query. */
function pathOf(url: string): string {
  const start = url.indexOf('/', 8)
  const end = url.indexOf('?', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

/** Elysia types what it wraps as any function; it hands over a request and takes a response. */
type Wrapper = Parameters<Elysia['wrap']>[0]

const PING_METHODS: readonly string[] = ['GET', 'HEAD', 'POST']

const BAD_REQUEST = () => new Response(null, { status: 400 })

/** Bun joins two Host headers; a proxy in front may have believed either. */
const refuseTwoHosts = (handle: (request: Request) => Response | Promise<Response>, request: Request) =>
  request.headers.get('host')?.includes(',') ? BAD_REQUEST : handle

const tellTlsOnly = (handle: (request: Request) => Response | Promise<Response>) => async (request: Request) => {
  const response = await handle(request)
  response.headers.set('strict-transport-security', 'max-age=31536000')
  return response
}

export function createApp(deps: AppDeps) {
  const { log, intake, keyHeader, keyInvalid, findKey, limitBadKeys } = deps
  const { quotaRefusal } = intake
  const gate: GateDeps = { ...deps.gate, keyHeader, keyInvalid, findKey, limitBadKeys, quotaRefusal }
  const nowUs = () => Number(deps.nowNs() / 1000n)
  const logStoreTrouble = createLogTrouble(log, nowUs, 'a question had no answer from its store')
  const logDiskTrouble = createLogTrouble(log, nowUs, 'the disk did not take what was sent')
  const bodies = createBodyBudget()
  const { stamp, rateLimit } = gate
  const authorize = createAuthorize(deps)
  const nameOf = createNameOf(deps.accounts.accounts.keys)
  const tags = createAnswerTags({ ...deps.tags, nowMs: () => nowUs() / 1000 })

  const refuse = (request: Request, path: string, problem: Problem): Response => {
    if (isIntake(path)) deps.countRefused(kindOfPath(path) ?? 'other', problem.code)
    return isOtlpProtobuf(request, path) ? statusResponse(problem) : problemResponse(problem)
  }

  const passGate: PassGate = (request, path) => {
    const admission = admit(request, path, gate)
    return admission instanceof Problem ? refuse(request, path, admission) : admission
  }
  const event = { ...intake, passGate, bodies }
  const batch = { ...event, stamp, rateLimit, countRefused: deps.countRefused }

  const noteRefusedPing = deps.health.deadLetters.refusedPings.note
  const acceptPing = createPings({ ...batch, findKey, refusal: gate.refusal, noteRefusedPing, limitBadKeys })

  const allowedMethods = createAllowedMethods(() => app.routes)
  function answerError(error: unknown, request: Request, path: string): Response {
    // No route, so its gate was not passed: without a valid key nothing is revealed of what is below `/v1`.
    if (error instanceof NotFoundError && isIntake(path)) {
      const refusal = admit(request, path, gate)
      if (refusal instanceof Problem) return refuse(request, path, refusal)
    }
    const allow =
      error instanceof NotFoundError ? allowedMethods(isPingAtRoot(path) ? PING_BY_GET.path : path) : undefined
    if (allow !== undefined && !allow.includes(request.method))
      return refuse(request, path, new Problem('method_not_allowed', `This path takes ${allow}.`, { allow }))
    // The client left before its body was complete.
    if ((error as Error).name === 'AbortError' && request.signal.aborted) return new Response(null, { status: 499 })
    const problem = errorToProblem(error, path)
    if (problem?.code === 'store_unavailable') logStoreTrouble(problem, hidePingToken(path))
    if (problem !== undefined && problem.status !== 500) return refuse(request, path, problem)
    if (problem?.code === 'disk_failed') logDiskTrouble(problem, hidePingToken(path))
    else log.error({ err: problem?.cause ?? error, path: hidePingToken(path) }, 'a request failed')
    return refuse(request, path, problem ?? new Problem('internal', 'An unexpected fault; the log holds the details.'))
  }

  // Elysia searches for the path after the URL's eleventh character, which is inside it when the Host is as short as
  // `api`; without TLS an option makes it search after the seventh.
  const app = new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: deps.hasTls } })
    .onError(({ error, request, set }) => {
      // Elysia copies an answer, body and all, into a stream of its own when the status here is not 200.
      set.status = 200
      const path = pathOf(request.url)
      // A route for it would stand before every other path of one or two segments.
      if (error instanceof NotFoundError && isPingAtRoot(path) && PING_METHODS.includes(request.method))
        return acceptPing(request).catch((cause: unknown) => answerError(cause, request, path))
      return answerError(error, request, path)
    })
    .wrap(refuseTwoHosts as unknown as Wrapper)
    .use(v1Routes(event))
    .use(batchRoute(batch))
    .use(otlpRoutes(batch))
    .use(pingRoutes(acceptPing))
    .use(questionRoutes({ authorize, questions: deps.questions, kept: deps.kept, tags }))
    .use(consoleRoutes(deps))
    .use(clientRoutes(deps))
  const { isOwnHost, publicOrigin } = deps
  const noteDone = createNoteDone(deps.accounts)
  const mounts = createMounts(app, { authorize, isOwnHost, publicOrigin, noteDone, tags })
  for (const mount of [mountAccount, mountKeys, mountPeople, mountAudit, mountReset, mountOperator])
    mount(mounts, deps.accounts)
  mountOidc(mounts, deps.accounts, deps.oidc)
  mountDisputes(mounts, deps.accounts, deps.watch)
  mountWatches(mounts, deps.watch, nameOf, deps.overview, deps.disputedBy)
  mountAlerts(mounts, deps.alerts, nameOf)
  mountGroups(mounts, deps.changeGroup, nameOf, deps.kept)
  mountChanges(mounts, deps.changes)
  mountOverview(mounts, deps.overview, deps.kept)
  mountDeadLetters(mounts, deps)
  mountHealth(mounts, deps.health)
  mountOperations(mounts, deps)
  if (deps.hasTls) app.wrap(tellTlsOnly as unknown as Wrapper)
  return app.use(swaggerRoutes({ described: app, keyHeader }))
}
