// `bun src/deploy/grant-tokens.ts STINT_TOKEN_FILE GRAFANA_TOKEN_FILE`, with an operator's INFLUX_TOKEN: makes the
// bucket and two tokens: Stint's for this bucket alone, Grafana's to read it. Valid tokens stay. With a third argument
// `in-compose` the bucket's retention follows RETENTION_DAYS, and other users may read the files.
import { existsSync, readFileSync } from 'node:fs'
import { readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import type { InfluxConfig } from '../settings.ts'
import { createInfluxClient, type InfluxClient, InfluxFault } from '../store/influx/client.ts'
import { createInfluxSink } from '../store/influx/sink.ts'
import { writeSecret } from './write-secret.ts'

const TIMEOUT_MS = 10_000

const [stintFile, grafanaFile, where] = process.argv.slice(2)
const isInCompose = where === 'in-compose'
if (stintFile === undefined || grafanaFile === undefined)
  throw new Error('usage: bun src/deploy/grant-tokens.ts STINT_TOKEN_FILE GRAFANA_TOKEN_FILE')

const { influx, retentionDays, logLevel } = readConfig()
if (influx === undefined) throw new Error('INFLUX_URL: is needed')
const log = createLog({ level: logLevel, pretty: false })

const sink = createInfluxSink({ ...influx, retentionDays, isOwn: isInCompose, log })
const made = await sink.prepare()
await sink.close()
if (made.kind !== 'stored') throw new Error(`the bucket could not be made: ${JSON.stringify(made)}`)

const client = createInfluxClient(influx, TIMEOUT_MS)
const { id: bucketId, orgID } = await findBucket(client, influx)
await grant('stint', ['read', 'write'], stintFile)
await grant('grafana, to read', ['read'], grafanaFile)

async function grant(description: string, actions: readonly ('read' | 'write')[], file: string): Promise<void> {
  if (existsSync(file) && (await works(readFileSync(file, 'utf8')))) return
  const permissions = actions.map((action) => ({ action, resource: { type: 'buckets', id: bucketId, orgID } }))
  const { token } = (await client.request('POST', '/api/v2/authorizations', { orgID, description, permissions })) as {
    token: string
  }
  writeSecret(file, token, isInCompose ? 0o444 : 0o600)
  log.info({ description }, 'token made')
}

/** False only when InfluxDB knows no such token: its data may be newer than ours. */
async function works(token: string): Promise<boolean> {
  try {
    await findBucket(createInfluxClient({ ...influx!, token }, TIMEOUT_MS), influx!)
    return true
  } catch (error) {
    if (error instanceof InfluxFault && error.status === 401) return false
    throw error
  }
}

async function findBucket(by: InfluxClient, { org, bucket }: InfluxConfig): Promise<{ id: string; orgID: string }> {
  const query = `name=${encodeURIComponent(bucket)}&org=${encodeURIComponent(org)}`
  const { buckets } = (await by.request('GET', `/api/v2/buckets?${query}`)) as {
    buckets: { id: string; orgID: string }[]
  }
  const [found] = buckets
  if (found === undefined) throw new Error(`bucket not found: ${bucket}`)
  return found
}
