import { CLICKHOUSE, FLUX, INFLUX, provePairing } from './pairing.ts'

provePairing(CLICKHOUSE, { batches: 2, histories: 80, arrivals: 1, figures: true })
provePairing(INFLUX, { batches: 2, histories: 80, arrivals: 4, figures: true })
provePairing(FLUX, { batches: 2, histories: 60, arrivals: 1, figures: true })
