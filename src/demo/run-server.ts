// The demo's server: in this process, on a free port, with data that is removed at the end, and with none of the
// caller's settings.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../clock.ts'
import { readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import { startService } from '../service.ts'

const SETTINGS = {
  HOST: '127.0.0.1',
  SIGNUP: 'first',
  NOTIFY_PRIVATE: 'true',
  MAX_AGE: '30d',
}

/** Starts the server, passes its address to `use`, and stops it when that settles. Rejects if it does not start. */
export async function withServer(use: (url: string) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stint-demo-'))
  try {
    // links name the port of the settings: it must be known before the start
    const config = readConfig({ ...SETTINGS, PORT: String(findFreePort()), DATA_DIR: dataDir })
    const service = await startService(config, systemClock, createLog({ level: 'error', pretty: false }))
    try {
      await use(service.url)
    } finally {
      await service.stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function findFreePort(): number {
  const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const port = probe.port!
  void probe.stop(true)
  return port
}
