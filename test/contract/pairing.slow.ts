import { CLICKHOUSE, FLUX, INFLUX, provePairing } from './pairing.ts'

provePairing(CLICKHOUSE, { batches: 4, histories: 80, arrivals: 1 })
provePairing(INFLUX, { batches: 4, histories: 80, arrivals: 8 })
provePairing(FLUX, { batches: 4, histories: 80, arrivals: 1 })
