// Files under DATA_DIR, written by the real process.
import { expect, test } from 'bun:test'
import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

test('other users cannot open anything under DATA_DIR, even if the directory itself is open', async () => {
  const dataDir = tempDir('modes')
  chmodSync(dataDir, 0o755)
  const stint = createStintProcess({}, { dataDir })
  try {
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    expect((await caller.post('/v1/start', { process: 'p' })).status).toBe(201)
    expect(await stint.terminate()).toBe(0)
    const entries = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    const open = entries.filter((entry) => (statSync(join(dataDir, entry)).mode & 0o077) !== 0)
    expect(open).toEqual([])
    expect(entries).toContain('clickhouse')
  } finally {
    await stint.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
