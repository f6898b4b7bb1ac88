// The settings of a server, as config.ts reads them.
import type { RoleRule, TlsPaths } from './parse-settings.ts'

export interface InfluxConfig {
  readonly url: string
  readonly token: string
  readonly org: string
  readonly bucket: string
}

export interface ClickHouseConfig {
  readonly url: string
  readonly user: string
  readonly password: string
  readonly database: string
  readonly cluster?: string
}

export interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** On the button. */
  readonly name: string
  /** The role in the operator's account of someone whom nobody invited; undefined: nobody joins uninvited. */
  readonly join: 'viewer' | 'member' | undefined
  readonly roles: readonly RoleRule[]
}

export interface Config {
  readonly port: number
  readonly host: string
  readonly dataDir: string
  readonly serviceName: string
  readonly nodeId: number
  readonly signup: 'first' | 'open' | 'closed'
  readonly setupCode: string | undefined
  readonly maxRunUs: number
  readonly maxAgeUs: number
  readonly spoolMaxBytes: number
  readonly deadMaxBytes: number
  /** 0 = no limit. */
  readonly seriesMax: number
  /** Undefined = what the store of the points declares. */
  readonly queryMaxMarks: number | undefined
  /** 0 = keep forever. */
  readonly retentionDays: number
  /** Events per account and second under /v1, and requests under /api; 0 = no limit. */
  readonly rateLimit: number
  /** Number of proxies in front of Stint whose X-Forwarded-For entries are trusted. */
  readonly trustProxy: number
  /** Host names in lower case by which browsers reach Stint; empty = any. */
  readonly allowedHosts: readonly string[]
  readonly tls: TlsPaths | undefined
  /** The public address of Stint, for links in notifications; without a trailing slash. */
  readonly publicUrl: string | undefined
  /** Absent: no e-mail. */
  readonly smtp: { readonly url: string; readonly from: string } | undefined
  /** Absent: passwords alone. */
  readonly oidc: OidcConfig | undefined
  /** May people sign in by a password? */
  readonly passwordSignIn: boolean
  /** Notifications may go to private addresses. */
  readonly notifyPrivate: boolean
  /** Requested every minute while watches are evaluated. */
  readonly heartbeatUrl: string | undefined
  readonly logLevel: string
  /** PostgreSQL for the accounts; absent: SQLite in DATA_DIR. */
  readonly databaseUrl: string | undefined
  /** Absent: points go to ClickHouse. */
  readonly influx: InfluxConfig | undefined
  /** Absent: the embedded engine under DATA_DIR. */
  readonly clickhouse: ClickHouseConfig | undefined
}
