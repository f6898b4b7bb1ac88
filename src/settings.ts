// Every setting of a server, once: its variable, how its text is read, its default, and its meaning as the tables in
// README.md (basic ones) and deploy/README.md (all others) have it. Tests compare both and deploy/env.example with it.
import {
  address,
  anyText,
  bytes,
  bytesOrNone,
  delay,
  ESCAPE,
  GIVEN_ROLES,
  header,
  hidden,
  integer,
  isIssuer,
  isMailAddress,
  isPostgresUrl,
  isSmtpUrl,
  isTrue,
  type Kind,
  kind,
  list,
  MANY,
  matching,
  oneOf,
  parseHost,
  parseHosts,
  parseRoleRules,
  parseTrustProxy,
  secret,
  span,
} from './parse-settings.ts'

export interface Setting<T> extends Kind<T> {
  readonly variable: string
  /** Meaning of an unset value: the text of a default; nothing; or a fault, once the first of its group is set. */
  readonly unset: { readonly text: string } | 'nothing' | 'fault'
  readonly about: string
  /** Its default in words, where it has no text. */
  readonly defaultWords?: string
  /** Its value may come from the file that VARIABLE_FILE names. */
  readonly isSecret?: boolean
  /** It does no harm without the first of its group. */
  readonly mayBeAlone?: boolean
  /** A first user needs it: it is in the table of README.md. */
  readonly isBasic?: boolean
}

type Row<T> = Kind<T> & Pick<Setting<T>, 'defaultWords' | 'isSecret' | 'mayBeAlone'>

const setting = <T>(variable: string, row: Row<T>, text: string, about: string): Setting<T> => {
  return { ...row, variable, about, unset: { text } }
}
const optional = <T>(variable: string, row: Row<T>, about: string): Setting<T | undefined> => {
  return { ...row, variable, about, unset: 'nothing' }
}
const needed = <T>(variable: string, row: Row<T>, about: string): Setting<T> => {
  return { ...row, variable, about, unset: 'fault' }
}
const basic = <T>(row: Setting<T>): Setting<T> => ({ ...row, isBasic: true })
/** Of a group: the others count when it is set, so in the group it has a value. */
const first = optional as <T>(...row: Parameters<typeof optional<T>>) => Setting<T>

/**
 * A member of its own, or a group: an object whose first member turns the others on. Times are in µs, sizes in bytes;
 * 0 is no limit.
 */
export const SETTINGS = {
  port: basic(setting('PORT', integer(0, 65_535), '7070', '0 = any free port')),
  host: basic(
    setting(
      'HOST',
      kind(parseHost, 'an address such as 127.0.0.1 or ::1, or a host name'),
      '127.0.0.1',
      'address to listen on; on any other than a loopback address the first sign-up needs the setup code',
    ),
  ),
  dataDir: basic(
    setting(
      'DATA_DIR',
      anyText,
      './data',
      "spools, accounts, and the embedded engine's data; belongs to one process at a time",
    ),
  ),
  serviceName: setting(
    'SERVICE_NAME',
    matching(
      (text) => /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(text),
      'lower-case letters, digits and - (at most 40)',
    ),
    'stint',
    'names the header of the key: `x-<service>-api-key`',
  ),
  nodeId: setting('NODE_ID', integer(0, 249), '0', '0 to 249; each of several Stints that share a store needs its own'),
  signup: setting(
    'SIGNUP',
    oneOf('first', 'open', 'closed'),
    'first',
    '`first` = until there is an account · `open` · `closed`',
  ),
  setupCode: basic(
    optional(
      'SETUP_CODE',
      {
        ...secret(matching((text) => text.length >= 12, 'at least 12 characters')),
        defaultWords: 'made up, in the log',
      },
      'needed by the first sign-up if it is set, with `TRUST_PROXY`, or unless `HOST` is loopback; at least 12 characters',
    ),
  ),
  maxRunUs: basic(setting('MAX_RUN', span, '24h', 'the longest run that is still paired')),
  maxAgeUs: setting('MAX_AGE', span, '7d', 'an event whose own time (`at`) is older is refused'),
  stopDelayUs: setting(
    'STOP_DELAY',
    delay,
    '0',
    'after SIGTERM `/readyz` is 503 and requests are still taken for so long: [behind a balancer](balancer.md)',
  ),
  spoolMaxBytes: setting(
    'SPOOL_MAX_BYTES',
    bytes,
    '10GiB',
    'limit of the events that wait for the stores, half of it for each destination',
  ),
  deadMaxBytes: setting('DEAD_MAX_BYTES', bytes, '1GiB', 'limit of the dead letters'),
  seriesMax: setting(
    'SERIES_MAX',
    integer(0, MANY),
    '10000',
    'distinct (process, meta, metric name) an account may make while points go to InfluxDB; 0 = no limit',
  ),
  queryMaxMarks: optional(
    'QUERY_MAX_MARKS',
    { ...integer(1, MANY), defaultWords: '`10000000` (InfluxDB) or else `50000000`' },
    'a question that would read more marks is refused',
  ),
  retentionDays: basic(
    setting(
      'RETENTION_DAYS',
      integer(0, 36_500),
      '0',
      '0 = keep forever; otherwise at least twice `MAX_RUN`, and `MAX_AGE` and a day; applies to what Stint creates',
    ),
  ),
  quotaBytes: setting('QUOTA_BYTES', bytesOrNone, '0', 'bytes an account may send to a node in 24 hours; 0 = no limit'),
  rateLimit: setting(
    'RATE_LIMIT',
    integer(0, MANY),
    '0',
    'events per second and account under `/v1`, and requests under `/api`; 0 = no limit',
  ),
  allowedHosts: setting(
    'ALLOWED_HOSTS',
    list(parseHosts, 'host names without port, separated by commas'),
    '',
    'host names by which sessions may be used, separated by commas; unset: any, or loopback names alone on a ' +
      'loopback `HOST`',
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    kind(parseTrustProxy, 'true, false or the number of proxies before Stint, at most 99'),
    'false',
    '`true`, `false`, or how many proxies before Stint to believe in `X-Forwarded-For`',
  ),
  tls: {
    certPath: first('TLS_CERT', anyText, 'PEM file with the certificate and its chain; plain HTTP without one'),
    keyPath: needed('TLS_KEY', anyText, 'needed with `TLS_CERT`: PEM file with its key'),
  },
  publicUrl: basic(
    optional(
      'PUBLIC_URL',
      { ...address(), defaultWords: 'the address listened on' },
      'where people reach Stint; for links in notifications. Without it no e-mail is sent, unless `HOST` is loopback',
    ),
  ),
  smtp: {
    url: basic(
      first(
        'SMTP_URL',
        secret(matching(isSmtpUrl, `smtp://user:password@host:port (STARTTLS) or smtps://…; ${ESCAPE}`)),
        'e-mail for alerts and password resets, with `MAIL_FROM`: `smtp://user:password@host:587` (STARTTLS), ' +
          '`smtps://…` or, in a network that you trust, `smtp://host:25?insecure=true`',
      ),
    ),
    from: needed(
      'MAIL_FROM',
      { ...matching(isMailAddress, 'an e-mail address, such as Stint <stint@example.com>'), mayBeAlone: true },
      'needed with `SMTP_URL`: the sender, such as `Stint <stint@example.com>`',
    ),
  },
  oidc: {
    issuer: first(
      'OIDC_ISSUER',
      matching(isIssuer, 'an https URL (http only on a loopback address) without user, query and fragment'),
      'sign in at a provider (OpenID Connect): its address, https; [single sign-on](#single-sign-on)',
    ),
    clientId: needed('OIDC_CLIENT_ID', anyText, 'needed with `OIDC_ISSUER`'),
    clientSecret: needed('OIDC_CLIENT_SECRET', secret(anyText), 'needed with `OIDC_ISSUER`'),
    name: setting('OIDC_NAME', anyText, 'single sign-on', 'on the button: "Sign in with …"'),
    join: optional(
      'OIDC_JOIN',
      oneOf('viewer', 'member'),
      "`viewer` or `member`: the role in the operator's account of people whom nobody invited; unset: only the invited",
    ),
    roles: setting(
      'OIDC_ROLES',
      list(parseRoleRules, `parts such as groups:admins=owner, with ${GIVEN_ROLES.join(', ')}`),
      '',
      "claims → roles in the operator's account, such as `groups:admins=owner,groups:staff=viewer`",
    ),
  },
  passwordSignIn: setting('PASSWORD_SIGN_IN', isTrue, 'true', '`false` = only the provider signs people in'),
  notifyPrivate: setting(
    'NOTIFY_PRIVATE',
    isTrue,
    'false',
    '`true` = webhooks, Slack and ntfy may reach loopback and private addresses',
  ),
  heartbeatUrl: optional(
    'STINT_HEARTBEAT_URL',
    hidden(matching((text) => URL.canParse(text) && /^https?:/.test(text), 'an http or https URL')),
    'requested (POST) every minute while watches are judged, so that another service notices when they are not',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    '`trace` `debug` `info` `warn` `error` `fatal` `silent`',
  ),
  databaseUrl: optional(
    'DATABASE_URL',
    secret(
      matching(
        isPostgresUrl,
        `a URL such as postgres://user:password@host:5432/database, with no or a valid sslmode; ${ESCAPE}`,
      ),
    ),
    'PostgreSQL for the accounts and watches of several nodes; without it they are in `DATA_DIR`',
  ),
  influx: {
    url: basic(
      first(
        'INFLUX_URL',
        address('; credentials belong in INFLUX_TOKEN'),
        'InfluxDB 2, with `INFLUX_TOKEN`, `INFLUX_ORG` and `INFLUX_BUCKET`; without it points go to ClickHouse',
      ),
    ),
    token: needed('INFLUX_TOKEN', secret(header), 'needed with `INFLUX_URL`'),
    org: needed('INFLUX_ORG', anyText, 'needed with `INFLUX_URL`'),
    bucket: needed('INFLUX_BUCKET', anyText, 'needed with `INFLUX_URL`; created when it is missing and the token may'),
  },
  clickhouse: {
    url: basic(
      first(
        'CLICKHOUSE_URL',
        address('; credentials belong in CLICKHOUSE_USER and CLICKHOUSE_PASSWORD'),
        'ClickHouse over HTTP, with `CLICKHOUSE_USER` and `CLICKHOUSE_PASSWORD`; without it the engine is embedded',
      ),
    ),
    user: setting('CLICKHOUSE_USER', anyText, 'default', 'only with `CLICKHOUSE_URL`'),
    password: setting('CLICKHOUSE_PASSWORD', secret(anyText), '', 'only with `CLICKHOUSE_URL`'),
    database: setting(
      'CLICKHOUSE_DATABASE',
      matching((text) => /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(text), 'letters, digits and _'),
      'default',
      'only with `CLICKHOUSE_URL`; created when it is missing and the user may',
    ),
    cluster: optional(
      'CLICKHOUSE_CLUSTER',
      matching(
        (text) => /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(text),
        'the name of a cluster: letters, digits, _ and -',
      ),
      'the cluster of `CLICKHOUSE_URL`, whose shards hold the tables: [ClickHouse cluster](#a-clickhouse-cluster)',
    ),
  },
}

type Values<T> = T extends Setting<infer V> ? V : GroupOf<T> | undefined
type GroupOf<T> = { readonly [K in keyof T]: T[K] extends Setting<infer V> ? V : never }

export type Config = { readonly [K in keyof typeof SETTINGS]: Values<(typeof SETTINGS)[K]> }
export type InfluxConfig = NonNullable<Config['influx']>
export type ClickHouseConfig = NonNullable<Config['clickhouse']>
export type OidcConfig = NonNullable<Config['oidc']>

export const isSetting = (it: object): it is Setting<unknown> => 'variable' in it

/** Without the groups around them. */
export const settingsOf = (table: object): Setting<unknown>[] =>
  Object.values(table).flatMap((it) => (isSetting(it) ? it : settingsOf(it)))

/** Every variable that the server reads, those of secrets in files too. */
export const settingNames = (): ReadonlySet<string> => new Set(settingsOf(SETTINGS).flatMap(namesOf))

/** The variables that may hold its value. */
export const namesOf = ({ variable, isSecret }: Setting<unknown>): string[] => [
  variable,
  ...(isSecret ? [`${variable}_FILE`] : []),
]
