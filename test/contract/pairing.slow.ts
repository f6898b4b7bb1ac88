import { CLICKHOUSE, FLUX, INFLUX, provePairing } from './pairing.ts'

provePairing(CLICKHOUSE, { batches: 4, histories: 80, arrivals: 1, examples: 'apart' })
provePairing(INFLUX, { batches: 4, histories: 80, arrivals: 8, examples: 'apart' })
provePairing(FLUX, { batches: 4, histories: 80, arrivals: 1, examples: 'apart' })
