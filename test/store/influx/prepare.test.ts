// The bucket: created when it is missing and the token may; its retention follows the setting if it is Stint's own.
import { describe, expect, test } from 'bun:test'
import { createInfluxSink, type InfluxSinkOptions } from '../../../src/store/influx/sink.ts'
import { type Influxd, influxd, influxdMissing } from '../../support/influxd.ts'
import { silent } from './subjects.ts'

const STORED = { kind: 'stored', expired: 0 } as const
const DAY_S = 86_400

interface Bucket {
  readonly id: string
  readonly retentionRules: readonly { readonly everySeconds: number }[]
}

describe.skipIf(influxdMissing !== undefined)('preparing', () => {
  const prepare = async (server: Influxd, bucket: string, options: Partial<InfluxSinkOptions> = {}) => {
    const { url, token, org } = server
    const logged: object[] = []
    const log = silent.child({}, { level: 'trace' })
    log.info = log.warn = (line: object) => void logged.push(line)
    const sink = createInfluxSink({ ...{ url, token, org, bucket, retentionDays: 0, log }, ...options })
    const result = await sink.prepare()
    await sink.close()
    return { result, logged }
  }
  const find = async (server: Influxd, name: string) => {
    const { buckets } = (await server.api('GET', `/api/v2/buckets?name=${encodeURIComponent(name)}`)) as {
      buckets: Bucket[]
    }
    return buckets[0]!
  }
  const tokenFor = async (server: Influxd, bucketId: string, actions: readonly string[]) => {
    const { orgId } = server
    const permissions = actions.map((action) => ({ action, resource: { type: 'buckets', id: bucketId, orgID: orgId } }))
    const { token } = (await server.api('POST', '/api/v2/authorizations', { orgID: orgId, permissions })) as {
      token: string
    }
    return token
  }

  test('creates the bucket with the retention that was asked for', async () => {
    const server = await influxd()
    for (const retentionDays of [0, 30]) {
      const name = server.freshName()
      expect((await prepare(server, name, { retentionDays })).result).toEqual(STORED)
      const { retentionRules } = await find(server, name)
      expect(retentionRules[0]?.everySeconds ?? 0).toBe(retentionDays * DAY_S)
    }
  })

  test('creates a bucket of any name, with the organization given by id', async () => {
    const server = await influxd()
    const name = `${server.freshName()} & more/żółć?=#`
    expect((await prepare(server, name, { org: server.orgId })).result).toEqual(STORED)
    expect((await prepare(server, name)).result).toEqual(STORED)
    expect(await find(server, name)).toBeDefined()
  })

  test('changes the retention of a bucket that it created, or that is known to be its own, if the token may', async () => {
    const server = await influxd()
    const name = server.freshName()
    const seconds = async (bucket: string) => (await find(server, bucket)).retentionRules[0]?.everySeconds ?? 0
    for (const days of [0, 30, 400, 0]) {
      expect((await prepare(server, name, { retentionDays: days })).result).toEqual(STORED)
      expect(await seconds(name)).toBe(days * DAY_S)
    }
    const { bucket } = await server.freshBucket(3 * DAY_S)
    await prepare(server, bucket, { retentionDays: 30, isOwn: true })
    expect(await seconds(bucket)).toBe(30 * DAY_S)
  })

  test('reports a bucket of others with another retention without changing it', async () => {
    const server = await influxd()
    const { bucket } = await server.freshBucket(3 * DAY_S)
    const { result, logged } = await prepare(server, bucket, { retentionDays: 30 })
    expect(result).toEqual(STORED)
    const statement = `influx bucket update --id ${(await find(server, bucket)).id} --retention ${30 * DAY_S}s`
    expect(logged).toEqual([{ bucket, actual_s: 3 * DAY_S, configured_s: 30 * DAY_S, statement }])
    expect((await find(server, bucket)).retentionRules[0]!.everySeconds).toBe(3 * DAY_S)
    expect((await prepare(server, bucket, { retentionDays: 3 })).logged).toEqual([])
  })

  test('accepts a token that may only write to the bucket, or also read it', async () => {
    const server = await influxd()
    const { bucket } = await server.freshBucket()
    const { id } = await find(server, bucket)
    for (const actions of [['write'], ['read', 'write']])
      expect((await prepare(server, bucket, { token: await tokenFor(server, id, actions) })).result).toEqual(STORED)
  })

  test('waits when the token may not create the bucket, may not write to it, or is wrong', async () => {
    const server = await influxd()
    const { bucket } = await server.freshBucket()
    const { id } = await find(server, bucket)
    const writer = await tokenFor(server, id, ['write'])
    const other = (await server.freshBucket()).bucket
    expect((await prepare(server, server.freshName(), { token: writer })).result).toMatchObject({ kind: 'wait' })
    expect((await prepare(server, other, { token: writer })).result).toMatchObject({ kind: 'wait' })
    expect((await prepare(server, bucket, { token: 'wrong' })).result).toMatchObject({ kind: 'wait' })
    expect((await prepare(server, bucket, { org: 'nobody' })).result).toMatchObject({ kind: 'wait' })
  })
})
