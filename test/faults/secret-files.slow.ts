// Secrets that are replaced while the server runs: the stores and PostgreSQL refuse the old one, the file gets the new one, and what waited is delivered.
import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { createClickHouse } from '../support/clickhouse-process.ts'
import { figure, lacks, WITHIN_MS } from '../support/fault-trial.ts'
import { influxd, influxSettings } from '../support/influxd.ts'
import { untilShipped } from '../support/oracle.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const clickhouse = createClickHouse('rotated')
afterAll(() => clickhouse.kill())

function secretFile(name: string, text: string) {
  const path = join(tempDir('secret'), name)
  const write = (next: string) => writeFileSync(path, `${next}\n`)
  write(text)
  return { path, write }
}

test.skipIf(lacks('chdb', 'influxd', 'postgresql'))(
  'a secret in a file is replaced without a restart: INFLUX_TOKEN, CLICKHOUSE_PASSWORD, DATABASE_URL',
  async () => {
    await clickhouse.start()
    const influx = await influxd()
    const bucket = await influx.freshBucket()
    const issue = async () => {
      const permissions = ['read', 'write'].map((action) => ({
        action,
        resource: { type: 'buckets', orgID: influx.orgId },
      }))
      return (await influx.api('POST', '/api/v2/authorizations', { orgID: influx.orgId, permissions })) as {
        id: string
        token: string
      }
    }
    const [oldToken, newToken] = [await issue(), await issue()]
    const database = await (await sharedPostgres()).createDatabase()
    const admin = new SQL(database)
    const roles = ['before', 'after'].map((name) => `${name}_${process.pid}`)
    for (const role of roles) await admin.unsafe(`CREATE ROLE ${role} LOGIN SUPERUSER`)
    const urlOf = (role: string) => database.replace('postgres@', `${role}@`)

    const token = secretFile('token', oldToken.token)
    const password = secretFile('password', 'not the password yet')
    const url = secretFile('url', urlOf(roles[0]!))
    const { INFLUX_TOKEN: _, ...influxOthers } = influxSettings(bucket)
    const { CLICKHOUSE_PASSWORD, ...clickhouseOthers } = clickhouse.settings
    const stint = createStintProcess({
      ...{ ...influxOthers, INFLUX_TOKEN_FILE: token.path },
      ...{ ...clickhouseOthers, CLICKHOUSE_PASSWORD_FILE: password.path },
      ...{ DATABASE_URL_FILE: url.path, NODE_ID: '1' },
    })
    try {
      await stint.start()
      const caller = await stint.signUp('ada@example.com')
      const send = async () => {
        expect((await caller.post('/v1/metrics', { process: 'p', items: { n: 1 } })).status).toBe(201)
        expect((await caller.post('/v1/exception', { process: 'p', exception: 'boom' })).status).toBe(201)
      }
      await send()
      await until('exceptions wait', async () => (await figure(stint, 'stint_destination_parked')) === 1, WITHIN_MS)
      password.write(CLICKHOUSE_PASSWORD!)
      await untilShipped(stint.url, WITHIN_MS)

      await influx.api('DELETE', `/api/v2/authorizations/${oldToken.id}`)
      await admin.unsafe(`ALTER ROLE ${roles[0]} NOLOGIN`)
      await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${roles[0]}`
      await send()
      await until('points wait', async () => (await figure(stint, 'stint_destination_parked')) === 1, WITHIN_MS)
      const signIn = async () =>
        (
          await fetch(`${stint.url}/api/session`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ email: 'ada@example.com', password: 'no' }),
          })
        ).status
      await until('PostgreSQL refuses', async () => (await signIn()) === 503, WITHIN_MS)

      token.write(newToken.token)
      url.write(urlOf(roles[1]!))
      await untilShipped(stint.url, WITHIN_MS)
      await until('PostgreSQL is there again', async () => (await signIn()) === 401, WITHIN_MS)
      const { points } = (await (await caller.get('/api/metrics?from=-1h')).json()) as { points: object[] }
      expect(points).toHaveLength(2)
      process.kill(stint.pid(), 'SIGHUP')
      await send()
    } finally {
      await stint.close()
      await admin.close()
    }
  },
)
