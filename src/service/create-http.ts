// Hands the rooms to the HTTP app: who may ask, what an event needs on its way in, what the operator sees.
import type { FoundKey } from '../account/key-ring.ts'
import { coarserNetwork } from '../account/networks.ts'
import { createSessionToken } from '../account/secret.ts'
import { createTokenBuckets } from '../account/token-buckets.ts'
import type { Clock } from '../clock.ts'
import { CONSOLE_POLICY, createConsole } from '../console/bundle-console.ts'
import type { Destination, Event, Text } from '../event/event.ts'
import type { OidcDeps } from '../http/accounts/oidc-routes.ts'
import type { LinkLimits } from '../http/accounts/session-answers.ts'
import { createSessionCookies } from '../http/accounts/session-cookie.ts'
import { type AppDeps, createApp } from '../http/app.ts'
import { createLimitBadKeys } from '../http/authorize.ts'
import { clientAddress, createIsOwnHost, createOwnAddress, isForwardedSecure } from '../http/request-origin.ts'
import type { Logger } from '../log.ts'
import { createFlowCookie } from '../oidc/flow-cookie.ts'
import { createProvider } from '../oidc/provider.ts'
import { roleOf } from '../oidc/roles.ts'
import { isLoopback, isWildcard } from '../parse-settings.ts'
import { Problem } from '../problem.ts'
import type { Questions } from '../query/questions.ts'
import type { OidcConfig } from '../settings.ts'
import { SHOW_OVERVIEW } from '../wire/overview.ts'
import { createLinkMails } from './link-mails.ts'
import type { Rooms } from './open-rooms.ts'
import { publicUrlOf } from './open-watch-room.ts'
import { notesOf, unready } from './readiness.ts'
import { renderMetrics, VERSION } from './report.ts'
import { warningsOf } from './warnings.ts'

/** Per account under /api, while RATE_LIMIT is set: enough for several open pages of the console. */
const READS_PER_SECOND = 50

/** Of events or questions, by account. */
const PER_SECOND = { windowS: 1, maxEntries: 100_000 }
/**
 * Requests without a valid key by address, while RATE_LIMIT is set: else a 401 costs less than the counting, and keys
 * cannot be guessed.
 */
const BAD_KEYS = { limit: 100, windowS: 60, maxEntries: 10_000, coarser: coarserNetwork }

/** Facts that only the running service knows. */
export interface Running {
  /** The address at the other end of a request's connection. */
  peerOf(request: Request): string | undefined
  isStopping(): boolean
}

export function createHttp(rooms: Rooms, { peerOf, isStopping }: Running) {
  const { config, clock, log, metrics, accounts, deadLetters, spools, stampClock, arrivals } = rooms
  const keyHeader = `x-${config.serviceName}-api-key`
  const keyInvalid = new Problem('key_invalid', `Send a valid API key in the header ${keyHeader}.`)
  const addressOf = (request: Request) => clientAddress(request, peerOf(request), config.trustProxy)
  const isOwnHost = createIsOwnHost(config.allowedHosts, isLoopback(config.host) && config.trustProxy === 0)
  const isSecure = (request: Request) => config.tls !== undefined || isForwardedSecure(request, config.trustProxy)
  const cookies = createSessionCookies({ isSecure, publicUrl: config.publicUrl })
  const audit = createAudit(rooms)
  /** The address is found out once a minute and key: each use would pay for it. */
  function findKey(secret: string, request: Request): FoundKey | undefined {
    const key = accounts.findKey(secret)
    if (key !== undefined) key.usedFrom ??= addressOf(request)
    return key
  }
  return createApp({
    log,
    keyHeader,
    keyInvalid,
    findKey,
    cookies,
    findSession: accounts.sessions.find,
    isOperator: accounts.isOperator,
    disputedBy: accounts.disputedBy,
    isSuspended: accounts.suspensions.isSuspended,
    isOwnHost,
    publicOrigin: config.publicUrl,
    ownAddress: createOwnAddress({
      publicUrl: config.publicUrl,
      allowed: config.allowedHosts,
      listening: isWildcard(config.host) ? undefined : publicUrlOf(config),
      isSecure,
    }),
    ...(config.rateLimit > 0 && {
      limitBadKeys: createLimitBadKeys(createTokenBuckets({ clock, ...BAD_KEYS }), addressOf),
      readLimit: createTokenBuckets({ clock, ...PER_SECOND, limit: READS_PER_SECOND }),
    }),
    hasTls: config.tls !== undefined,
    gate: {
      rateLimit: createTokenBuckets({ clock, ...PER_SECOND, limit: config.rateLimit }),
      refusal: (destination, account) => spools[destination].refusal(account),
      stamp: arrivals.stamp,
    },
    intake: intakeOf(rooms),
    countRefused: (kind, reason, times = 1) => metrics.refused.labels(kind, reason).inc(times),
    accounts: {
      accounts,
      addressOf,
      nowMs: () => Math.floor(clock.wallUs() / 1000),
      limits: linkLimits(clock),
      publicUrl: () => publicUrlOf(config),
      ...(rooms.watches.mails && { mails: createLinkMails(rooms.watches.mails, config, clock, log) }),
      mailFailed: (err: unknown) => log.warn({ err }, 'a link could not be mailed'),
      passwordSignIn: config.passwordSignIn,
      ...(config.oidc && { providerName: config.oidc.name }),
      cookies,
      isSecure,
      audit,
      onDeleted: (account) => {
        rooms.live.forget(account)
        rooms.overview.forget(account)
        rooms.kept.forget(account)
        void rooms.eraseAccounts.step(account)
        rooms.watches.removeAccount(account).catch((err) => log.error({ err, account }, 'watches were not deleted'))
      },
    },
    ...(config.oidc && { oidc: oidcOf(config.oidc, clock, log) }),
    questions: measureQuestions(rooms),
    kept: rooms.kept,
    overview: rooms.overview,
    changeGroup: rooms.changeGroup,
    changes: rooms.live,
    tags: {
      start: createSessionToken(),
      watchChanges: rooms.watches.changes,
      versionOf: (account, { pathname, searchParams }) =>
        pathname === SHOW_OVERVIEW.path
          ? rooms.overview.versionOf(account, searchParams)
          : rooms.live.versionOf(account, searchParams.has('process') ? searchParams.getAll('process') : undefined),
    },
    watch: rooms.watches,
    alerts: {
      showAlert: rooms.showAlert,
      notes: accounts.notes.list,
      async writeNote(account, note, by) {
        const written = await accounts.notes.put(account, note, by)
        rooms.live.touch(account)
        return written
      },
    },
    dead: {
      list: deadLetters.list,
      remove: deadLetters.remove,
      buryHeld(reason) {
        const families = Object.values(rooms.shippers).flatMap((shipper) => shipper.buryHeld(reason))
        log.warn({ families, reason }, 'the operator gives up what a store refuses')
        return families
      },
      replay: (account, id) => replayDeadLetter(rooms, account, id),
    },
    health: {
      spools,
      sinks: rooms.stores.sinks,
      shippers: rooms.shippers,
      deadLetters,
      watches: rooms.watches.stats,
      isOperators: accounts.isOperator,
      use: accounts.use,
      quota: rooms.quota,
      version: VERSION,
      node: config.nodeId,
      warnings: (isOperators) => warningsOf(rooms, isOperators),
      dismissLostWatches: async () => rooms.accounts.watchCount?.dismissLost(),
      nodes: rooms.watches.nodes,
      nowUs: stampClock.nowUs,
    },
    console: createConsole(keyHeader),
    consolePolicy: CONSOLE_POLICY,
    nowNs: () => BigInt(stampClock.nowUs()) * 1000n,
    notes: () => notesOf(rooms),
    unready: () => (isStopping() ? new Problem('stopping', 'Stint is stopping.', { retryAfterS: 5 }) : unready(rooms)),
    renderMetrics: () => renderMetrics(rooms),
  })
}

/** Counted, logged, and written into the audit log of the account; what was done stays done when that fails. */
function createAudit({ metrics, log, accounts }: Rooms): AppDeps['accounts']['audit'] {
  return async (action, fields) => {
    metrics.accountActions.labels(action).inc()
    log.info({ action, ...fields }, 'audit')
    const { account, actor = null, key = null, target = null, detail = null, address } = fields
    if (account === undefined) return
    await accounts.audit
      .note({ account, action, actor, key, target, detail, address })
      .catch((err: unknown) => log.error({ err, action, ...fields }, 'the audit log could not be written'))
  }
}

const RESETS = { limit: 10, windowS: 3600, maxEntries: 10_000 }
const LINKS = { limit: 30, windowS: 3600, maxEntries: 10_000 }

const linkLimits = (clock: Clock): LinkLimits => ({
  linksOfCaller: createTokenBuckets({ clock, ...LINKS, coarser: coarserNetwork }),
  linksOfAccount: createTokenBuckets({ clock, ...LINKS }),
  resetsOfCaller: createTokenBuckets({ clock, ...RESETS, coarser: coarserNetwork }),
  resetsOfPerson: createTokenBuckets({ clock, ...RESETS }),
})

/** Steps of signing in at the provider, two of each person. */
const PROVIDER_STEPS = { limit: 300, windowS: 900, maxEntries: 10_000, coarser: coarserNetwork }

function oidcOf(settings: OidcConfig, clock: Clock, log: Logger): OidcDeps {
  return {
    settings,
    provider: createProvider(settings),
    cookie: createFlowCookie(settings.clientSecret),
    limiter: createTokenBuckets({ clock, ...PROVIDER_STEPS }),
    roleOf: (claims) => roleOf(claims, settings.roles),
    log,
  }
}

function intakeOf(rooms: Rooms): AppDeps['intake'] {
  const { config, clock, metrics, accounts, spools, ownStamps, stampClock, arrivals } = rooms
  return {
    arrivals,
    spools,
    ownStamps,
    maxAgeUs: config.maxAgeUs,
    wallUs: clock.wallUs,
    quotaRefusal: rooms.quota.refusal,
    admitSeries: (event) => accounts.series.admit(event.account, event.process, event.meta, metricNames(event)),
    countAccepted(kind, events, arrivedUs) {
      metrics.countAccepted(kind, events)
      if (arrivedUs !== undefined) metrics.requestSeconds.observe((stampClock.nowUs() - arrivedUs) / 1e6)
    },
  }
}

/** The names that count towards the series limit; a mark has none, and the others are no points. */
function metricNames(event: Event): string[] | undefined {
  switch (event.kind) {
    case 'metrics':
      return event.items.map(([name]) => name)
    case 'start':
    case 'end':
      return undefined
    default:
      event satisfies Text
      return undefined
  }
}

/**
 * Durable in the spool before it leaves the dead letters: a kill between the two repeats it. False without such a
 * letter.
 */
async function replayDeadLetter({ deadLetters, spools, arrivals }: Rooms, account: string | undefined, id: string) {
  const letter = deadLetters.get(account, id)
  if (letter === undefined) return false
  const stamp = arrivals.stamp()
  await spools[letter.destination as Destination].append(letter.record, stamp.us)
  return deadLetters.remove(account, id)
}

// Measures how long each question takes, failed ones too.
function measureQuestions({ questions, metrics, clock }: Pick<Rooms, 'questions' | 'metrics' | 'clock'>): Questions {
  const measured = Object.entries(questions).map(([name, ask]) => {
    const histogram = metrics.questionSeconds.labels(name)
    const measure = async (...args: Parameters<typeof ask>) => {
      const beganUs = clock.monotonicUs()
      try {
        return await (ask as (...given: typeof args) => Promise<unknown>)(...args)
      } finally {
        histogram.observe((clock.monotonicUs() - beganUs) / 1e6)
      }
    }
    return [name, measure]
  })
  return Object.fromEntries(measured)
}
