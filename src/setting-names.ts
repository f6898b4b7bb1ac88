// Variables that set nothing although somebody meant them to: names of other products, with the prefix STINT_, or a
// letter away from a setting. Without a word the server would start with the default, such as the embedded engine.

interface Misnamed {
  /** Of the closed list below: the start is refused while the setting that is meant is unset. */
  readonly refused: readonly string[]
  /** Similar to a setting: a warning in the log. */
  readonly suspicious: readonly string[]
}

/** By the setting that is meant. */
const MISTAKEN: Readonly<Record<string, readonly string[]>> = {
  INFLUX_URL: ['INFLUXDB_URL', 'INFLUXDB_HOST', 'INFLUXDB_V2_URL', 'INFLUX_HOST', 'INFLUXDB_ADDR'],
  INFLUX_TOKEN: ['INFLUXDB_TOKEN', 'INFLUXDB_V2_TOKEN', 'INFLUX_API_TOKEN', 'INFLUXDB_ADMIN_TOKEN'],
  INFLUX_ORG: ['INFLUXDB_ORG', 'INFLUXDB_V2_ORG', 'INFLUX_ORGANIZATION'],
  INFLUX_BUCKET: ['INFLUXDB_BUCKET', 'INFLUXDB_DB', 'INFLUXDB_DATABASE', 'INFLUX_DATABASE'],
  CLICKHOUSE_URL: [
    'CLICKHOUSE_HOST',
    'CLICKHOUSE_DSN',
    'CLICKHOUSE_ADDRESS',
    'CLICKHOUSE_ENDPOINT',
    'CLICKHOUSE_SERVER',
  ],
  CLICKHOUSE_USER: ['CLICKHOUSE_USERNAME'],
  CLICKHOUSE_PASSWORD: ['CLICKHOUSE_PASS'],
  CLICKHOUSE_DATABASE: ['CLICKHOUSE_DB'],
  DATABASE_URL: ['DATABASE_DSN', 'POSTGRES_URL', 'POSTGRES_DSN', 'POSTGRESQL_URL'],
  RETENTION_DAYS: ['RETENTION', 'RETENTION_PERIOD', 'RETENTION_TIME'],
  OIDC_ISSUER: ['OIDC_ISSUER_URL', 'OIDC_URL', 'OIDC_DISCOVERY_URL'],
}

const PREFIX = 'STINT_'
/** What Kubernetes puts into each container for each service, whatever its name. */
const OF_KUBERNETES = /_SERVICE_(HOST|PORT)|_PORT_\d+_(TCP|UDP|SCTP)/
const NAME_MIN = 7

/** `settings`: every variable that the server reads. Values are looked at only to tell Kubernetes' own. */
export function findMisnamed(
  env: Readonly<Record<string, string | undefined>>,
  settings: ReadonlySet<string>,
): Misnamed {
  const given = Object.keys(env).filter(
    (name) => env[name] && !settings.has(name) && !OF_KUBERNETES.test(name) && !env[name]!.startsWith('tcp://'),
  )
  const meant = new Map(
    given.flatMap((name) => {
      const setting = meantBy(name, settings)
      return setting === undefined || env[setting] || env[`${setting}_FILE`] ? [] : [[name, setting]]
    }),
  )
  const refused = [...meant].map(([name, setting]) => `${name}: sets nothing; the setting is ${setting}`)
  const suspicious = given.flatMap((name) => {
    const similar = meant.has(name) ? undefined : [...settings].find((setting) => isNear(name, setting))
    return similar === undefined ? [] : [`${name} sets nothing; did you mean ${similar}?`]
  })
  return { refused, suspicious }
}

function meantBy(name: string, settings: ReadonlySet<string>): string | undefined {
  const bare = name.slice(PREFIX.length)
  if (name.startsWith(PREFIX) && settings.has(bare)) return bare
  return Object.keys(MISTAKEN).find((setting) => MISTAKEN[setting]!.includes(name))
}

/** The same letters with other separators, or one letter added, left out, changed or swapped with its neighbour. */
function isNear(name: string, setting: string): boolean {
  if (Math.min(name.length, setting.length) < NAME_MIN || Math.abs(name.length - setting.length) > 2) return false
  const [a, b] = [name, setting].map((text) => text.toUpperCase().replaceAll(/[-_.]/g, '')) as [string, string]
  if (a === b) return true
  let from = 0
  while (from < a.length && a[from] === b[from]) from++
  const [restA, restB] = [a.slice(from), b.slice(from)]
  const isSwapped = restA.length > 1 && restA[0] === restB[1] && restA[1] === restB[0]
  return (
    restA.slice(1) === restB || // added
    restA === restB.slice(1) || // left out
    restA.slice(1) === restB.slice(1) || // changed
    (isSwapped && restA.slice(2) === restB.slice(2))
  )
}
