// The source and target of a copy, from the arguments and the environment. The target has the server's own settings; a
// source of the same kind has them too, unless FROM_CLICKHOUSE_… or FROM_INFLUX_… name another server.
import { join, resolve } from 'node:path'
import type { Clock } from '../clock.ts'
import { ConfigError, readConfig } from '../config.ts'
import { FAMILIES, type Family, familiesIn } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { ClickHouseConfig, Config, InfluxConfig } from '../settings.ts'
import type { Output } from './show-progress.ts'

/** Why a copy cannot begin or continue, as text for the operator. */
export class CopyError extends Error {
  override readonly name = 'CopyError'
}

type Env = Readonly<Record<string, string | undefined>>

export type Place =
  | { readonly kind: 'embedded'; readonly path: string }
  | ({ readonly kind: 'clickhouse' } & ClickHouseConfig)
  | ({ readonly kind: 'influxdb' } & InfluxConfig)
  | { readonly kind: 'file'; readonly path: string }
  /** All that are configured. */
  | { readonly kind: 'stores'; readonly config: Config }

/** The parts of a command on the stores. */
export interface CopyParts {
  readonly clock: Clock
  readonly log: Logger
  readonly stderr: Output
  /** Ends the work after the write in hand. */
  readonly signal: AbortSignal
}

export interface CopyPlan {
  /** Settings of the target and of DATA_DIR. */
  readonly config: Config
  readonly source: Place
  /** A file takes everything; otherwise the stores of `config`. */
  readonly toFile: string | undefined
  /** Families that the source may hold and that the target keeps elsewhere. */
  readonly families: readonly Family[]
  /** Only this account's events. */
  readonly account?: string
  /** Every event becomes this account's; only from a file. */
  readonly asAccount?: string
  /** Forgets the progress of an interrupted copy. */
  readonly restart?: boolean | undefined
}

const SERVERS = {
  clickhouse: {
    url: 'CLICKHOUSE_URL',
    others: ['USER', 'PASSWORD', 'PASSWORD_FILE', 'DATABASE'],
    prefix: 'CLICKHOUSE',
  },
  influxdb: { url: 'INFLUX_URL', others: ['TOKEN', 'TOKEN_FILE', 'ORG', 'BUCKET'], prefix: 'INFLUX' },
} as const

/** Throws CopyError and ConfigError. */
export function planCopy(env: Env, from: string, to: string | undefined, restart?: boolean): CopyPlan {
  const config = readConfig(env)
  const source = readPlace(env, config, from)
  const toFile = to === undefined ? undefined : resolve(to)
  if (source.kind === 'file' && toFile !== undefined)
    throw new CopyError('--from and --to both name a file: copy the file itself')
  const held: readonly Family[] = source.kind === 'influxdb' ? familiesIn('points') : FAMILIES
  const families =
    toFile === undefined ? held.filter((family) => placeId(source) !== placeId(targetOf(config, family))) : held
  if (families.length === 0)
    throw new CopyError(
      `nothing to copy: ${describePlace(source)} is the configured store itself. Set INFLUX_URL or ` +
        'CLICKHOUSE_URL to the ' +
        'new stores, or FROM_CLICKHOUSE_URL or FROM_INFLUX_URL to the former ones',
    )
  return { config, source, toFile, families, restart }
}

/** The configured stores into a file, for one account. Throws ConfigError. */
export function planExport(env: Env, file: string, account: string): CopyPlan {
  const config = readConfig(env)
  return { config, source: { kind: 'stores', config }, toFile: resolve(file), families: FAMILIES, account }
}

/** A file into the configured stores. Throws ConfigError. */
export function planImport(env: Env, file: string, asAccount: string): CopyPlan {
  const source: Place = { kind: 'file', path: resolve(file) }
  return { config: readConfig(env), source, toFile: undefined, families: FAMILIES, asAccount }
}

/** The configured store of a family. */
export function targetOf(config: Config, family: Family): Place {
  if (familiesIn('points').includes(family) && config.influx !== undefined)
    return { kind: 'influxdb', ...config.influx }
  if (config.clickhouse !== undefined) return { kind: 'clickhouse', ...config.clickhouse }
  return embeddedIn(config)
}

export const embeddedIn = ({ dataDir }: Config): Place & { readonly kind: 'embedded' } => ({
  kind: 'embedded',
  path: join(dataDir, 'clickhouse'),
})

function readPlace(env: Env, config: Config, from: string): Place {
  switch (from) {
    case 'embedded':
      return embeddedIn(config)
    case 'clickhouse': {
      const { clickhouse } = readSource(env, config, from)
      if (clickhouse === undefined) throw new CopyError('set FROM_CLICKHOUSE_URL to the ClickHouse to copy from')
      return { kind: from, ...clickhouse }
    }
    case 'influxdb': {
      const { influx } = readSource(env, config, from)
      if (influx === undefined) throw new CopyError('set FROM_INFLUX_URL to the InfluxDB to copy from')
      return { kind: from, ...influx }
    }
    default:
      return { kind: 'file', path: resolve(from) }
  }
}

/** The server's settings with those of FROM_… in place of its own. */
function readSource(env: Env, config: Config, from: keyof typeof SERVERS): Pick<Config, 'clickhouse' | 'influx'> {
  const { url, others, prefix } = SERVERS[from]
  const names = [url, ...others.map((name) => `${prefix}_${name}`)]
  const given = Object.fromEntries(names.map((name) => [name, env[`FROM_${name}`]]))
  if (!given[url] && names.every((name) => !given[name])) return config
  try {
    return readConfig(given)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.problems.map((problem) => problem.replaceAll(/\b(INFLUX|CLICKHOUSE)_/g, 'FROM_$1_')))
  }
}

/** Equal for the same place; without secrets. */
export function placeId(place: Place): string {
  switch (place.kind) {
    case 'embedded':
      return `embedded ${resolve(place.path)}`
    case 'clickhouse':
      return `clickhouse ${place.url} ${place.database}`
    case 'influxdb':
      return `influxdb ${place.url} ${place.org} ${place.bucket}`
    case 'file':
      return `file ${place.path}`
    case 'stores':
      return FAMILIES.map((family) => placeId(targetOf(place.config, family))).join(', ')
    default:
      return place satisfies never
  }
}

/** Text for messages; without secrets. */
export function describePlace(place: Place): string {
  switch (place.kind) {
    case 'embedded':
      return `the embedded ClickHouse in ${place.path}`
    case 'clickhouse':
      return `database ${place.database} of ClickHouse at ${place.url}`
    case 'influxdb':
      return `bucket ${place.bucket} of InfluxDB at ${place.url}`
    case 'file':
      return place.path
    case 'stores':
      return 'the configured stores'
    default:
      return place satisfies never
  }
}
