// Leases of NODE_IDs in InfluxDB: points in their own measurement, without an account, with the server's time.
import { FRESH_S, type Leases } from '../node-lease.ts'
import { collectRows, createInfluxClient, flux, type InfluxAddress, lineEscape } from './client.ts'

const MEASUREMENT = 'stint_node'
const TIMEOUT_MS = 5_000

export function createInfluxLeases(address: InfluxAddress): Leases & { close(): void } {
  const client = createInfluxClient(address, TIMEOUT_MS)
  return {
    store: 'InfluxDB',
    async read(nodeId) {
      const query = flux`from(bucket: ${address.bucket})
  |> range(start: -${FRESH_S}s)
  |> filter(fn: (r) => r._measurement == ${MEASUREMENT} and r.node == ${String(nodeId)})
  |> last()
  |> map(fn: (r) => ({
    data_dir: r.data_dir,
    held: r._value,
    age: float(v: int(v: now()) - int(v: r._time)) / 1000000000.0,
  }))`
      const found = await collectRows(client, query, (get) => ({
        dataDirId: get('data_dir'),
        isHeld: get('held') === 'true',
        ageS: Number(get('age')),
      }))
      return found.filter(({ isHeld }) => isHeld)
    },
    write: (nodeId, dataDirId, isHeld) =>
      client.writeLines([`${MEASUREMENT},node=${nodeId},data_dir=${lineEscape.tag(dataDirId)} held=${isHeld}`]),
    close: () => client.close(),
  }
}
