// `bun src/deploy/make-secrets.ts DIR [cluster]`: generates the secrets of docker-compose.yml's services, a directory
// (there: a volume) for each. Existing secrets stay: the stores keep the passwords of their first start.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeSecret } from './write-secret.ts'

/** The database and the names of the two users, as docker-compose.yml and the data sources have them. */
const DATABASE = 'stint'
const WRITER = 'stint'
const READER = 'grafana'

/** Of compose.cluster.yml. REMOTE reaches other hosts, so one server's writer has it not. */
const CLUSTER_GRANTS = ['CLUSTER ON *.*', 'REMOTE ON *.*', 'SELECT ON system.clusters']

const [dir, form] = process.argv.slice(2)
if (dir === undefined || !['cluster', undefined].includes(form))
  throw new Error('usage: bun src/deploy/make-secrets.ts DIR [cluster]')
const WRITER_GRANTS = [`ALL ON ${DATABASE}.*`, ...(form === 'cluster' ? CLUSTER_GRANTS : [])]

const secret = (path: string): string => {
  const file = join(dir, path)
  if (!existsSync(file)) writeSecret(file, randomBytes(32).toString('base64url'))
  return readFileSync(file, 'utf8')
}

secret('influxdb/admin-password')
secret('influxdb/admin-token')
secret('grafana/admin-password')
secret('stint/setup-code')
// Placeholders: grant-tokens replaces them where InfluxDB runs; elsewhere Grafana still needs its file to start.
secret('stint/influx-token')
secret('grafana/influx-token')

const user = (name: string, password: string, profile: string, grants: readonly string[]): string => `
    <${name}>
      <password_sha256_hex>${createHash('sha256').update(password).digest('hex')}</password_sha256_hex>
      <networks><ip>::/0</ip></networks>
      <profile>${profile}</profile>
      <quota>default</quota>
      <grants>${grants.map((grant) => `<query>GRANT ${grant}</query>`).join('')}</grants>
    </${name}>`

const writer = user(WRITER, secret('stint/clickhouse-password'), 'default', WRITER_GRANTS)
const reader = user(READER, secret('grafana/clickhouse-password'), 'reader', [`SELECT ON ${DATABASE}.*`])

// The plugin sets max_execution_time with each query: readonly 2 allows settings, and the grant nothing but SELECT.
writeSecret(
  join(dir, 'clickhouse/stint.xml'),
  `<clickhouse>
  <profiles>
    <reader>
      <readonly>2</readonly>
      <max_memory_usage>2000000000</max_memory_usage>
    </reader>
  </profiles>
  <users>
    <default remove="remove"/>${writer}${reader}
  </users>
</clickhouse>
`,
)

// Beside the users, where the servers' configuration includes it: with it they prove that they belong to the cluster.
const clusterSecret = join(dir, 'clickhouse/cluster-secret.xml')
if (!existsSync(clusterSecret))
  writeSecret(
    clusterSecret,
    `<clickhouse>\n  <cluster_secret>${randomBytes(32).toString('base64url')}</cluster_secret>\n</clickhouse>\n`,
  )
