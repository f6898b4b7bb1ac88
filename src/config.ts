// Environment → frozen Config. All problems are reported at once; secrets may come from a file (NAME_FILE).
import { statSync } from 'node:fs'
import {
  DAY_US,
  GIVEN_ROLES,
  isIssuer,
  isPlainHttpUrl,
  isPostgresUrl,
  isSmtpUrl,
  MAX_SPAN_DAYS,
  parseBytes,
  parseHost,
  parseHosts,
  parseRoleRules,
  parseSpanUs,
  parseTrustProxy,
  readText,
  readTls,
} from './parse-settings.ts'
import type { Config } from './settings.ts'

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly problems: readonly string[]) {
    super(`Invalid settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

type Env = Readonly<Record<string, string | undefined>>

/** The largest number of fifteen digits. */
const MANY = 999_999_999_999_999

/** Throws ConfigError. An empty variable counts as unset. */
export function readConfig(env: Env = process.env): Config {
  const problems: string[] = []
  const raw = (name: string) => env[name] || undefined

  function read<T>(name: string, fallback: T, parse: (text: string) => T | undefined, rule: string): T {
    const text = raw(name)
    if (text === undefined) return fallback
    const value = parse(text)
    if (value !== undefined) return value
    problems.push(`${name}=${JSON.stringify(text)}: must be ${rule}`)
    return fallback
  }
  const integer = (name: string, fallback: number, min: number, max: number) =>
    read(
      name,
      fallback,
      (text) => (/^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined),
      `a whole number from ${min} to ${max}`,
    )
  const span = (name: string, fallback: string) =>
    read(
      name,
      parseSpanUs(fallback)!,
      parseSpanUs,
      `a time span such as 90s, 30m, 24h or 7d, from 1s to ${MAX_SPAN_DAYS}d`,
    )
  const bytes = (name: string, fallback: string) =>
    read(
      name,
      parseBytes(fallback)!,
      parseBytes,
      'a size such as 500MiB, 10GiB or a number of bytes, more than 0 and less than 8192TiB',
    )
  const oneOf = <T extends string>(name: string, fallback: T, allowed: readonly T[]) =>
    read(name, fallback, (text) => allowed.find((value) => value === text), `one of ${allowed.join(', ')}`)
  /** '' for an invalid one. Its value is never printed: it may hold a password. */
  const url = (name: string, credentials: string): string | undefined => {
    const text = raw(name)
    if (text === undefined || isPlainHttpUrl(text)) return text?.replace(/\/+$/, '')
    problems.push(
      `${name}: must be an http or https URL without user, password, query and fragment; credentials belong in ${credentials}`,
    )
    return ''
  }
  /** '' for a file that cannot be read, which is reported. */
  const secret = (name: string): string | undefined => {
    const path = raw(`${name}_FILE`)
    if (path === undefined) return raw(name)
    if (raw(name) !== undefined) problems.push(`${name}: set together with ${name}_FILE; set only one of them`)
    try {
      const text = readText(path).trim()
      if (text === '') problems.push(`${name}_FILE: the file is empty`)
      return text
    } catch (error) {
      problems.push(`${name}_FILE: ${(error as Error).message}`)
      return ''
    }
  }

  /** A secret that is sent unchanged in a header. */
  const token = (name: string): string | undefined => {
    const text = secret(name)
    if (text !== undefined && !/^[ -~]*$/.test(text))
      problems.push(`${name}: must be one line of printable ASCII, because it is sent in a header`)
    return text
  }

  const smtpUrl = secret('SMTP_URL')
  if (smtpUrl !== undefined && smtpUrl !== '' && !isSmtpUrl(smtpUrl))
    problems.push(`SMTP_URL: must be smtp://user:password@host:port (STARTTLS) or smtps://…; ${ESCAPE}`)
  const mailFrom = raw('MAIL_FROM')
  if (smtpUrl !== undefined && mailFrom === undefined) problems.push('MAIL_FROM: required together with SMTP_URL')
  if (mailFrom !== undefined && !/^[^\r\n]*[^\s@<]+@[^\s@>]+>?$/.test(mailFrom))
    problems.push(`MAIL_FROM=${JSON.stringify(mailFrom)}: must be an e-mail address, such as Stint <stint@example.com>`)
  const heartbeatUrl = raw('STINT_HEARTBEAT_URL')
  if (heartbeatUrl !== undefined && !(URL.canParse(heartbeatUrl) && /^https?:/.test(heartbeatUrl)))
    problems.push('STINT_HEARTBEAT_URL: must be an http or https URL')
  const databaseUrl = secret('DATABASE_URL')
  if (databaseUrl && !isPostgresUrl(databaseUrl))
    problems.push(
      `DATABASE_URL: must be a URL such as postgres://user:password@host:5432/database, with no or a valid sslmode; ${ESCAPE}`,
    )
  const influxUrl = url('INFLUX_URL', 'INFLUX_TOKEN')
  const clickhouseUrl = url('CLICKHOUSE_URL', 'CLICKHOUSE_USER and CLICKHOUSE_PASSWORD')
  const certPath = raw('TLS_CERT')
  const keyPath = raw('TLS_KEY')
  const tls = certPath !== undefined && keyPath !== undefined ? { certPath, keyPath } : undefined
  if (tls === undefined && certPath !== keyPath) problems.push('TLS_CERT and TLS_KEY: set both or none')
  if (tls !== undefined && !isPipe(tls.certPath) && !isPipe(tls.keyPath)) {
    const read = readTls(tls)
    if ('problems' in read) problems.push(...read.problems)
  }

  const config: Config = {
    port: integer('PORT', 7070, 0, 65_535),
    host: read('HOST', '127.0.0.1', parseHost, 'an address such as 127.0.0.1 or ::1, or a host name'),
    dataDir: raw('DATA_DIR') ?? './data',
    serviceName: read(
      'SERVICE_NAME',
      'stint',
      (text) => (/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(text) ? text : undefined),
      'lower-case letters, digits and - (at most 40)',
    ),
    nodeId: integer('NODE_ID', 0, 0, 249),
    signup: oneOf('SIGNUP', 'first', ['first', 'open', 'closed']),
    setupCode: secret('SETUP_CODE'),
    maxRunUs: span('MAX_RUN', '24h'),
    maxAgeUs: span('MAX_AGE', '7d'),
    spoolMaxBytes: bytes('SPOOL_MAX_BYTES', '10GiB'),
    deadMaxBytes: bytes('DEAD_MAX_BYTES', '1GiB'),
    seriesMax: integer('SERIES_MAX', 10_000, 0, MANY),
    queryMaxMarks: raw('QUERY_MAX_MARKS') === undefined ? undefined : integer('QUERY_MAX_MARKS', 1, 1, MANY),
    retentionDays: integer('RETENTION_DAYS', 0, 0, 36_500),
    rateLimit: integer('RATE_LIMIT', 0, 0, MANY),
    trustProxy: read(
      'TRUST_PROXY',
      0,
      parseTrustProxy,
      'true, false or the number of proxies before Stint, at most 99',
    ),
    allowedHosts: read('ALLOWED_HOSTS', [], parseHosts, 'host names without port, separated by commas'),
    tls,
    publicUrl: url('PUBLIC_URL', 'the account'),
    smtp: smtpUrl === undefined ? undefined : { url: smtpUrl, from: mailFrom ?? '' },
    oidc:
      raw('OIDC_ISSUER') === undefined
        ? undefined
        : {
            issuer: read(
              'OIDC_ISSUER',
              '',
              (text) => (isIssuer(text) ? text : undefined),
              'an https URL (http only on a loopback address) without user, query and fragment',
            ),
            clientId: raw('OIDC_CLIENT_ID') ?? missing('OIDC_CLIENT_ID', 'OIDC_ISSUER'),
            clientSecret: secret('OIDC_CLIENT_SECRET') ?? missing('OIDC_CLIENT_SECRET', 'OIDC_ISSUER'),
            name: raw('OIDC_NAME') ?? 'single sign-on',
            join:
              raw('OIDC_JOIN') === undefined
                ? undefined
                : oneOf<'viewer' | 'member'>('OIDC_JOIN', 'viewer', ['viewer', 'member']),
            roles: read(
              'OIDC_ROLES',
              [],
              parseRoleRules,
              `parts such as groups:admins=owner, with ${GIVEN_ROLES.join(', ')}`,
            ),
          },
    passwordSignIn: oneOf('PASSWORD_SIGN_IN', 'true', ['true', 'false']) === 'true',
    notifyPrivate: oneOf('NOTIFY_PRIVATE', 'false', ['true', 'false']) === 'true',
    heartbeatUrl,
    logLevel: oneOf('LOG_LEVEL', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    databaseUrl,
    influx:
      influxUrl === undefined
        ? undefined
        : {
            url: influxUrl,
            token: token('INFLUX_TOKEN') ?? missing('INFLUX_TOKEN'),
            org: raw('INFLUX_ORG') ?? missing('INFLUX_ORG'),
            bucket: raw('INFLUX_BUCKET') ?? missing('INFLUX_BUCKET'),
          },
    clickhouse:
      clickhouseUrl === undefined
        ? undefined
        : {
            url: clickhouseUrl,
            user: raw('CLICKHOUSE_USER') ?? 'default',
            password: secret('CLICKHOUSE_PASSWORD') ?? '',
            database: databaseName('default'),
            ...(raw('CLICKHOUSE_CLUSTER') !== undefined && { cluster: clusterName() }),
          },
  }

  function missing(name: string, url = 'INFLUX_URL'): string {
    problems.push(`${name}: required together with ${url}`)
    return ''
  }
  function databaseName(fallback: string): string {
    return read(
      'CLICKHOUSE_DATABASE',
      fallback,
      (text) => (/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(text) ? text : undefined),
      'letters, digits and _',
    )
  }

  function clusterName(): string {
    return read(
      'CLICKHOUSE_CLUSTER',
      '',
      (text) => (/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(text) ? text : undefined),
      'the name of a cluster: letters, digits, _ and -',
    )
  }

  for (const [url, names] of Object.entries(NEEDS_URL))
    if (raw(url) === undefined)
      for (const name of names) if (raw(name) !== undefined) problems.push(`${name}: is set, but ${url} is not`)
  if (!config.passwordSignIn && config.oidc === undefined)
    problems.push('PASSWORD_SIGN_IN=false: needs OIDC_ISSUER, or nobody could sign in')
  const minRetention = (2 * config.maxRunUs) / DAY_US
  if (config.retentionDays !== 0 && config.retentionDays < minRetention)
    problems.push(`RETENTION_DAYS=${config.retentionDays}: must be at least twice MAX_RUN (${minRetention} days), or 0`)
  const oldestDays = config.maxAgeUs / DAY_US + 1
  if (config.retentionDays !== 0 && config.retentionDays < oldestDays)
    problems.push(
      `RETENTION_DAYS=${config.retentionDays}: must be at least MAX_AGE and one day (${oldestDays} days), or 0: the store would drop events that were accepted`,
    )
  if (config.spoolMaxBytes < MIN_SPOOL_BYTES) problems.push('SPOOL_MAX_BYTES: must be at least 1MiB')
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

const MIN_SPOOL_BYTES = 2 ** 20
const ESCAPE = 'write a % of the password as %25, and @ : / ? # likewise'

/** Settings that have no effect without their URL; setting one means that the URL was forgotten. */
const NEEDS_URL = {
  OIDC_ISSUER: [
    'OIDC_CLIENT_ID',
    'OIDC_CLIENT_SECRET',
    'OIDC_CLIENT_SECRET_FILE',
    'OIDC_NAME',
    'OIDC_JOIN',
    'OIDC_ROLES',
  ],
  INFLUX_URL: ['INFLUX_TOKEN', 'INFLUX_TOKEN_FILE', 'INFLUX_ORG', 'INFLUX_BUCKET'],
  CLICKHOUSE_URL: [
    'CLICKHOUSE_USER',
    'CLICKHOUSE_PASSWORD',
    'CLICKHOUSE_PASSWORD_FILE',
    'CLICKHOUSE_DATABASE',
    'CLICKHOUSE_CLUSTER',
  ],
}

/** A pipe can be read only once, so it is left to its user. */
function isPipe(path: string): boolean {
  try {
    return statSync(path).isFIFO()
  } catch {
    return false
  }
}
