// The composition root: every part is built here, and only here. Orders, with their reasons:
//   start: the lock (nobody else may touch the files) → what is durable → stores → shippers → the socket last, so that the first
//          request meets a whole service. A store that is away delays it by 1.5 s at most.
//   stop:  the socket (requests in flight end, nothing new comes) → shippers (the write in hand ends) → stores → files → the lock.
import { join } from 'node:path'
import { openAccounts } from './account/accounts.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { createConsole } from './console/bundle-console.ts'
import { CONSOLE_POLICY } from './console/shell-page.ts'
import type { Destination, Event } from './event/event.ts'
import { MAX_AHEAD_US } from './event/own-time.ts'
import { createStampClock } from './event/stamp-clock.ts'
import { hasLoopbackHost } from './http/accounts/own-host.ts'
import { createFindSession } from './http/accounts/session-cookie.ts'
import { createApp } from './http/app.ts'
import { clientAddress } from './http/client-address.ts'
import { createLimitBadKeys } from './http/intake/bad-keys.ts'
import { SPOOL_REFUSALS } from './http/intake/intake-gate.ts'
import { createRateLimit } from './http/intake/rate-limit.ts'
import { type Listener, listen } from './http/listen.ts'
import type { Logger } from './log.ts'
import { createMetrics } from './metrics.ts'
import { Problem } from './problem.ts'
import { createQuestions } from './query/questions.ts'
import { createEraseAccounts } from './ship/erase-accounts.ts'
import { createShipper } from './ship/shipper.ts'
import { openSpool } from './spool/spool.ts'
import { lockDataDir, makeDataDir } from './state/data-dir-lock.ts'
import { openDeadLetters } from './state/dead-letters.ts'
import { openGivenStamps } from './state/given-stamps.ts'
import { openStores } from './store/open-stores.ts'

const MIN_FREE_BYTES = 64 * 2 ** 20
const LEAD_LOGGED_US = 1_000_000
const LEAD_LOOKED_AT_MS = 10_000
const STORES_READY_WITHIN_MS = 1_500
/** Requests that trickle in may not take the time that closing the files needs. */
const REQUESTS_END_WITHIN_MS = 4_000

export interface Service {
  /** Where it listens. */
  readonly url: string
  stop(): Promise<void>
}

/** Throws an Error whose message is for the operator when the service cannot start. */
export async function startService(config: Config, clock: Clock, log: Logger): Promise<Service> {
  makeDataDir(config.dataDir)
  const inDataDir = (name: string) => join(config.dataDir, name)
  const lock = lockDataDir(config.dataDir)
  const metrics = createMetrics()

  const accounts = openAccounts({
    path: inDataDir('accounts.sqlite'),
    clock,
    log,
    signup: config.signup,
    setupCodeRequired: !isLoopback(config.host) || config.trustProxy > 0 || config.setupCode !== undefined,
    ...(config.setupCode !== undefined && { setupCode: config.setupCode }),
    seriesMax: config.influx === undefined ? 0 : config.seriesMax,
  })
  const deadLetters = openDeadLetters({ path: inDataDir('dead.sqlite'), maxBytes: config.deadMaxBytes, clock, log })
  const openSpoolOf = (destination: Destination) => {
    const commitSeconds = metrics.commitSeconds.labels(destination)
    return openSpool({
      dir: inDataDir(join('spool', destination)),
      maxBytes: Math.floor(config.spoolMaxBytes / 2),
      minFreeBytes: MIN_FREE_BYTES,
      log: log.child({ destination }),
      onCommit: (_, ms) => commitSeconds.observe(ms / 1000),
    })
  }
  const spools = { points: await openSpoolOf('points'), exceptions: await openSpoolOf('exceptions') }
  const givenStamps = openGivenStamps({
    path: inDataDir('given-stamps.sqlite'),
    keepUs: config.maxAgeUs + MAX_AHEAD_US,
    clock,
    log,
  })
  const stampClock = createStampClock(
    clock,
    config.nodeId,
    Math.max(spools.points.newestUs, spools.exceptions.newestUs),
  )

  const stores = await openStores({
    influx: config.influx,
    clickhouse: config.clickhouse,
    embeddedPath: inDataDir('clickhouse'),
    retentionDays: config.retentionDays,
    log,
  })
  const createShipperTo = (destination: Destination) =>
    createShipper({
      destination,
      spool: spools[destination],
      sink: stores.sinks[destination],
      deadLetters,
      clock,
      log,
      meter: {
        delivered: (n) => metrics.delivered.labels(destination).inc(n),
        expired: (n) => metrics.expired.labels(destination).inc(n),
        dead: (n) => metrics.dead.labels(destination).inc(n),
        deliverySeconds: (s) => metrics.deliverySeconds.labels(destination).observe(s),
        batch: (outcome) => metrics.batches.labels(destination, outcome).inc(),
      },
    })
  const shippers = { points: createShipperTo('points'), exceptions: createShipperTo('exceptions') }
  const eraseAccounts = createEraseAccounts({
    removals: accounts.removals,
    removed: accounts.removed,
    spools: Object.values(spools),
    sinks: Object.values(stores.sinks),
    deadLetters,
    nowUs: stampClock.nowUs,
    log,
  })

  // Looked up once: finding a counter by its label costs more than counting.
  const accepted = {
    start: metrics.accepted.labels('start'),
    end: metrics.accepted.labels('end'),
    metrics: metrics.accepted.labels('metrics'),
    exception: metrics.accepted.labels('exception'),
  }
  const keyHeader = `x-${config.serviceName}-api-key`
  const keyInvalid = new Problem('key_invalid', `Send a valid API key in the header ${keyHeader}.`)
  let listener: Listener | undefined
  let isStopping = false
  const addressOf = (request: Request) => clientAddress(request, listener?.peerOf(request), config.trustProxy)

  const app = createApp({
    log,
    keyHeader,
    keyInvalid,
    findKey: accounts.findKey,
    findSession: createFindSession(accounts.sessions.find),
    ...(config.rateLimit > 0 && { limitBadKeys: createLimitBadKeys(clock, addressOf) }),
    hasTls: config.tls !== undefined,
    gate: {
      keyHeader,
      keyInvalid,
      findKey: accounts.findKey,
      rateLimit: createRateLimit(clock, config.rateLimit),
      refusal: (destination) => spools[destination].refusal(),
      stamp: stampClock.next,
    },
    intake: {
      spools,
      givenStamps,
      ownTimeSub: 2 * config.nodeId + 1,
      maxAgeUs: config.maxAgeUs,
      wallUs: clock.wallUs,
      admitSeries: (event) => accounts.series.admit(event.account, event.process, event.meta, metricNames(event)),
      seriesNoted: accounts.series.noted,
      countAccepted: (kind, events) => accepted[kind].inc(events),
    },
    countRefused: (kind, reason) => metrics.refused.labels(kind, reason).inc(),
    accounts: {
      accounts,
      addressOf,
      isOwnHost: isLoopback(config.host) && config.trustProxy === 0 ? hasLoopbackHost : () => true,
      isSecure: (request) =>
        config.tls !== undefined || (config.trustProxy > 0 && request.headers.get('x-forwarded-proto') === 'https'),
      onDeleted: () => void eraseAccounts.step(),
    },
    questions: createQuestions({
      points: stores.points,
      exceptions: stores.exceptions,
      nowNs: () => BigInt(Math.max(stampClock.nowUs(), clock.wallUs())) * 1000n,
      maxRunNs: BigInt(config.maxRunUs) * 1000n,
      maxMarks: config.queryMaxMarks,
      series: accounts.series.use,
    }),
    dead: {
      list: deadLetters.list,
      remove: deadLetters.remove,
      async replay(account, id) {
        const letter = deadLetters.get(account, id)
        if (letter === undefined) return false
        await spools[letter.destination as Destination].append(letter.record, stampClock.next().us)
        return deadLetters.remove(account, id)
      },
    },
    health: {
      spools: () => ({ points: spools.points.stats(), exceptions: spools.exceptions.stats() }),
      destinations: () => ({
        points: { store: stores.sinks.points.store, ...shippers.points.status() },
        exceptions: { store: stores.sinks.exceptions.store, ...shippers.exceptions.status() },
      }),
      countDead: deadLetters.count,
      countAllDead: () => deadLetters.stats().total,
      isOperator: (account) => accounts.get(account)?.operator === true,
      nowUs: stampClock.nowUs,
    },
    console: createConsole(keyHeader),
    consolePolicy: CONSOLE_POLICY,
    nowNs: () => BigInt(stampClock.nowUs()) * 1000n,
    unready() {
      if (isStopping) return new Problem('stopping', 'Stint is stopping.', { retryAfterS: 5 })
      // One that is busy takes events again with its next commit, long before anybody has acted on this answer.
      const refusal = [spools.points.refusal(), spools.exceptions.refusal()].find((it) => it && it !== 'busy')
      return refusal && SPOOL_REFUSALS[refusal]()
    },
    renderMetrics() {
      for (const destination of ['points', 'exceptions'] as const) {
        const { records, bytes, oldestUs, damaged } = spools[destination].stats()
        metrics.spoolRecords.labels(destination).set(records)
        metrics.spoolBytes.labels(destination).set(bytes)
        metrics.spoolOldestSeconds
          .labels(destination)
          .set(oldestUs === undefined ? 0 : Math.max(0, (stampClock.nowUs() - oldestUs) / 1e6))
        metrics.spoolDamaged.labels(destination).set(damaged)
        metrics.deadLetters.labels(destination).set(deadLetters.stats().byDestination[destination] ?? 0)
        metrics.parked.labels(destination).set(shippers[destination].status().state === 'parked' ? 1 : 0)
      }
      metrics.clockLeadSeconds.set(stampClock.leadUs() / 1e6)
      return metrics.registry.metrics()
    },
  })

  // Tables of the first start are there before the first question; a store that is away or slow is not waited for any longer.
  const prepared = Promise.allSettled(Object.values(stores.sinks).map((sink) => sink.prepare()))
  await Promise.race([prepared, Bun.sleep(STORES_READY_WITHIN_MS)])
  shippers.points.start()
  shippers.exceptions.start()
  eraseAccounts.start()
  listener = listen(app, { host: config.host, port: config.port, tls: config.tls, log })
  let isAhead = false
  const watchLead = () => {
    const leadUs = stampClock.leadUs()
    if (leadUs > LEAD_LOGGED_US === isAhead) return
    isAhead = !isAhead
    if (isAhead)
      log.warn(
        { lead_s: leadUs / 1e6 },
        'the stamps are ahead of the wall clock, which was set back; they stay in order',
      )
    else log.info('the wall clock has caught up with the stamps')
  }
  watchLead()
  const leadWatch = setInterval(watchLead, LEAD_LOOKED_AT_MS)
  log.info(
    {
      url: listener.url,
      points: stores.sinks.points.store,
      exceptions: stores.sinks.exceptions.store,
      data_dir: config.dataDir,
    },
    'stint is ready',
  )
  if (accounts.count() === 0) sayHowToBegin(log, listener.url, config, accounts.setupCode())

  return {
    url: listener.url,
    async stop() {
      isStopping = true
      clearInterval(leadWatch)
      await Promise.race([listener.stop(), Bun.sleep(REQUESTS_END_WITHIN_MS)])
      await eraseAccounts.stop()
      await Promise.all([shippers.points.stop(), shippers.exceptions.stop()])
      await stores.close()
      await Promise.all([spools.points.close(), spools.exceptions.close()])
      deadLetters.close()
      givenStamps.close()
      accounts.close()
      lock.release()
    },
  }
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** The names that count for the budget of series; a mark has none. */
const metricNames = (event: Event): string[] | undefined =>
  event.kind === 'metrics' ? event.items.map(([name]) => name) : undefined

/** A set-up code that was given is the operator's secret: only one that was made up is said. */
function sayHowToBegin(log: Logger, url: string, { signup, setupCode }: Config, needed: string | undefined) {
  if (signup === 'closed') return log.warn('there is no account and SIGNUP is closed: set SIGNUP=first to make one')
  const code = needed === undefined ? '' : ` --setup-code ${setupCode === undefined ? needed : '…'}`
  log.info(`no account yet: make one with \`STINT_URL=${url} bun run stint account create${code}\` or at ${url}/`)
}
