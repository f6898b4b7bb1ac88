// ClickHouse as the contracts meet it, twice: over HTTP (the bridge) and embedded.
import type { Stamp } from '../../../src/event/stamp.ts'
import { createLog, type Logger } from '../../../src/log.ts'
import {
  type ClickHouseAddress,
  type ClickHouseClient,
  openClickHouseClient,
} from '../../../src/store/clickhouse/client.ts'
import { openClickHouse } from '../../../src/store/clickhouse/open.ts'
import type { SinkSubject, SinkTrial, StoredRow } from '../../contract/sink.ts'
import type { SourceSubject, SourceTrial } from '../../contract/source.ts'
import { startClickHouseBridge } from '../../support/clickhouse-bridge.ts'
import { startShard } from '../../support/clickhouse-shards.ts'
import { engineMissing, freshEmbedded } from '../../support/engine.ts'

export const silent: Logger = createLog({ level: 'silent', pretty: false })
const TIMEOUT_MS = 30_000
const KINDS = ['start', 'end', 'metrics', 'exception', 'output'] as const

/** A place for one test: an address with a database that is not there yet, and how to leave it. */
interface Place {
  readonly address: ClickHouseAddress
  leave(): Promise<void>
}

export interface NamedPlace {
  readonly name: string
  place(): Promise<Place>
}

export const placeEmbedded = async (): Promise<Place> => ({ address: freshEmbedded(), async leave() {} })

export const placeRemote = async () => {
  const { url, user, password, database, statements, refuse, stop } = await startClickHouseBridge()
  return { address: { url, user, password, database }, statements, refuse, leave: stop }
}

export const OVER_HTTP: NamedPlace = { name: 'ClickHouse over HTTP', place: placeRemote }
export const EMBEDDED: NamedPlace = { name: 'ClickHouse embedded', place: placeEmbedded }

/** With real Distributed tables over the one shard of a cluster. */
export const placeCluster = async (): Promise<Place> => {
  const { address, server } = await startShard()
  return { address, leave: () => server.kill() }
}

export const openStore = (address: ClickHouseAddress, log: Logger = silent, retentionDays = 0) =>
  openClickHouse({ address, holds: ['points', 'exceptions'], retentionDays, log, timeoutMs: TIMEOUT_MS })

export const toSinkSubject = ({ name, place }: NamedPlace): SinkSubject => ({
  name,
  kinds: KINDS,
  skip: engineMissing,
  async open(): Promise<SinkTrial> {
    const { address, leave } = await place()
    const store = await openStore(address)
    const client = await openClickHouseClient(address, TIMEOUT_MS)
    const others: { close(): Promise<void> }[] = []
    const sinkAt = async (changed: Partial<{ url: string; password: string }>) => {
      const other = await openStore({ ...address, ...changed } as ClickHouseAddress)
      others.push(other)
      return other.createSink()
    }
    const remote = 'url' in address
    const away = remote ? await sinkAt({ url: 'http://127.0.0.1:1' }) : undefined
    const stranger = remote ? await sinkAt({ password: 'wrong' }) : undefined
    return {
      sink: store.createSink(),
      another: () => store.createSink(),
      read: (account) => readRows(client, address.database!, account),
      ...(away !== undefined && { away: () => away }),
      ...(stranger !== undefined && { stranger: () => stranger }),
      poison: (account: string, stamp: Stamp) => ({
        kind: 'start',
        account,
        process: 'lone \ud800',
        meta: '',
        uid: '',
        stamp,
      }),
      async close() {
        await client.run(`DROP DATABASE IF EXISTS ${address.database} SYNC`) // or the engine minds the tables of all tests to the end
        for (const open of [...others, store, client]) await open.close()
        await leave()
      },
    }
  },
})

export const sinkSubjects = [OVER_HTTP, EMBEDDED].map(toSinkSubject)

export const toSourceSubject = ({ name, place }: NamedPlace): SourceSubject => ({
  name,
  skip: engineMissing,
  async open(): Promise<SourceTrial> {
    const { address, leave } = await place()
    const store = await openStore(address)
    const sink = store.createSink()
    await sink.prepare()
    return {
      sink,
      source: store.source,
      async close() {
        await store.close()
        await leave()
      },
    }
  },
})

/** All that the views show of an account. */
export async function readRows(client: ClickHouseClient, database: string, account: string): Promise<StoredRow[]> {
  const ns = 'toString(stamp) AS ns'
  const selects = [
    `SELECT mark AS kind, ${ns}, process, meta, uid FROM ${database}.marks`,
    `SELECT 'metric' AS kind, ${ns}, process, meta, uid, name, value FROM ${database}.metrics`,
    `SELECT 'exception' AS kind, ${ns}, process, meta, uid, exception FROM ${database}.exceptions`,
    `SELECT 'output' AS kind, ${ns}, process, meta, uid, output FROM ${database}.outputs`,
  ]
  const rows = await Promise.all(
    selects.map((sql) => client.select<StoredRow>(`${sql} WHERE account = {account:String}`, { account })),
  )
  return rows.flat()
}
