// Fixed cases and a few histories over each store; pairing.slow.ts proves more of them, and the Flux of the panels.
import { CLICKHOUSE, INFLUX, provePairing } from './pairing.ts'

for (const subject of [CLICKHOUSE, INFLUX]) provePairing(subject, { batches: 1, histories: 40, arrivals: 1 })
