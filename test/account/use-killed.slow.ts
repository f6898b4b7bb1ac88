// kill -9 of the real process: what was counted a minute before is still counted, once.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createStintProcess, STORES_AWAY } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

/** It is written every minute. */
const WRITTEN_AFTER_MS = 65_000

test('a kill loses at most the last minute of the count', async () => {
  const dataDir = join(tempDir('use-killed'), 'data')
  const stint = createStintProcess({ ...STORES_AWAY, QUOTA_BYTES: '1MiB' }, { dataDir })
  try {
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    const bytes = async () => (await (await caller.get('/api/health')).json()).use.bytes_24h as number
    const send = async (times: number) => {
      for (let i = 0; i < times; i++) expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(201)
    }
    await send(20)
    const counted = await bytes()
    const sentMs = Date.now()
    await until('the count is written', () => Date.now() - sentMs > WRITTEN_AFTER_MS, 120_000)
    await send(5)
    const all = await bytes()
    expect(all).toBeGreaterThan(counted)
    await stint.kill()
    await stint.start()
    const after = await bytes()
    expect(after).toBeGreaterThanOrEqual(counted)
    expect(after).toBeLessThanOrEqual(all)
  } finally {
    await stint.close()
  }
}, 240_000)
