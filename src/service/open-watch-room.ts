// Opens the room of the watches on the stores, the spools and the settings.
import { join } from 'node:path'
import type { Accounts } from '../account/accounts.ts'
import type { Clock } from '../clock.ts'
import type { Arrivals } from '../event/arrivals.ts'
import type { Both } from '../event/event.ts'
import type { StampClock } from '../event/stamp-clock.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { isLoopback, isWildcard } from '../parse-settings.ts'
import type { Desk } from '../query/desk.ts'
import { findDecision } from '../query/former-decisions.ts'
import type { Config } from '../settings.ts'
import { isStuck } from '../spool/is-stuck.ts'
import type { Spool } from '../spool/spool.ts'
import { readDataDirId } from '../state/data-dir-lock.ts'
import type { Stores } from '../store/open-stores.ts'
import type { RefusedTimes } from '../watch/feed/refused-times.ts'
import type { IsIgnored } from '../watch/log/apply-record.ts'
import { openWatches, type Watches } from '../watch/watches.ts'
import { createFindPrevious } from './find-previous.ts'
import { createMarkSource, createWatchHistory } from './watch-history.ts'

/** PUBLIC_URL, or the address listened on: a wildcard address cannot be connected to. */
export function publicUrlOf({ publicUrl, host, port, tls }: Config): string {
  if (publicUrl !== undefined) return publicUrl
  const name = isWildcard(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}`
}

/** Whether links may leave Stint: every e-mail holds one with a token, which must lead to this Stint alone. */
export const mayLink = ({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>): boolean =>
  publicUrl !== undefined || isLoopback(host)

export interface WatchParts {
  readonly config: Config
  readonly clock: Clock
  readonly stampClock: StampClock
  readonly arrivals: Pick<Arrivals, 'leastUs'>
  readonly log: Logger
  readonly metrics: Metrics
  readonly spools: Both<Pick<Spool, 'refusal' | 'follow' | 'mark' | 'floorUs' | 'writingUs'>>
  readonly refusedTimes: RefusedTimes
  readonly stores: Stores
  readonly desk: Desk
  readonly accounts: Pick<
    Accounts,
    'groupStates' | 'notes' | 'disputedBy' | 'strangerMails' | 'suspensions' | 'use'
  > & {
    readonly watchCount?: Accounts['watchCount']
  }
}

export function openWatchRoom(parts: WatchParts): Watches {
  const { config, clock, stampClock, arrivals, log, metrics, spools, stores, accounts, desk } = parts
  return openWatches({
    path: join(config.dataDir, 'watches.sqlite'),
    count: accounts.watchCount,
    ...(config.databaseUrl !== undefined && {
      shared: { url: config.databaseUrl, node: config.nodeId, dataDir: readDataDirId(config.dataDir) },
    }),
    spools,
    refusedTimes: parts.refusedTimes,
    receivingUs: arrivals.leastUs,
    source: createMarkSource(stores.points),
    isIgnored: createIsIgnored(accounts),
    noteOf: async (account, process) => (await accounts.notes.find(account, process)).note,
    previousOf: createFindPrevious(stores.exceptions, desk),
    history: createWatchHistory(stores, accounts, desk),
    nowUs: clock.wallUs,
    logUs: stampClock.nowUs,
    leadUs: stampClock.leadUs,
    monotonicUs: clock.monotonicUs,
    accepts: () => {
      const refusal = spools.points.refusal()
      if (Object.values(spools).some((spool) => isStuck(spool, stampClock.nowUs()))) return false
      return refusal === undefined || refusal === 'busy'
    },
    lastArrivalUs: () => Math.max(...Object.values(spools).map(({ floorUs }) => floorUs)),
    maxRunUs: config.maxRunUs,
    publicUrl: () => publicUrlOf(config),
    smtp: mayLink(config) ? config.smtp : undefined,
    notifyPrivate: config.notifyPrivate,
    heartbeatUrl: config.heartbeatUrl,
    suspensions: accounts.suspensions,
    isHeld: (account) => accounts.disputedBy(account) !== undefined || accounts.suspensions.isSuspended(account),
    strangerMails: accounts.strangerMails,
    log,
    meter: {
      delivered(kind, account) {
        metrics.notifications.labels(kind, 'delivered').inc()
        if (kind === 'email') accounts.use.addEmail(account)
      },
      failed: (kind) => metrics.notifications.labels(kind, 'failed').inc(),
      seconds: (s) => metrics.notificationSeconds.observe(s),
      alertSeconds: (s) => metrics.alertSeconds.observe(s),
    },
  })
}

/** Without an answer of the database an exception counts. */
export const createIsIgnored =
  ({ groupStates }: { readonly groupStates: Pick<Accounts['groupStates'], 'find'> }): IsIgnored =>
  async (exception, atUs) => {
    const decision = await findDecision(groupStates, exception).catch(() => undefined)
    return decision !== undefined && (decision.status === 'ignored' || atUs <= decision.atUs)
  }
