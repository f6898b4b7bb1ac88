// Ensures that the bucket exists. Creates a missing one if the token allows it; of an existing one only the retention
// is changed, if Stint created it and the token may: others may keep their data in it. A write-only token cannot see
// its bucket, so an empty write is the final check.
import type { Logger } from '../../log.ts'
import { STORED, type WriteResult } from '../sink.ts'
import { type InfluxAddress, type InfluxClient, InfluxFault } from './client.ts'
import { judgeFailure } from './judge-failure.ts'

const SECONDS_A_DAY = 86_400
/** Marks a bucket that Stint created. */
const DESCRIPTION = 'Created by Stint'

interface Bucket {
  readonly id: string
  readonly description?: string
  readonly retentionRules?: readonly { readonly everySeconds?: number }[]
}

/** `retentionDays` 0 = keep forever. `isOwn`: the bucket is known to be Stint's alone, though it bears no mark. */
export async function prepareBucket(
  client: InfluxClient,
  address: InfluxAddress,
  retentionDays: number,
  log: Logger,
  isOwn = false,
): Promise<WriteResult> {
  const { bucket } = address
  const wantedSeconds = retentionDays * SECONDS_A_DAY
  try {
    const found = await findBucket(client, address)
    if (found !== undefined) {
      await applyRetention(client, found, { bucket, wantedSeconds, isOwn, log })
      return STORED
    }
    const denied = await tryEmptyWrite(client, address)
    if (denied === undefined) {
      log.info({ bucket }, 'InfluxDB: the token may write to the bucket but not see it, so its retention is unknown')
      return STORED
    }
    if (denied.status !== 404) return judgeFailure(denied)
    const orgId = await findOrgId(client, address)
    if (orgId === undefined) return { kind: 'wait', reason: `${denied.message}; the token may not create it` }
    await createBucket(client, bucket, orgId, wantedSeconds, log)
    return STORED
  } catch (error) {
    return judgeFailure(error)
  }
}

async function findBucket(client: InfluxClient, { org, bucket }: InfluxAddress): Promise<Bucket | undefined> {
  for (const param of orgParams(org)) {
    const answer = await look(client, `/api/v2/buckets?name=${encodeURIComponent(bucket)}&${param}`)
    const { buckets } = (answer ?? {}) as { buckets?: Bucket[] }
    if (buckets?.[0] !== undefined) return buckets[0]
  }
  return undefined
}

async function findOrgId(client: InfluxClient, { org }: InfluxAddress): Promise<string | undefined> {
  for (const param of orgParams(org)) {
    const { orgs } = ((await look(client, `/api/v2/orgs?${param}`)) ?? {}) as { orgs?: { id: string }[] }
    if (orgs?.[0] !== undefined) return orgs[0].id
  }
  return undefined
}

/** An organization may be given by name or by id, which is 16 hex digits, as a name may be too. */
function orgParams(org: string): string[] {
  const byName = `org=${encodeURIComponent(org)}`
  return /^[0-9a-f]{16}$/.test(org) ? [byName, `orgID=${org}`] : [byName]
}

/** Undefined when the token may not look, or when there is nothing to be seen. */
async function look(client: InfluxClient, path: string): Promise<unknown> {
  try {
    return await client.request('GET', path)
  } catch (error) {
    if (error instanceof InfluxFault && [401, 403, 404].includes(error.status ?? 0)) return undefined
    throw error
  }
}

/** Undefined when the bucket is there and may be written to. */
async function tryEmptyWrite(client: InfluxClient, { org, bucket }: InfluxAddress): Promise<InfluxFault | undefined> {
  try {
    const query = `org=${encodeURIComponent(org)}&bucket=${encodeURIComponent(bucket)}&precision=ns`
    await client.request('POST', `/api/v2/write?${query}`)
    return undefined
  } catch (error) {
    if (error instanceof InfluxFault && error.status !== undefined) return error
    throw error
  }
}

async function createBucket(
  client: InfluxClient,
  bucket: string,
  orgId: string,
  wantedSeconds: number,
  log: Logger,
): Promise<void> {
  const retentionRules = wantedSeconds > 0 ? [{ type: 'expire', everySeconds: wantedSeconds }] : []
  try {
    await client.request('POST', '/api/v2/buckets', {
      name: bucket,
      orgID: orgId,
      retentionRules,
      description: DESCRIPTION,
    })
    log.info({ bucket, retention_s: wantedSeconds }, 'InfluxDB: bucket created')
  } catch (error) {
    // somebody else was faster
    if (!(error instanceof InfluxFault && error.status === 422 && error.message.includes('already exists'))) throw error
  }
}

interface RetentionOptions {
  readonly bucket: string
  readonly wantedSeconds: number
  readonly isOwn: boolean
  readonly log: Logger
}

async function applyRetention(client: InfluxClient, found: Bucket, options: RetentionOptions): Promise<void> {
  const { bucket, wantedSeconds, isOwn, log } = options
  const actualSeconds = found.retentionRules?.[0]?.everySeconds ?? 0
  if (actualSeconds === wantedSeconds) return
  const retention = { bucket, actual_s: actualSeconds, configured_s: wantedSeconds }
  if ((isOwn || found.description === DESCRIPTION) && (await change(client, found, wantedSeconds)))
    log.warn(retention, 'InfluxDB: the retention of the bucket follows RETENTION_DAYS')
  else
    log.warn(
      { ...retention, statement: `influx bucket update --id ${found.id} --retention ${wantedSeconds}s` },
      'InfluxDB: RETENTION_DAYS differs from the bucket, which is left as it is; to change it run the statement',
    )
}

/** False if the token may not. */
async function change(client: InfluxClient, { id }: Bucket, everySeconds: number): Promise<boolean> {
  try {
    await client.request('PATCH', `/api/v2/buckets/${id}`, { retentionRules: [{ type: 'expire', everySeconds }] })
    return true
  } catch (error) {
    if (error instanceof InfluxFault && [401, 403, 404].includes(error.status ?? 0)) return false
    throw error
  }
}
