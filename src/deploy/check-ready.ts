// The image's HEALTHCHECK: asks the Stint of the same settings whether it is ready, and fails when it is not.
import { readConfig } from '../config.ts'

const { port, tls } = readConfig()
const response = await fetch(`${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/readyz`, {
  signal: AbortSignal.timeout(4_000),
  tls: { rejectUnauthorized: false }, // its own certificate, which names another host
})
if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
