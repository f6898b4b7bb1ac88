// Reports to the operator: metrics, the lead of the clock, how to create the first account.
import { statfs } from 'node:fs/promises'
import { DESTINATIONS, EVENT_KINDS } from '../event/event.ts'
import type { Metrics } from '../metrics.ts'
import type { ProblemCode } from '../problem.ts'
import type { WriteResult } from '../store/sink.ts'
import { COMMAND_LINE, readVersion } from '../version.ts'
import { AUDIT_ACTIONS } from '../wire/audit-actions.ts'
import { CHANNEL_KINDS } from '../wire/channel-kinds.ts'
import { EVENT_ROUTES, SEND_BATCH } from '../wire/events.ts'
import { EXPORT_TRACES } from '../wire/other-protocols.ts'
import type { Rooms } from './open-rooms.ts'
import { mayLink } from './open-watch-room.ts'
import { leadOf, NEW_NODE_ID } from './warnings.ts'

export const VERSION = readVersion()
const LEAD_CHECKED_EVERY_MS = 10_000

/** Prometheus text. Gauges are read here rather than kept up to date by their rooms. */
export async function renderMetrics(rooms: Rooms): Promise<string> {
  const { config, metrics, spools, deadLetters, shippers, stampClock, watches } = rooms
  const { firing, judgedUs, outbox } = await watches.stats()
  metrics.alertsFiring.set(firing)
  metrics.watchBehindSeconds.set(Math.max(0, (stampClock.nowUs() - judgedUs) / 1e6))
  metrics.notificationsWaiting.set(outbox.waiting)
  metrics.notificationsOldestSeconds.set(
    outbox.oldestUs === undefined ? 0 : Math.max(0, (stampClock.nowUs() - outbox.oldestUs) / 1e6),
  )
  const dead = deadLetters.stats().byDestination
  for (const destination of DESTINATIONS) {
    const { records, bytes, oldestUs, damaged } = spools[destination].stats()
    const oldestS = oldestUs === undefined ? 0 : Math.max(0, (stampClock.nowUs() - oldestUs) / 1e6)
    metrics.spoolRecords.labels(destination).set(records)
    metrics.spoolBytes.labels(destination).set(bytes)
    metrics.spoolLimitBytes.labels(destination).set(Math.floor(config.spoolMaxBytes / 2))
    metrics.spoolOldestSeconds.labels(destination).set(oldestS)
    metrics.spoolDamaged.labels(destination).set(damaged)
    metrics.deadLetters.labels(destination).set(dead[destination] ?? 0)
    metrics.parked.labels(destination).set(shippers[destination].status().state === 'parked' ? 1 : 0)
  }
  metrics.accountsSuspended.set(rooms.accounts.suspensions.count())
  metrics.clockLeadSeconds.set(stampClock.leadUs() / 1e6)
  metrics.buildInfo.labels(VERSION.version, VERSION.commit ?? '', `bun ${Bun.version}`).set(1)
  const disk = await statfs(config.dataDir).catch(() => undefined)
  if (disk !== undefined) metrics.diskFreeBytes.set(disk.bavail * disk.bsize)
  return metrics.registry.metrics()
}

/** Logs when the stamps run ahead of the wall clock by more than a second or an hour, and when they no longer do. */
export function watchLead({ config, stampClock, log }: Rooms): { stop(): void } {
  let was: keyof typeof LEADS = 'none'
  const check = () => {
    const leadUs = stampClock.leadUs()
    const is = leadOf(leadUs)
    if (is === was) return
    was = is
    if (is === 'none') log.info(LEADS.none)
    else log.warn({ lead_s: leadUs / 1e6, dataDir: config.dataDir }, LEADS[is])
  }
  check()
  const timer = setInterval(check, LEAD_CHECKED_EVERY_MS)
  return { stop: () => clearInterval(timer) }
}

const LEADS = {
  none: 'stamps follow the wall clock again',
  short: 'stamps are ahead of the wall clock, which was set back; the lead shrinks by 1 % of the time that passes',
  long: `stamps are ahead of the wall clock, which was set back, for more than four days. ${NEW_NODE_ID}`,
}

/** About settings that leave out what strangers or recipients need. */
export function warnAboutSettings({ config, log }: Pick<Rooms, 'config' | 'log'>): void {
  const isMailed = config.smtp !== undefined && mayLink(config)
  if (!mayLink(config)) {
    // other hosts cannot use that address
    const mail = config.smtp === undefined ? '' : ', and no e-mail is sent, because each holds a link with a token'
    const text = `PUBLIC_URL is unset: links in notifications use the address listened on${mail}; set it`
    log.warn({ host: config.host }, text)
  }
  if (config.signup !== 'open') return
  if (!isMailed)
    log.warn(
      'SIGNUP=open without e-mail: strangers can sign up with the addresses of others; ' +
        'set SMTP_URL, MAIL_FROM and PUBLIC_URL',
    )
  if (config.quotaBytes === 0)
    log.warn('SIGNUP=open without QUOTA_BYTES: a stranger may send as much as the disk takes; set QUOTA_BYTES')
}

/** A setup code that the operator gave is a secret; only a generated one is logged. */
export function logHowToBegin({ config, log, accounts }: Rooms, url: string): void {
  if (config.signup === 'closed') {
    log.warn('no account exists and SIGNUP is closed: set SIGNUP=first to create one')
    return
  }
  const needed = accounts.setupCode()
  const code = needed === undefined ? '' : ` --setup-code ${config.setupCode === undefined ? needed : '…'}`
  log.info(describeFirstStep(COMMAND_LINE, url, config.publicUrl, code))
}

/**
 * `url` is the address listened on, perhaps a wildcard; without `publicUrl` nobody knows where a container is
 * published.
 */
export function describeFirstStep(
  { command, where }: typeof COMMAND_LINE,
  url: string,
  publicUrl: string | undefined,
  code: string,
): string {
  const local = url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//127.0.0.1:')
  const setting = local === 'http://127.0.0.1:7070' ? '' : `STINT_URL=${local} `
  const page = publicUrl ?? (where === '' ? local : undefined)
  const browser = page === undefined ? 'in a browser, at the address published for it' : `at ${page}/`
  return `no account yet: create one with \`${setting}${command} account create${code}\`${where} or ${browser}`
}

// Creates every counter at zero: a counter that appears with its first increment hides it from rate() and increase().
/** Problems that the routes under `/v1` answer with, and those that no single route declares. */
const REFUSALS = new Set([
  ...[...EVENT_ROUTES.start.problems, ...SEND_BATCH.problems, ...EXPORT_TRACES.problems].map((problem) =>
    typeof problem === 'string' ? problem : problem.code,
  ),
  ...(['not_found', 'method_not_allowed', 'spool_missing', 'stopping'] satisfies ProblemCode[]),
])

const OUTCOMES = Object.keys({
  stored: true,
  refused: true,
  too_large: true,
  retry: true,
  wait: true,
} satisfies Record<WriteResult['kind'], true>)

export function startCounters(metrics: Metrics): void {
  for (const kind of EVENT_KINDS) metrics.countAccepted(kind, 0)
  for (const kind of [...EVENT_KINDS, 'other'])
    for (const reason of REFUSALS) metrics.refused.labels(kind, reason).inc(0)
  for (const action of AUDIT_ACTIONS) metrics.accountActions.labels(action).inc(0)
  for (const kind of CHANNEL_KINDS)
    for (const outcome of ['delivered', 'failed']) metrics.notifications.labels(kind, outcome).inc(0)
  for (const destination of DESTINATIONS) {
    for (const counter of [metrics.delivered, metrics.expired, metrics.dead]) counter.labels(destination).inc(0)
    for (const outcome of OUTCOMES) metrics.batches.labels(destination, outcome).inc(0)
  }
}
