import { CLICKHOUSE, FLUX, INFLUX, provePairing } from './pairing.ts'

provePairing(CLICKHOUSE, { batches: 4, histories: 80, arrivals: 1, figures: true })
provePairing(INFLUX, { batches: 4, histories: 80, arrivals: 8, figures: true })
provePairing(FLUX, { batches: 4, histories: 80, arrivals: 1, figures: true })
