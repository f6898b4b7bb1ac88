// InfluxDB as the contracts meet it: the real server, a bucket a trial.
import type { MarkName } from '../../../src/event/event.ts'
import { createLog, type Logger } from '../../../src/log.ts'
import { collectRows, createInfluxClient, flux, type GetColumn } from '../../../src/store/influx/client.ts'
import { parseFluxTime, timeNs } from '../../../src/store/influx/selection.ts'
import { createInfluxSink } from '../../../src/store/influx/sink.ts'
import { createInfluxSource } from '../../../src/store/influx/source.ts'
import type { Sink } from '../../../src/store/sink.ts'
import type { SinkSubject, StoredRow } from '../../contract/sink.ts'
import type { SourceSubject } from '../../contract/source.ts'
import { type InfluxBucket, influxd, influxdMissing } from '../../support/influxd.ts'

export const silent: Logger = createLog({ level: 'silent', pretty: false })

export const sinkSubject: SinkSubject = {
  name: 'InfluxDB',
  kinds: ['start', 'end', 'metrics'],
  skip: influxdMissing,
  async open() {
    const server = await influxd()
    const { url, token, org } = server
    const address = { url, token, org, bucket: server.freshName() }
    const opened: Sink[] = []
    const openSink = (changes: Partial<InfluxBucket> = {}) => {
      const sink = createInfluxSink({ ...address, ...changes, retentionDays: 0, log: silent })
      opened.push(sink)
      return sink
    }
    return {
      sink: openSink(),
      another: () => openSink(),
      away: () => openSink({ url: 'http://127.0.0.1:1' }),
      stranger: () => openSink({ token: 'a-token-that-nobody-knows' }),
      read: (account) => readRows(address, account),
      poison: (account, stamp) => ({ kind: 'start', account, process: 'ends in \\', meta: '', uid: '', stamp }),
      async close() {
        for (const sink of opened) await sink.close()
      },
    }
  },
}

export const sourceSubject: SourceSubject = {
  name: 'InfluxDB',
  skip: influxdMissing,
  async open() {
    const server = await influxd()
    const address = await server.freshBucket()
    const sink = createInfluxSink({ ...address, retentionDays: 0, log: silent })
    const source = createInfluxSource(address)
    return {
      sink,
      source,
      async close() {
        await Promise.all([sink.close(), source.close()])
      },
    }
  },
}

/** All that a bucket holds of an account, straight from its fields. */
export async function readRows(address: InfluxBucket, account: string): Promise<StoredRow[]> {
  const client = createInfluxClient(address, 30_000)
  const fields = await collectRows(
    client,
    flux`from(bucket: ${address.bucket})
  |> range(start: 1970-01-01T00:00:00Z, stop: 2262-01-01T00:00:00Z)
  |> filter(fn: (r) => r.account == ${account})
  |> filter(fn: (r) => r._field != "uid" or r._value != "")`,
    toField,
  )
  const uids = new Map(fields.filter(({ field }) => field === 'uid').map((row) => [seriesOf(row), row.value]))
  return fields.flatMap((row): StoredRow[] => {
    const { ns, process, meta, name, mark, field, value } = row
    const uid = uids.get(seriesOf(row)) ?? ''
    if (field === 'value') return [{ kind: 'metric', ns, process, meta, uid, name, value: Number(value) + 0 }]
    if (field !== 'at') return []
    if (BigInt(value) !== timeNs(BigInt(ns))) throw new Error(`a mark whose field at is ${value} lies at ${ns}`)
    return [{ kind: mark, ns, process, meta, uid }]
  })
}

const toField = (get: GetColumn) => ({
  ns: String(parseFluxTime(get('_time'))),
  process: get('process'),
  meta: get('meta'),
  name: get('name'),
  mark: get('mark') as MarkName,
  field: get('_field'),
  value: get('_value'),
})

const seriesOf = ({ ns, process, meta, mark, name }: ReturnType<typeof toField>): string =>
  JSON.stringify([ns, process, meta, mark, name])
